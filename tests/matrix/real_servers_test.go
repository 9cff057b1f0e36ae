package matrix

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// realTimeout is the session timeout of the subjects on real servers. Whether these are back within the lease of
// 2.4 s depends on the machine: a holder may keep the lock or lose it, but in order.
const realTimeout = 6 * time.Second

// TestRealServers runs on real servers the cells that need them: killed and restarted, the leader
// killed, the quorum lost and found again. All requests of a fault meet it at the same time, each of a subject of
// its own: carried out, and not answered yet.
func TestRealServers(t *testing.T) {
	rig.Require(t)
	t.Parallel()
	t.Run(string(serverRestarted), func(t *testing.T) {
		server := rig.StartStandalone(t)
		all := meetAll(t, []*rig.Server{server}, server)
		require.NoError(t, server.Kill())
		require.NoError(t, server.Restart(bounded(t)))
		judgeAll(t, all)
	})
	ensemble := rig.StartEnsemble(t, 3)
	t.Run(string(leaderKilled), func(t *testing.T) {
		leader, err := ensemble.Leader(bounded(t))
		require.NoError(t, err)
		all := meetAll(t, ensemble.Members(), leader)
		require.NoError(t, leader.Kill())
		judgeAll(t, all)
		require.NoError(t, leader.Restart(bounded(t)))
	})
	t.Run(string(quorumLost), func(t *testing.T) {
		leader, err := ensemble.Leader(bounded(t))
		require.NoError(t, err)
		members := ensemble.Members()
		all := meetAll(t, members, leader)
		others := slices.DeleteFunc(slices.Clone(members), func(m *rig.Server) bool { return m == leader })
		for _, member := range others {
			require.NoError(t, member.Kill())
		}
		for _, s := range all {
			if s.request == verify || s.request == ping {
				s.subject.await(t, messages.StateLost) // nobody is there to acknowledge anything
			}
		}
		restarted := make(chan error, len(others))
		for _, member := range others {
			go func() { restarted <- member.Restart(bounded(t)) }() // neither serves without the other
		}
		for range others {
			require.NoError(t, <-restarted)
		}
		judgeAll(t, all)
	})
}

// realScene is a subject whose request has been carried out by a real server and not been answered.
type realScene struct {
	request              Request
	path                 string
	subject, front, next *player
	plain                *zk.Conn
	unlock               chan error
}

