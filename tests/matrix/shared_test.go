package matrix

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// sharedPath is the lock whose hold serves several calls.
const sharedPath = "/lock-shared"

// call has our client call Lock. No actor observes the call, so it may share a hold.
func (c *crowd) call(t *testing.T, opts ...locks.LockOption) *member {
	t.Helper()
	rec := actorstest.NewRecorder(c.ours.System()) // hears nothing
	t.Cleanup(rec.Close)
	m := c.enterAs(t, &player{client: c.ours, rec: rec, locker: c.ours.Mutex(sharedPath, opts...)}, sharedPath)
	synctest.Wait()
	return m
}

// sharing is a hold of our client in the middle of its service: the first call has given back, another
// has it, two wait inside, and a contender of another client waits behind its node.
type sharing struct {
	*crowd
	node          string
	first, holder *member
	waiting       []*member
	remote        *member
}

func (c *crowd) shares(t *testing.T, opts ...locks.LockOption) *sharing {
	t.Helper()
	s := c.sharesAlone(t, opts...)
	s.first.giveBack()
	s.handsOn(t, s.first, s.holder)
	return s
}

// sharesAlone is shares while the first call has the hold.
func (c *crowd) sharesAlone(t *testing.T, opts ...locks.LockOption) *sharing {
	t.Helper()
	s := &sharing{crowd: c, first: c.call(t, opts...)}
	c.awaitHolds(t, s.first)
	s.node, s.holder = s.first.lease.Node(), c.call(t, opts...)
	s.waiting = []*member{c.call(t, opts...), c.call(t, opts...)}
	require.Equal(t, []string{s.node}, c.childrenOf(t, sharedPath), "calls that wait have no node")
	s.remote = c.enter(t, c.theirs, sharedPath)
	synctest.Wait()
	return s
}

// handsOn waits until a call has the hold after another.
func (s *sharing) handsOn(t *testing.T, from, to *member) {
	t.Helper()
	<-from.done
	s.awaitHolds(t, to)
	require.Equal(t, s.node, to.lease.Node())
	require.Equal(t, from.lease.Token()+1, to.lease.Token())
}

// nobodyElse: neither who waits inside nor the other client holds.
func (s *sharing) nobodyElse(t *testing.T) {
	t.Helper()
	synctest.Wait()
	for _, m := range append(s.waiting, s.remote) {
		require.False(t, s.holds(m))
	}
}

// loses has the holder lose the lock by something that the servers know first.
func (s *sharing) loses() {
	s.holder.ends = bereft
	s.seen.excuse(s.holder)
}

// serves has the other client hold, and then some calls in this order.
func (s *sharing) serves(t *testing.T, calls ...*member) {
	t.Helper()
	s.inOrder(t, append([]*member{s.remote}, calls...)...)
	for _, m := range calls {
		require.NotEqual(t, s.node, m.lease.Node())
	}
}

// inOrder has some hold in this order, one at a time. The onlooker compares the tokens.
func (c *crowd) inOrder(t *testing.T, order ...*member) {
	t.Helper()
	for i, m := range order {
		c.awaitHolds(t, m)
		for _, later := range order[i+1:] {
			require.False(t, c.holds(later), "before its turn")
		}
		m.giveBack()
		<-m.done
	}
}

// cohort has more grants than a scene needs.
var cohort = locks.WithCohort(100)

