package main

import (
	"context"
	"net"
	"strings"
	"sync"
	"time"
)

// serverAddress is one address of a server of --zk, whose name may have several.
type serverAddress struct {
	server string // as typed, host:port
	name   string // its host
	dials  string // host:port
}

// String is for people.
func (a serverAddress) String() string {
	if a.dials == a.server {
		return a.server
	}
	return a.server + " (" + a.dials + ")"
}

// addressesOf looks up the servers' names. One that has one address, or is not known, stays as it was typed.
func (e *examination) addressesOf(ctx context.Context, servers []string) (all []serverAddress) {
	for _, server := range servers {
		name, port, _ := net.SplitHostPort(server)
		within, cancel := context.WithTimeout(ctx, min(e.timeout, 5*time.Second))
		ips, err := e.lookUp(within, name)
		cancel()
		if err != nil || len(ips) < 2 {
			all = append(all, serverAddress{server, name, server})
			continue
		}
		for _, ip := range ips {
			all = append(all, serverAddress{server, name, net.JoinHostPort(ip, port)})
		}
	}
	return all
}

// reply is what a server has answered at an address.
type reply struct {
	serverAddress
	answer, mode string
	err          error
}

func (r reply) leads() bool { return r.mode == "leader" || r.mode == "standalone" }

// idle: it listens, and takes no sessions.
func (r reply) idle() bool { return strings.Contains(r.answer, "not currently serving") }

type replies []reply

// replies asks at all addresses at once.
func (e *examination) replies(ctx context.Context) replies {
	all := make(replies, len(e.addresses))
	var asking sync.WaitGroup
	for i, at := range e.addresses {
		asking.Go(func() {
			answer, err := e.fourLetter(ctx, at, "srvr")
			all[i] = reply{at, answer, field(answer, "Mode: "), err}
		})
	}
	asking.Wait()
	return all
}

func (all replies) count(is func(reply) bool) (n int) {
	for _, r := range all {
		if is(r) {
			n++
		}
	}
	return n
}

// elsewhere reports whether the server of a reply has answered at another address of its name.
func (all replies) elsewhere(than reply) bool {
	return all.count(func(r reply) bool { return r.server == than.server && r.mode != "" }) > 0
}

// leaders counts the servers that lead or stand alone. One with an address of each family, as localhost may have, is one.
func (all replies) leaders() (n int) {
	type family struct {
		server string
		six    bool
	}
	counts, most := map[family]int{}, map[string]int{}
	for _, r := range all {
		if r.leads() {
			f := family{r.server, strings.HasPrefix(r.dials, "[")}
			counts[f]++
			most[r.server] = max(most[r.server], counts[f])
		}
	}
	for _, of := range most {
		n += of
	}
	return n
}

// leadsUnseen reports whether the one server that does not serve may lead with leaderServes=no: others follow somebody, and no
// other leader is seen.
func (all replies) leadsUnseen() bool {
	follows := func(r reply) bool { return r.mode == "follower" || r.mode == "observer" }
	return all.leaders() == 0 && all.count(follows) > 0 && all.count(reply.idle) == 1
}
