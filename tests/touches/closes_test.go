package touches

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// askers are three connections to one server.
type askers struct{ pings, syncs, transactions *asker }

func (l *lab) askAll(server *rig.Server) askers {
	l.t.Helper()
	return askers{l.ask(server.Addr(), pings), l.ask(server.Addr(), syncs), l.ask(server.Addr(), transactions)}
}

func (a askers) each(f func(*asker)) {
	for _, one := range []*asker{a.pings, a.syncs, a.transactions} {
		f(one)
	}
}

// closed reports whether the server has closed all three.
func (a askers) closed() bool {
	return over(a.pings.closed) && over(a.syncs.closed) && over(a.transactions.closed)
}

// A server that leaves its leader closes its clients' connections: a follower and an observer that
// are cut off, a leader that loses its quorum, and a follower that loses such a leader. Those of a
// server that keeps its leader stay.
//
// No request by way of the leader is answered that was sent after a follower or an observer was cut
// off, and no transaction that was sent to a leader after that: nothing proves on such a connection
// that the leader is still one. A server answers pings, and a leader syncs, until it closes the
// connection, also for a moment after it has ceased to serve. No reply on any of these connections
// is of a later leader's epoch. The sessions live on.
func TestServerThatLeavesItsLeaderClosesConnections(t *testing.T) {
	t.Parallel()
	const observer = 3
	l := newLabOf(t, 4, rig.WithObserver(observer), rig.WithConfig("syncLimit", "10"), rig.WithMaxSessionTimeout(long))
	l.eventually("one observes", func() bool {
		mode, err := l.Members()[observer].Address().Mode(l.t.Context())
		return err == nil && mode == "observer"
	})
	for _, c := range []struct {
		name    string
		isolate func(member int)
	}{{"cut off", l.CutOff}, {"silence", l.Silence}} {
		t.Run("follower, "+c.name, func(t *testing.T) {
			at := l.with(t)
			at.leaves(c.isolate, at.follower, at.askAll(at.follower), at.askAll(at.leader))
		})
		t.Run("observer, "+c.name, func(t *testing.T) {
			at := l.with(t)
			at.leaves(c.isolate, at.Members()[observer], at.askAll(at.Members()[observer]), at.askAll(at.leader))
		})
		t.Run("leader, "+c.name, func(t *testing.T) {
			at := l.with(t)
			at.loses(c.isolate, at.askAll(at.leader), at.askAll(at.follower))
		})
	}
}

// with gives the ensemble to a part of a test.
func (l *lab) with(t *testing.T) *lab {
	t.Helper()
	part := &lab{Partitionable: l.Partitionable, t: t}
	part.cast()
	return part
}

// answered waits until all connections have had several replies.
func (l *lab) answered(all ...askers) {
	l.t.Helper()
	l.eventually("replies on each connection", func() bool {
		yes := true
		for _, a := range all {
			a.each(func(one *asker) { yes = yes && len(one.all()) >= 10 })
		}
		return yes
	})
}

// leaves has a member without a lead lose its leader. Its clients lose their connections, and those of others do not.
func (l *lab) leaves(isolate func(int), member *rig.Server, gone, stay askers) {
	l.t.Helper()
	l.answered(gone, stay)
	isolate(l.number(member))
	isolated := time.Now()
	l.leftBy(member, gone)
	require.Zero(l.t, gone.syncs.answeredSince(isolated), "syncs are answered by way of the leader")
	require.Zero(l.t, gone.transactions.answeredSince(isolated))
	l.settle(isolated, gone)
	stay.each(func(a *asker) {
		before := len(a.all())
		l.eventually("others' connections go on", func() bool { return len(a.all()) > before+10 })
		a.requireOneLeader(l.t)
		require.False(l.t, over(a.closed))
	})
}

// loses has the leader lose its quorum. Its clients lose their connections, and those of its followers do.
func (l *lab) loses(isolate func(int), ofLeader, ofFollower askers) {
	l.t.Helper()
	old := l.leader
	l.answered(ofLeader, ofFollower)
	isolate(l.number(old))
	isolated := time.Now()
	l.leftBy(old, ofLeader)
	require.Zero(l.t, ofLeader.transactions.answeredSince(isolated), "a leader without a quorum commits nothing")
	l.t.Logf("it answered %d syncs that were sent after it had lost its followers", ofLeader.syncs.answeredSince(isolated))
	l.eventually("another leads", func() bool {
		next, err := l.Leader(scene.Deadline(l.t))
		return err == nil && next != old
	})
	l.eventually("the connections to its follower are closed", ofFollower.closed)
	ofFollower.each(func(a *asker) { a.requireOneLeader(l.t) })
	l.settle(isolated, ofLeader)
}

func (l *lab) number(member *rig.Server) int {
	for i, m := range l.Members() {
		if m == member {
			return i
		}
	}
	require.Fail(l.t, "no member")
	return 0
}

// leftBy waits until a member serves no more and has closed its clients' connections.
func (l *lab) leftBy(member *rig.Server, gone askers) {
	l.t.Helper()
	l.eventually("it serves no more", func() bool {
		question, cancel := context.WithTimeout(l.t.Context(), 10*time.Second) // one that shuts down may not answer
		defer cancel()
		_, err := member.Address().Mode(question)
		return errors.Is(err, rig.ErrNotServing)
	})
	l.eventually("the connections are closed", gone.closed)
}

// settle checks the replies on connections that are closed, heals the ensemble, and finds the sessions alive.
func (l *lab) settle(isolated time.Time, gone askers) {
	l.t.Helper()
	gone.each(func(a *asker) {
		a.requireOneLeader(l.t)
		l.t.Logf("closed after %v (%v), with %d replies to what was sent since then", a.ended.Sub(isolated), a.end,
			a.answeredSince(isolated))
	})
	l.Heal()
	l.cast()
	gone.each(func(a *asker) {
		l.eventually("the session goes on", func() bool {
			conn, _ := l.greet(l.leader.Addr(), long, a.hello)
			if conn != nil {
				_ = conn.Close()
			}
			return conn != nil
		})
	})
}