// meetAll sets a scene for each request. Each subject is at the one member when its request is met, and knows
// the others.
func meetAll(t *testing.T, members []*rig.Server, at *rig.Server) (all []*realScene) {
	t.Helper()
	var addrs []string
	for _, member := range members {
		addrs = append(addrs, member.Addr())
	}
	// A server that is only just starting may never answer a connect request. The library waits for
	// that answer ten times as long as for any other: with this timeout, less than bound.
	conn := plain(t, realTimeout, addrs...)
	// Requests of holders come last: a reply that is held back for long costs them the lock by
	// itself.
	requests := []Request{create, list, watch, syncing, remove, ping, verify}
	for attempt := 0; len(all) < len(requests); attempt++ {
		require.Less(t, attempt, len(requests)+10, "the machine is too slow")
		request := requests[len(all)]
		path := fmt.Sprintf("/%s-%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), request, attempt)
		s := &realScene{request: request, path: path, plain: conn, unlock: make(chan error, 1)}
		direct := strings.Join(addrs, ",")
		s.front = newRealPlayer(t, openReal(t, direct, locks.WithSessionTimeout(long)), path)
		s.next = newRealPlayer(t, openReal(t, direct, locks.WithSessionTimeout(long)), path)
		near := rig.NewProxy(t, at.Addr())
		through, others := []string{near.Addr()}, []*rig.Proxy(nil)
		for _, member := range members {
			if member != at {
				far := rig.NewProxy(t, member.Addr())
				far.Refuse(true)
				through, others = append(through, far.Addr()), append(others, far)
			}
		}
		s.subject = newRealPlayer(t, openReal(t, strings.Join(through, ","), locks.WithSessionTimeout(realTimeout)), path)
		if !s.meet(t, near) {
			t.Logf("%s: the lock was lost before the request: once more", request)
			continue
		}
		for _, far := range others {
			far.Refuse(false)
		}
		all = append(all, s)
	}
	return all
}

// meet has the request sent, and its reply held back. It is false where the subject lost its lock before: a machine may
// be too slow for the session timeout.
func (s *realScene) meet(t *testing.T, proxy *rig.Proxy) bool {
	t.Helper()
	below := func(path string) bool { return strings.HasPrefix(path, s.path+"/") }
	rule := rig.Rule{Action: rig.Delay, Path: below}
	trigger := func() { s.subject.ask(t) }
	switch s.request {
	case create, list, watch, syncing:
		warm, err := s.subject.client.Mutex(s.path).Lock(bounded(t))
		require.NoError(t, err)
		if err := warm.Unlock(bounded(t)); err != nil {
			require.ErrorIs(t, err, locks.ErrLost)
		}
	default:
		s.subject.hold(t)
		s.next.wait(t)
		trigger = func() {}
	}
	switch s.request {
	case create:
		rule.Op = rig.OpCreate
	case list:
		s.front.hold(t)
		rule.Op, rule.Path = rig.OpGetChildren2, nil
	case watch:
		s.front.hold(t)
		rule.Op = rig.OpGetData
	case syncing:
		rule.Op, rule.Path = rig.OpCheck, func(path string) bool { return path == s.path }
		proxy.Expect(rig.Rule{Op: rig.OpCreate, Action: rig.DropReply, Path: below})
	case verify:
		rule.Op = rig.OpCheck
	case remove:
		rule.Op = rig.OpDelete
		trigger = func() {
			ctx := bounded(t)
			go func() { s.unlock <- unlock(ctx, s.subject.lease) }()
		}
	case ping:
		rule.Op, rule.Path = rig.OpPing, nil
	}
	fault := proxy.Expect(rule)
	trigger()
	lost := func() bool { return slices.Contains(s.subject.rec.States(), stLost) }
	for ctx := bounded(t); ; {
		select {
		case <-fault.Fired():
			return s.request != remove || !lost() // or else it deletes what it has lost
		case <-time.After(10 * time.Millisecond):
			if lost() {
				return false
			}
		case <-ctx.Done():
			t.Fatalf("%s was never sent: %v", s.request, s.subject.rec.States())
		}
	}
}

func judgeAll(t *testing.T, all []*realScene) {
	t.Helper()
	for _, s := range all {
		t.Run(string(s.request), s.judge)
	}
}

// judge brings a scene to its end.
func (s *realScene) judge(t *testing.T) {
	token := messages.Token(0)
	switch s.request {
	case verify, ping:
		token = s.judgeHolder(t)
	case remove:
		require.NoError(t, <-s.unlock)
		token = s.subject.lease.Token()
	default:
		if s.front.lease != nil {
			if err := unlock(bounded(t), s.front.lease); err != nil {
				require.ErrorIs(t, err, locks.ErrLost)
			}
		}
		lease := s.subject.hold(t)
		if there := s.children(t); lease.Valid() { // a machine without a processor to spare loses it by now
			require.Equal(t, []string{lease.Node()}, there)
		}
		token = lease.Token()
		if err := unlock(bounded(t), lease); err != nil {
			require.ErrorIs(t, err, locks.ErrLost)
		}
	}
	next := s.next.hold(t)
	require.Greater(t, next.Token(), token)
	if err := unlock(bounded(t), next); err != nil {
		require.ErrorIs(t, err, locks.ErrLost)
	}
	require.Eventually(t, func() bool { return len(s.children(t)) == 0 }, bound, 10*time.Millisecond, "something is left")
	t.Log(s.subject.rec.States())
}

// judgeHolder: it keeps the lock, or it is told Lost before the next is let in.
func (s *realScene) judgeHolder(t *testing.T) messages.Token {
	t.Helper()
	lease := s.subject.lease
	require.Eventually(t, func() bool {
		states := s.subject.rec.States()
		return states[len(states)-1].Terminal() || len(states) > 2 && states[len(states)-1] == stHeld
	}, bound, 10*time.Millisecond)
	if err := unlock(bounded(t), lease); err != nil {
		require.ErrorIs(t, err, locks.ErrLost)
		s.next.hold(t)
		require.True(t, s.subject.await(t, stLost).At.Before(s.next.await(t, stHeld).At), "the next was let in first")
	}
	require.False(t, lease.Valid())
	return lease.Token()
}

func (s *realScene) children(t *testing.T) []string {
	t.Helper()
	for ctx := bounded(t); ; {
		_, err := s.plain.Sync(s.path)
		var names []string
		if err == nil {
			names, _, err = s.plain.Children(s.path)
		}
		if err == nil || err == zk.ErrNoNode {
			return withoutGuard(names)
		}
		require.NoError(t, ctx.Err(), "%v", err)
		time.Sleep(10 * time.Millisecond) // the session is on its way to another member
	}
}