// sharedHolds are faults that strike a hold while a call has it.
var sharedHolds = []plot{
	{name: "cut", outcome: "it holds on; its time is over when the connection is back, and the other client is next",
		play: func(t *testing.T, c *crowd) {
			s := c.shares(t, cohort)
			c.server.Replica(0).DropClients()
			time.Sleep(tick)
			require.True(t, s.holder.lease.Valid())
			s.nobodyElse(t)
			s.holder.giveBack()
			s.serves(t, s.waiting...)
		}},
	{name: "session-expired", outcome: "Lost; the other client is next, and those that waited ask anew behind it",
		play: func(t *testing.T, c *crowd) {
			s := c.shares(t, cohort)
			s.loses()
			require.NoError(t, c.server.Expire(session(c.ours)))
			awaitEnd(t, s.holder.lease)
			s.serves(t, s.waiting...)
		}},
	{name: "node-deleted", outcome: "Lost; the other client is next, and those that waited ask anew behind it",
		play: func(t *testing.T, c *crowd) {
			s := c.shares(t, cohort)
			s.loses()
			require.NoError(t, c.operator.Delete(sharedPath+"/"+s.node, -1))
			awaitEnd(t, s.holder.lease)
			s.serves(t, s.waiting...)
		}},
	{name: "revoke-requested", outcome: "it is asked, and holds on; the hold ends with it, and the other client is next",
		play: func(t *testing.T, c *crowd) {
			s := c.shares(t, cohort)
			asked, err := c.theirs.Revoke(patient(t), sharedPath)
			require.NoError(t, err)
			require.Len(t, asked, 1)
			<-s.holder.lease.Revoked()
			require.True(t, s.holder.lease.Valid())
			s.nobodyElse(t)
			s.holder.giveBack()
			s.serves(t, s.waiting...)
		}},
	{name: "closed", outcome: "all calls end with ErrClosed, and the other client holds at once",
		play: func(t *testing.T, c *crowd) {
			s := c.shares(t, cohort)
			s.loses()
			for _, m := range append(s.waiting, s.holder) {
				m.ends = closed
			}
			require.NoError(t, c.ours.Close(patient(t)))
			s.serves(t)
		}},
	{name: "ctx-ends-as-it-is-granted", outcome: "Lock returns the grant or the end of ctx; the next in the line has the hold after that",
		play: func(t *testing.T, c *crowd) {
			s := c.sharesAlone(t, cohort)
			s.holder.giveBack()
			s.first.giveBack()
			s.holder.cancel()
			<-s.holder.done
			if s.holder.err != nil {
				s.holder.ends = givenUp
			}
			s.inOrder(t, append(s.waiting, s.remote)...)
			require.Equal(t, s.node, s.waiting[1].lease.Node())
		}},
	{name: "given-back-when-the-lease-is-over", outcome: "Lost, and nobody is granted the hold: all ask anew behind the other client",
		play: func(t *testing.T, c *crowd) {
			s := c.sharesAlone(t, cohort)
			time.Sleep(timeout) // the lease is no longer a new connection's
			kept := c.strike(t, embedded.Fault{Action: embedded.HoldReplies})
			require.NoError(t, kept.Wait(patient(t)))
			c.refuse(true)
			synctest.Wait()
			for left := time.Until(s.first.lease.Deadline()); left > 0; left = time.Until(s.first.lease.Deadline()) {
				time.Sleep(left)
			}
			s.first.ends = bereft
			s.first.giveBack()
			synctest.Wait()
			for _, m := range append(s.waiting, s.holder) {
				require.False(t, c.holds(m), "with a hold whose lease is over")
			}
			c.silence(t, session(c.ours), kept)
			s.serves(t, append([]*member{s.holder}, s.waiting...)...)
		}},
}

// TestFaultsStrikeSharedHolds: one holds at a time, calls in their order, and the other client has its turn.
func TestFaultsStrikeSharedHolds(t *testing.T) { testPlots(t, sharedHolds) }

// keeps has our client keep a hold that nobody has.
func (c *crowd) keeps(t *testing.T, stays time.Duration) (node string) {
	t.Helper()
	m := c.call(t, locks.WithSticky(stays))
	c.inOrder(t, m)
	next := c.call(t, locks.WithSticky(stays))
	c.inOrder(t, next)
	require.Equal(t, m.lease.Node(), next.lease.Node())
	synctest.Wait()
	require.Equal(t, []string{next.lease.Node()}, c.childrenOf(t, sharedPath), "the hold is kept")
	return next.lease.Node()
}

