package matrix

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// TestRealMeasured shows what was measured on real servers to be no evidence that a session lives: in each case
// the holder's member goes on answering, or has just answered, and Lost comes before the node is gone. The
// sessions are the shortest that the servers grant, of two ticks.
func TestRealMeasured(t *testing.T) {
	rig.Require(t)
	t.Parallel()
	p := partitionable(t)
	t.Run("follower cut off from its leader", func(t *testing.T) {
		m := openMeasured(t, p, false, smallest)
		struck := time.Now()
		p.Silence(m.member) // nobody tells the follower: it answers pings
		m.requireLostFirst(t, struck)
		m.heal(t)
	})
	t.Run("isolated old leader answering sync", func(t *testing.T) {
		m := openMeasured(t, p, true, smallest)
		onOld := plain(t, long, p.Members()[m.member].Addr())
		struck := time.Now()
		p.Silence(m.member) // the others elect another; the old one does not know yet
		_, err := onOld.Sync("/")
		require.NoError(t, err, "an old leader that answers no sync")
		m.requireLostFirst(t, struck)
		m.heal(t)
	})
	t.Run("follower killed right after a reply", func(t *testing.T) {
		m := openMeasured(t, p, false, smallest)
		m.proxy.Refuse(true) // no other member is reached
		struck := time.Now()
		require.NoError(t, p.Members()[m.member].Kill())
		m.requireLostFirst(t, struck)
		require.NoError(t, p.Members()[m.member].Restart(bounded(t)))
		m.heal(t)
	})
	t.Run("smallest session, cut off", func(t *testing.T) {
		m := openMeasured(t, p, false, smallest/4) // the servers make it two ticks
		m.proxy.Refuse(true)
		struck := time.Now()
		m.proxy.Cut()
		m.requireLostFirst(t, struck)
		m.heal(t)
	})
	t.Run("follower killed, and the client goes elsewhere", func(t *testing.T) { goesElsewhere(t, p) })
}

// afterAHeartbeat waits until a heartbeat has just been answered. It is false where the lease ended before.
func (m *measured) afterAHeartbeat(t *testing.T) bool {
	t.Helper()
	lease := m.holder.lease
	before := lease.Deadline()
	require.Eventually(t, func() bool { return lease.Deadline().After(before) || lease.Context().Err() != nil }, bound,
		time.Millisecond)
	return lease.Context().Err() == nil
}

// heal puts everything back, and waits until all members serve and the lock can be acquired.
func (m *measured) heal(t *testing.T) {
	t.Helper()
	m.ensemble.Heal()
	m.proxy.Refuse(false)
	require.Eventually(t, func() bool {
		followers, err := m.ensemble.Waiting(bounded(t))
		return err == nil && len(followers) == len(m.ensemble.Members())-1
	}, bound, 10*time.Millisecond, "an ensemble that is whole")
	again, err := m.holder.client.Mutex(lockPath).Lock(bounded(t))
	require.NoError(t, err)
	require.Greater(t, again.Token(), m.holder.lease.Token())
	if err := again.Unlock(bounded(t)); !errors.Is(err, locks.ErrUnconfirmed) && !errors.Is(err, locks.ErrLost) {
		require.NoError(t, err) // the smallest session is shorter than what a busy machine takes for a round trip
	}
}

// goesElsewhere: the holder's follower is killed right after a reply, and the holder knows the others: it keeps
// the lock, by the same node.
func goesElsewhere(t *testing.T, p *rig.Partitionable) {
	leader, err := p.Leader(bounded(t))
	require.NoError(t, err)
	follower := slices.IndexFunc(p.Members(), func(s *rig.Server) bool { return s != leader })
	var addrs string
	var proxies []*rig.Proxy
	for i, member := range p.Members() {
		proxies = append(proxies, rig.NewProxy(t, member.Addr()))
		proxies[i].Refuse(i != follower)
		addrs += "," + proxies[i].Addr()
	}
	holder := newRealPlayer(t, openReal(t, addrs[1:], locks.WithSessionTimeout(long)), lockPath)
	lease := holder.hold(t)
	for _, proxy := range proxies {
		proxy.Refuse(false)
	}
	m := &measured{ensemble: p, holder: holder}
	require.True(t, m.afterAHeartbeat(t))
	require.NoError(t, p.Members()[follower].Kill())
	proxies[follower].Refuse(true)
	resumed, err := holder.rec.AwaitNth(bounded(t), messages.StateHeld, 2)
	require.NoError(t, err)
	require.Equal(t, lease.Node(), resumed.Node)
	require.True(t, lease.Valid())
	require.NoError(t, lease.Unlock(bounded(t)))
	require.Equal(t, kinds([]any{&messages.Held{}, &messages.Suspended{}, &messages.Resumed{}}), kinds(holder.rec.Notices())[:3])
	require.NoError(t, p.Members()[follower].Restart(bounded(t)))
}
