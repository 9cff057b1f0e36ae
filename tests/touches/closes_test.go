package touches

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
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
	return a.pings.isClosed() && a.syncs.isClosed() && a.transactions.isClosed()
}

// A server that leaves its leader closes its clients' connections: a follower and an observer that are cut off, a leader
// that loses its quorum, and a follower that loses such a leader. Those of a server that keeps its leader stay.
//
// No request by way of the leader is answered that was sent after a follower or an observer was cut off, and no transaction
// that was sent to a leader after that. Such a leader still answers syncs and pings, until it leaves. Nobody answers
// anything on these connections that was sent after a server was seen to serve no more, and no reply on any of them is of
// a later leader's epoch. The sessions live on.
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
	left := l.leftBy(member, gone)
	require.Zero(l.t, gone.syncs.answeredSince(isolated), "syncs are answered by way of the leader")
	require.Zero(l.t, gone.transactions.answeredSince(isolated))
	l.settle(isolated, left, gone)
	stay.each(func(a *asker) {
		before := len(a.all())
		l.eventually("others' connections go on", func() bool { return len(a.all()) > before+10 })
		a.requireOneLeader(l.t)
		require.False(l.t, a.isClosed())
	})
}

// loses has the leader lose its quorum. Its clients lose their connections, and those of its followers do.
func (l *lab) loses(isolate func(int), ofLeader, ofFollower askers) {
	l.t.Helper()
	old := l.leader
	l.answered(ofLeader, ofFollower)
	isolate(l.number(old))
	isolated := time.Now()
	left := l.leftBy(old, ofLeader)
	require.Zero(l.t, ofLeader.transactions.answeredSince(isolated), "a leader without a quorum commits nothing")
	l.t.Logf("it answered %d syncs that were sent after it had lost its followers", ofLeader.syncs.answeredSince(isolated))
	l.eventually("another leads", func() bool {
		next, err := l.Leader(l.context())
		return err == nil && next != old
	})
	l.eventually("the connections to its follower are closed", ofFollower.closed)
	ofFollower.each(func(a *asker) { a.requireOneLeader(l.t) })
	l.settle(isolated, left, ofLeader)
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

// leftBy waits until a member has closed its clients' connections and serves no more. It gives when that was seen.
func (l *lab) leftBy(member *rig.Server, gone askers) (left time.Time) {
	l.t.Helper()
	l.eventually("it serves no more", func() bool {
		_, err := member.Address().Mode(l.t.Context())
		left = time.Now()
		return err != nil
	})
	l.eventually("the connections are closed", gone.closed)
	return left
}

// settle checks the replies on connections that are closed, heals the ensemble, and finds the sessions alive.
func (l *lab) settle(isolated, left time.Time, gone askers) {
	l.t.Helper()
	gone.each(func(a *asker) {
		a.requireOneLeader(l.t)
		require.Zero(l.t, a.answeredSince(left), "a reply to what was sent after the server had left its leader")
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
