package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// openSession opens a session, and judges the timeout that is granted.
func (e *examination) openSession(ctx context.Context, cfg zkconn.Config) (*zkconn.Conn, time.Duration, bool) {
	connected, refused := make(chan zkconn.Event, 1), make(chan zkconn.Event, 1)
	conn, err := zkconn.Dial(cfg, 1, func(event zkconn.Event) {
		where := connected
		switch event.Kind {
		case zkconn.AuthFailed:
			where = refused
		case zkconn.Connected:
		default:
			return
		}
		select {
		case where <- event:
		default:
		}
	})
	if err != nil {
		e.note(broken, "session", "", "%v", err)
		return nil, 0, false
	}
	limit := time.NewTimer(e.timeout)
	defer limit.Stop()
	select {
	case event := <-connected:
		e.reached = true
		return conn, event.Timeout, e.judgeTimeout(event)
	case event := <-refused:
		e.reached = true
		e.note(broken, "session",
			"look at --auth and "+authVariable+": the scheme and the form are SCHEME:SECRET; or at --sasl, and at the "+
				"servers' JAAS file",
			"the servers refuse the credential: %s", short(event.Err))
	case <-limit.C:
		cause := "none answered"
		if err := conn.LastError(); err != nil {
			cause = short(err)
		}
		e.note(broken, "session",
			"see above what is wrong with the servers; a server that listens and does not serve may have no "+
				"quorum", "no session within %v: %s", e.timeout, cause)
	case <-ctx.Done():
	}
	return conn, 0, false
}

func (e *examination) judgeTimeout(event zkconn.Event) bool {
	if event.Timeout != e.settings.timeout {
		e.note(odd, "session",
			fmt.Sprintf("a lock whose holder dies is free after that; ask for --session-timeout %v, or change "+
				"minSessionTimeout and maxSessionTimeout at the servers", event.Timeout),
			"0x%x at %s; timeout %v granted where %v was asked for", event.SessionID, event.Server,
			event.Timeout, e.settings.timeout)
		return true
	}
	e.note(fine, "session", "", "0x%x at %s; timeout %v granted, as asked for", event.SessionID, event.Server,
		event.Timeout)
	return true
}

// lookForRoot looks whether the chroot and the root are there, before anything is written or said of the locks below. It
// reports whether there is anything to go on with, and whether the root is there.
func (e *examination) lookForRoot(ctx context.Context, conn *zkconn.Conn, cfg zkconn.Config) (goOn, root bool) {
	missing, err := inTime(ctx, e.timeout, func() (string, error) { return inspect.Missing(conn, e.root) })
	switch {
	case errors.Is(err, errSilent):
		e.note(broken, "answer", "it takes sessions, and answers no request: look at the servers' load, disks and logs",
			"%v", err)
	case err != nil:
		e.note(broken, "root", advice(err), "%s", short(err))
	case missing == "/":
		e.note(broken, "chroot", "is it spelled right in --zk? Programs that lock elsewhere are not kept out. The first lock makes it",
			"%s", absence(cfg, "/", missing))
	case missing != "":
		e.note(broken, "root", "is --root spelled right?", "%s", absence(cfg, e.root, missing))
		return true, false // the rest does not depend on it
	default:
		return true, true
	}
	return false, false
}

// beats is the number of transactions that are timed.
const beats = 10

// roundTrips has the times that transactions took, and how far the server's clock is ahead of ours.
type roundTrips struct {
	all   []time.Duration
	ahead time.Duration
	slack time.Duration // by how much that may be wrong
}

// writeAndRead does what a lock does: it makes a node, reads it back, commits a few transactions, and deletes the node.
// A server that does not answer is not waited for longer than it may take to connect.
func (e *examination) writeAndRead(ctx context.Context, conn *zkconn.Conn) (roundTrips, bool) {
	type result struct {
		trips roundTrips
		ok    bool
	}
	done := make(chan result, 1)
	findings := make(chan func(), 16)
	go func() {
		defer close(findings)
		trips, ok := e.operate(conn, func(note func()) { findings <- note })
		done <- result{trips, ok}
	}()
	limit := time.NewTimer(e.timeout)
	defer limit.Stop()
	for {
		select {
		case note, more := <-findings:
			if !more {
				r := <-done
				return r.trips, r.ok
			}
			note()
		case <-limit.C:
			e.note(broken, "write and read", "look at the servers' load, disks and logs", "no answer within %v",
				e.timeout)
			return roundTrips{}, false
		case <-ctx.Done():
			return roundTrips{}, false
		}
	}
}