// keptThen strikes a kept hold. Our client and then another ask for the lock and get it; ours may do so with
// the node that was kept.
func keptThen(stays bool, strike func(t *testing.T, c *crowd, node string)) func(*testing.T, *crowd) {
	return func(t *testing.T, c *crowd) {
		node := c.keeps(t, time.Hour)
		strike(t, c, node)
		again := c.call(t, locks.WithSticky(time.Hour))
		c.awaitHolds(t, again)
		require.Equal(t, stays, again.lease.Node() == node)
		c.inOrder(t, again, c.enter(t, c.theirs, sharedPath))
	}
}

// keptHolds are faults that strike a hold that nobody has.
var keptHolds = []plot{
	{name: "asked-for-after-a-rest", outcome: "it is checked, and serves again",
		play: keptThen(true, func(*testing.T, *crowd, string) { time.Sleep(timeout) })},
	{name: "somebody-comes", outcome: "it is given back: who came holds, and a call of ours gets a new hold",
		play: keptThen(false, func(t *testing.T, c *crowd, _ string) { c.inOrder(t, c.enter(t, c.theirs, sharedPath)) })},
	{name: "cut", outcome: "it is kept on",
		play: keptThen(true, func(t *testing.T, c *crowd, _ string) {
			c.server.Replica(0).DropClients()
			time.Sleep(tick)
		})},
	{name: "session-expired", outcome: "it is gone: a call of ours gets a new hold",
		play: keptThen(false, func(t *testing.T, c *crowd, _ string) {
			require.NoError(t, c.server.Expire(session(c.ours)))
			synctest.Wait()
		})},
	{name: "node-deleted", outcome: "that is heard: a call of ours gets a new hold",
		play: keptThen(false, func(t *testing.T, c *crowd, node string) {
			require.NoError(t, c.operator.Delete(sharedPath+"/"+node, -1))
			synctest.Wait()
		})},
	{name: "revoke-requested", outcome: "it is given back: a call of ours gets a new hold",
		play: keptThen(false, func(t *testing.T, c *crowd, _ string) {
			_, err := c.theirs.Revoke(patient(t), sharedPath)
			require.NoError(t, err)
			synctest.Wait()
			require.Empty(t, c.childrenOf(t, sharedPath))
		})},
	{name: "time-over", outcome: "it is given back",
		play: func(t *testing.T, c *crowd) {
			c.keeps(t, time.Second)
			time.Sleep(2 * time.Second)
			require.Empty(t, c.childrenOf(t, sharedPath))
		}},
	{name: "closed", outcome: "it goes with its client, at once",
		play: func(t *testing.T, c *crowd) {
			c.keeps(t, time.Hour)
			require.NoError(t, c.ours.Close(patient(t)))
			require.Empty(t, c.childrenOf(t, sharedPath))
		}},
	{name: "node-deleted-unheard", outcome: "after a rest the check finds it: the call holds behind the one that came",
		play: func(t *testing.T, c *crowd) {
			c.keeps(t, time.Hour)
			kept := c.strike(t, embedded.Fault{Action: embedded.HoldReplies})
			require.NoError(t, kept.Wait(patient(t))) // a heartbeat, T/6 after
			time.Sleep(timeout / 10)
			require.NoError(t, c.operator.Delete(sharedPath+"/"+c.childrenOf(t, sharedPath)[0], -1))
			remote := c.enter(t, c.theirs, sharedPath)
			c.awaitHolds(t, remote)
			again := c.call(t, locks.WithSticky(time.Hour))
			require.False(t, c.holds(again), "by a node that is gone")
			kept.Release()
			synctest.Wait()
			require.False(t, c.holds(again), "by a node that is gone")
			c.inOrder(t, remote, again, c.enter(t, c.theirs, sharedPath))
		}},
}

// TestFaultsStrikeKeptHolds: nobody holds by a node that is gone, and a kept hold keeps nobody out.
func TestFaultsStrikeKeptHolds(t *testing.T) { testPlots(t, keptHolds) }
