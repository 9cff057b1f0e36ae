package matrix

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// sharedPath is the lock whose hold serves several calls.
const sharedPath = "/lock-shared"

// sharing is a hold of our client in the middle of its service: one call has it, others wait inside, and a contender of
// another client waits behind its node.
type sharing struct {
	*crowd
	node    string
	holder  *member
	waiting []*member
	remote  *member
}

func (c *crowd) shares(t *testing.T) *sharing {
	t.Helper()
	cohort := locks.WithCohort(100) // more grants than a scene needs
	s := &sharing{crowd: c, holder: c.call(t, sharedPath, cohort)}
	c.awaitHolds(t, s.holder)
	s.node = s.holder.lease.Node()
	for range 3 {
		s.waiting = append(s.waiting, c.call(t, sharedPath, cohort))
	}
	require.Equal(t, []string{s.node}, c.children(t, sharedPath), "calls that wait have no node")
	s.remote = c.queue(t, c.theirs, 1, sharedPath)[0]
	return s
}

// handsOn has the first call give back: the next has the hold.
func (s *sharing) handsOn(t *testing.T) {
	t.Helper()
	before := s.holder
	before.giveBack()
	<-before.done
	s.holder, s.waiting = s.waiting[0], s.waiting[1:]
	s.awaitHolds(t, s.holder)
	require.Equal(t, s.node, s.holder.lease.Node())
	require.Equal(t, before.lease.Token()+1, s.holder.lease.Token())
}

// serves has the other client hold, and then those that waited inside, by a new hold.
func (s *sharing) serves(t *testing.T) {
	t.Helper()
	s.inOrder(t, append([]*member{s.remote}, s.waiting...)...)
	for _, m := range s.waiting {
		require.NotEqual(t, s.node, m.lease.Node())
	}
}

// TestFaultsStrikeSharedHolds: a fault strikes a hold while a call has it. One holds at a time, calls in their order, and the
// other client has its turn.
func TestFaultsStrikeSharedHolds(t *testing.T) {
	lost := func(strike func(t *testing.T, s *sharing)) func(*testing.T, *crowd) {
		return func(t *testing.T, c *crowd) {
			s := c.shares(t)
			s.handsOn(t)
			s.loses(s.holder)
			strike(t, s)
			scene.AwaitLost(t, s.holder.lease)
			s.serves(t)
		}
	}
	const outcome = "Lost; the other client is next, and those that waited ask anew behind it"
	testPlots(t, []plot{
		{"cut", "it holds on; its time is over when the connection is back, and the other client is next",
			func(t *testing.T, c *crowd) {
				s := c.shares(t)
				s.handsOn(t)
				c.server.Replica(0).DropClients()
				time.Sleep(tick)
				require.True(t, s.holder.lease.Valid())
				s.holder.giveBack()
				s.serves(t)
			}},
		{"session-expired", outcome, lost(func(t *testing.T, s *sharing) { require.NoError(t, s.server.Expire(session(s.ours))) })},
		{"node-deleted", outcome, lost(func(t *testing.T, s *sharing) {
			require.NoError(t, s.operator.Delete(sharedPath+"/"+s.node, -1))
		})},
		{"given-back-when-the-lease-is-over", "Lost, and nobody is granted the hold: all ask anew behind the other client",
			func(t *testing.T, c *crowd) {
				s := c.shares(t)
				of := session(c.ours)
				time.Sleep(timeout) // the lease is no longer a new connection's
				kept := c.strike(t, embedded.Fault{Action: embedded.HoldReplies})
				require.NoError(t, kept.Wait(scene.Deadline(t)))
				c.refuse(true)
				synctest.Wait()
				for left := time.Until(s.holder.lease.Deadline()); left > 0; left = time.Until(s.holder.lease.Deadline()) {
					time.Sleep(left)
				}
				s.holder.ends = locks.ErrLost
				s.holder.giveBack()
				synctest.Wait()
				for _, m := range s.waiting {
					require.False(t, c.holds(m), "with a hold whose lease is over")
				}
				c.awaitExpiry(t, of)
				c.refuse(false)
				kept.Release()
				s.serves(t)
			}},
	})
}

// TestFaultsStrikeKeptHolds: our client keeps a hold that nobody has, and a fault strikes it. Nobody holds by a node that is
// gone, and a kept hold keeps nobody out.
func TestFaultsStrikeKeptHolds(t *testing.T) {
	sticky := locks.WithSticky(time.Hour)
	kept := func(stays bool, strike func(t *testing.T, c *crowd, node string)) func(*testing.T, *crowd) {
		return func(t *testing.T, c *crowd) {
			m := c.call(t, sharedPath, sticky)
			c.inOrder(t, m)
			node := m.lease.Node()
			require.Equal(t, []string{node}, c.children(t, sharedPath), "the hold is kept")
			strike(t, c, node)
			again := c.call(t, sharedPath, sticky)
			c.awaitHolds(t, again)
			require.Equal(t, stays, again.lease.Node() == node)
			c.inOrder(t, again, c.enter(t, c.theirs, sharedPath))
		}
	}
	testPlots(t, []plot{
		{"asked-for-after-a-rest", "it is checked, and serves again", kept(true, func(*testing.T, *crowd, string) { time.Sleep(timeout) })},
		{"somebody-comes", "it is given back: who came holds, and a call of ours gets a new hold",
			kept(false, func(t *testing.T, c *crowd, _ string) { c.inOrder(t, c.enter(t, c.theirs, sharedPath)) })},
		{"session-expired", "it is gone: a call of ours gets a new hold",
			kept(false, func(t *testing.T, c *crowd, _ string) {
				require.NoError(t, c.server.Expire(session(c.ours)))
				synctest.Wait()
			})},
		{"node-deleted-unheard", "after a rest the check finds it: the call holds behind the one that came",
			kept(false, func(t *testing.T, c *crowd, node string) {
				replies := c.strike(t, embedded.Fault{Op: embedded.OpMulti, Action: embedded.HoldReplies})
				require.NoError(t, replies.Wait(scene.Deadline(t))) // a heartbeat, T/6 after
				time.Sleep(timeout / 10)
				require.NoError(t, c.operator.Delete(sharedPath+"/"+node, -1))
				remote := c.enter(t, c.theirs, sharedPath)
				c.awaitHolds(t, remote)
				again := c.call(t, sharedPath, sticky)
				require.False(t, c.holds(again), "by a node that is gone")
				replies.Release()
				synctest.Wait()
				require.False(t, c.holds(again), "by a node that is gone")
				c.inOrder(t, remote, again)
			})},
	})
}