// operate does the work of writeAndRead; later carries a note out on the goroutine that notes.
func (e *examination) operate(conn *zkconn.Conn, later func(func())) (trips roundTrips, ok bool) {
	fail := func(what string, err error) (roundTrips, bool) {
		later(func() { e.note(broken, what, advice(err), "%s", short(err)) })
		return roundTrips{}, false
	}
	if err := conn.EnsureParents(e.path); err != nil {
		return fail("write", err)
	}
	wrote := []byte("written by zklock doctor at " + time.Now().Format(time.RFC3339Nano))
	before := time.Now()
	made, err := conn.CreatePlain(e.path, "doctor-", wrote)
	if err != nil {
		return fail("write", err)
	}
	created := time.Since(before)
	node := e.path + "/" + made.Name
	later(func() { e.note(fine, "write", "", "made %s in %v", node, round(created)) })
	read, stat, err := conn.Get(node)
	switch {
	case err != nil:
		return fail("read back", err)
	case !bytes.Equal(read, wrote):
		later(func() {
			e.note(broken, "read back", "something between here and the servers changes what is written",
				"%d bytes were written and other %d bytes read", len(wrote), len(read))
		})
	default:
		later(func() { e.note(fine, "read back", "", "%d bytes, as written", len(read)) })
	}
	// The server stamped the node between the two moments, if its clock is ours.
	trips.ahead, trips.slack = stat.Ctime.Sub(before.Add(created/2)), created/2+time.Millisecond
	for range beats {
		sent := time.Now()
		if err := conn.Heartbeat(node); err != nil {
			return fail("transactions", err)
		}
		trips.all = append(trips.all, time.Since(sent))
	}
	if err := conn.Delete(node); err != nil {
		return fail("delete", err)
	}
	// Nodes above it may be somebody's, and are left alone; one that was made is a container, which the server
	// reaps.
	later(func() { e.note(fine, "delete", "", "%s is gone", node) })
	return trips, true
}

// judgeMargin compares the time that a transaction takes with the time that there is.
func (e *examination) judgeMargin(granted time.Duration, trips roundTrips) {
	lease := time.Duration(zkconn.SteadyLease * float64(granted))
	beat := granted / 6
	slices.Sort(trips.all)
	worst, median := trips.all[len(trips.all)-1], trips.all[len(trips.all)/2]
	margin := lease - beat - worst
	found := fmt.Sprintf("a transaction takes %v, at worst %v; a lease of %v, renewed every %v, has %v to "+
		"spare", round(median), round(worst), round(lease), round(beat), round(margin))
	switch {
	case margin <= 0:
		e.note(broken, "clock margin",
			"leases will end while they are needed: ask for a longer --session-timeout, or mend the network "+
				"or the servers' disks", "%s", found)
	case margin < lease/4:
		e.note(odd, "clock margin",
			"a pause of the servers or the network that is longer loses locks: ask for a longer "+
				"--session-timeout", "%s", found)
	default:
		e.note(fine, "clock margin", "", "%s", found)
	}
	apart, whose := trips.ahead, "ahead of"
	if apart < 0 {
		apart, whose = -apart, "behind"
	}
	if apart > trips.slack+time.Second {
		e.note(odd, "clocks",
			"locks do not depend on it, but the times that zklock queue shows do: set the clocks by NTP",
			"the server's clock is %v %s ours", round(apart), whose)
		return
	}
	e.note(fine, "clocks", "", "the server's clock is within %v of ours", round(apart+trips.slack))
}

// lookAtReconnect cuts the connection of a session of its own, and sees whether the servers give that session back. All
// leases rest on it: where a reconnect gets another session, as from ClickHouse Keeper, a holder loses its lock with
// every connection.
func (e *examination) lookAtReconnect(ctx context.Context) {
	const what = "reconnect"
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	var current atomic.Pointer[net.Conn]
	cfg, err := e.config(zkconn.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil {
			current.Store(&conn)
		}
		return conn, err
	}))
	if err != nil {
		e.note(broken, what, "", "%v", err)
		return
	}
	events := make(chan zkconn.Event, 8)
	conn, err := zkconn.Dial(cfg, 1, func(event zkconn.Event) {
		switch event.Kind {
		case zkconn.Connected, zkconn.Expired:
			select {
			case events <- event:
			default: // it has been told enough
			}
		}
	})
	if err != nil {
		e.note(broken, what, "", "%v", err)
		return
	}
	defer conn.Close()
	first, err := next(ctx, events)
	if err != nil || first.Kind == zkconn.Expired {
		e.note(odd, what, lookThere, "a second session did not begin within %v", e.timeout)
		return
	}
	cut := time.Now()
	_ = (*current.Load()).Close()
	switch second, err := next(ctx, events); {
	case err != nil:
		e.note(odd, what, lookThere, "0x%x was not given back within %v", first.SessionID, e.timeout)
	case errors.Is(second.Err, zkconn.ErrOtherSession):
		e.note(broken, what, "no lock can be kept here: a server or a proxy begins another session on a reconnect, as ClickHouse "+
			"Keeper does; run ZooKeeper 3.9.5 or 3.8.6, and name its servers themselves in --zk",
			"0x%x was asked for again, and another session was handed out", first.SessionID)
	case second.Kind == zkconn.Expired:
		e.note(broken, what, "no lock can be kept here: are all servers of --zk members of one ensemble?",
			"0x%x was asked for again at once, and is said to be over", first.SessionID)
	default:
		e.note(fine, what, "", "%s gave 0x%x back in %v", second.Server, second.SessionID, round(time.Since(cut)))
	}
}

// lookThere is the advice for a session that does not begin, or does not go on.
const lookThere = "look at the servers' logs, and at what is between here and there"

// next waits for an event.
func next(ctx context.Context, events <-chan zkconn.Event) (zkconn.Event, error) {
	select {
	case event := <-events:
		return event, nil
	case <-ctx.Done():
		return zkconn.Event{}, context.Cause(ctx)
	}
}
