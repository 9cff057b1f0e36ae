package main

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestJudgeServers: what doctor makes of the answers of all servers together.
func TestJudgeServers(t *testing.T) {
	const version = "Zookeeper version: 3.9.5-x\nMode: "
	const idle = "This ZooKeeper instance is not currently serving requests\n"
	refused := errors.New("connection refused")
	at := func(server, dials, answer string, err error) reply {
		return reply{serverAddress{server, "", dials}, answer, field(answer, "Mode: "), err}
	}
	alone := func(server, answer string) reply { return at(server, server, answer, nil) }
	type judged struct{ grade, do string }
	for name, c := range map[string]struct {
		all  replies
		want []judged
	}{
		"the leader does not serve": {replies{alone("a:1", version+"follower"), alone("b:1", idle), alone("c:1", version+"follower")},
			[]judged{{fine, ""}, {odd, "leaderServes=no"}, {fine, ""}}},
		"one is starting beside a leader": {replies{alone("a:1", version+"leader"), alone("b:1", idle), alone("c:1", version+"follower")},
			[]judged{{fine, ""}, {broken, "it has no quorum, or is starting"}, {fine, ""}}},
		"two do not serve": {replies{alone("a:1", version+"follower"), alone("b:1", idle), alone("c:1", idle)},
			[]judged{{fine, ""}, {broken, "no quorum"}, {broken, "no quorum"}}},
		"nobody serves": {replies{alone("a:1", idle)}, []judged{{broken, "no quorum"}}},
		"one address of a name is dead": {replies{at("zk:1", "[::1]:1", "", refused), at("zk:1", "127.0.0.1:1", version+"standalone", nil)},
			[]judged{{odd, "clients try all addresses of a name"}, {fine, ""}}},
		"all addresses are dead": {replies{at("zk:1", "[::1]:1", "", refused), at("zk:1", "127.0.0.1:1", "", refused),
			alone("a:1", version+"standalone")},
			[]judged{{broken, "can this machine reach it"}, {broken, "can this machine reach it"}, {fine, ""}}},
		"one server with an address of each family": {replies{at("zk:1", "[::1]:1", version+"standalone", nil),
			at("zk:1", "127.0.0.1:1", version+"standalone", nil)}, []judged{{fine, ""}, {fine, ""}}},
		"a name of two ensembles": {replies{at("zk:1", "10.0.0.1:1", version+"leader", nil), at("zk:1", "10.0.0.2:1", version+"leader", nil)},
			[]judged{{fine, ""}, {fine, ""}, {broken, "must be of one ensemble"}}},
		"a name of an ensemble": {replies{at("zk:1", "10.0.0.1:1", version+"leader", nil), at("zk:1", "10.0.0.2:1", version+"follower", nil)},
			[]judged{{fine, ""}, {fine, ""}}},
	} {
		e := &examination{tell: func(finding) {}}
		e.judgeServers(c.all)
		require.Len(t, e.findings, len(c.want), "%s: %v", name, e.findings)
		for i, want := range c.want {
			require.Equal(t, want.grade, e.findings[i].Grade, "%s: %v", name, e.findings[i])
			require.Contains(t, e.findings[i].Do, want.do, name)
			if i < len(c.all) {
				require.Contains(t, e.findings[i].Found, c.all[i].String(), name)
			}
		}
	}
}

// answering is a server that answers each word with a text. It gives the address.
func answering(t *testing.T, address, text string) string {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	var running sync.WaitGroup
	t.Cleanup(func() { listener.Close(); running.Wait() })
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.ReadFull(conn, make([]byte, 4))
			_, _ = io.WriteString(conn, text)
			conn.Close()
		}
	})
	return listener.Addr().String()
}

// TestAllAddressesAreAsked: each address of a name is asked, and shown beside it. A name with one address stays as it was typed.
func TestAllAddressesAreAsked(t *testing.T) {
	at := answering(t, "127.0.0.1:0", "Mode: leader\n")
	_, port, err := net.SplitHostPort(at)
	require.NoError(t, err)
	answering(t, "127.0.0.2:"+port, "Mode: follower\n")
	names := map[string][]string{"zk": {"127.0.0.1", "127.0.0.2"}, "one": {"127.0.0.2"}}
	e := &examination{timeout: time.Minute, lookUp: func(_ context.Context, name string) ([]string, error) {
		if ips := names[name]; ips != nil {
			return ips, nil
		}
		return nil, errors.New("no such host")
	}}
	e.addresses = e.addressesOf(t.Context(), []string{"one:" + port, "none:" + port, "zk:" + port})
	shown := make([]string, len(e.addresses))
	for i, at := range e.addresses {
		shown[i] = at.String()
	}
	first, second := "zk:"+port+" (127.0.0.1:"+port+")", "zk:"+port+" (127.0.0.2:"+port+")"
	require.Equal(t, []string{"one:" + port, "none:" + port, first, second}, shown)
	e.addresses = e.addresses[2:] // DNS knows none of the others
	for i, r := range e.replies(t.Context()) {
		require.NoError(t, r.err)
		require.Equal(t, []string{"leader", "follower"}[i], r.mode)
	}
}
