package matrix

import (
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// measured is an ensemble that can be cut in two, a holder that can only reach one member of it, and a session
// at another that watches the holder's node.
type measured struct {
	ensemble *rig.Partitionable
	proxy    *rig.Proxy // to the holder's member
	member   int
	holder   *player
	outside  *zk.Conn
	gone     <-chan zk.Event // of the holder's node
}

// openMeasured has somebody hold through a member: the leader or a follower. A heartbeat has just been answered.
func openMeasured(t *testing.T, p *rig.Partitionable, leads bool, timeout time.Duration) *measured {
	t.Helper()
	m := &measured{ensemble: p}
	leader, err := p.Leader(bounded(t))
	require.NoError(t, err)
	m.member = slices.IndexFunc(p.Members(), func(s *rig.Server) bool { return (s == leader) == leads })
	m.proxy = rig.NewProxy(t, p.Members()[m.member].Addr())
	client := openReal(t, m.proxy.Addr(), locks.WithSessionTimeout(timeout))
	m.outside = m.connect(t)
	for deadline := time.Now().Add(5 * bound); ; { // one attempt takes long where the session is lost in it
		m.holder = newRealPlayer(t, client, lockPath)
		lease := m.holder.hold(t)
		_, err := m.outside.Sync(lockPath)
		require.NoError(t, err)
		exists, _, gone, err := m.outside.ExistsW(lockPath + "/" + lease.Node())
		require.NoError(t, err)
		if m.gone = gone; exists && m.afterAHeartbeat(t) {
			return m
		}
		select { // a machine that stands still loses so short a session
		case <-lease.Context().Done():
		case <-bounded(t).Done():
			t.Fatal("a node that is held and is not there")
		}
		require.True(t, time.Now().Before(deadline), "no session lasts until a heartbeat")
	}
}

// connect opens a plain session at the members that are not the holder's.
func (m *measured) connect(t *testing.T) *zk.Conn {
	t.Helper()
	var addrs []string
	for i, member := range m.ensemble.Members() {
		if i != m.member {
			addrs = append(addrs, member.Addr(), member.Addr()) // twice: the library rests after a round
		}
	}
	return plain(t, long, addrs...)
}

// plain opens a session of go-zookeeper's own.
func plain(t *testing.T, timeout time.Duration, addrs ...string) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect(addrs, timeout, zk.WithLogger(rig.Silent{}))
	require.NoError(t, err)
	t.Cleanup(func() {
		conn.Close()
		for range events {
		}
	})
	require.Eventually(t, func() bool { // a busy machine may be late for one
		_, err := conn.Sync("/")
		return err == nil
	}, bound, 10*time.Millisecond, "no session at %v", addrs)
	return conn
}

// requireLostFirst waits until the node is gone, and requires that the holder had been told before.
func (m *measured) requireLostFirst(t *testing.T, struck time.Time) {
	t.Helper()
	gone := m.awaitGone(t)
	lease := m.holder.lease
	require.False(t, lease.Valid(), "valid when its node is gone")
	<-lease.Context().Done()
	lost, err := m.holder.rec.Await(bounded(t), messages.StateLost)
	require.NoError(t, err)
	t.Logf("Lost %v after the fault, the node gone %v after it", lost.At.Sub(struck), gone.Sub(struck))
	over := lost.At
	if !over.Before(gone) { // a machine that stands still tells late what its clock had ended before
		over = lease.Deadline()
	}
	require.True(t, !over.IsZero() && over.Before(gone), "Lost at %v, the lease over at %v, the node gone at %v", lost.At, over, gone)
	require.Equal(t, messages.ReasonLeaseOver, lost.Reason)
	require.ErrorIs(t, lease.Unlock(bounded(t)), locks.ErrLost)
}

// awaitGone gives the time at which the node was seen gone. The watching session may be dropped on the way, when
// the members elect.
func (m *measured) awaitGone(t *testing.T) time.Time {
	t.Helper()
	path := lockPath + "/" + m.holder.lease.Node()
	for ctx := bounded(t); ; {
		select {
		case event := <-m.gone:
			if event.Type == zk.EventNodeDeleted {
				return time.Now()
			}
		case <-ctx.Done():
			t.Fatal("the node is never gone")
		}
		exists, _, gone, err := m.outside.ExistsW(path)
		if err == nil && !exists {
			return time.Now()
		}
		if err == nil {
			m.gone = gone
			continue
		}
		again := make(chan zk.Event, 1) // disconnected: ask again
		again <- zk.Event{}
		m.gone = again
		time.Sleep(5 * time.Millisecond)
	}
}

// measuredTick is the tick of the ensemble, and smallest the shortest session timeout that it grants.
const (
	measuredTick = time.Second
	smallest     = 2 * measuredTick
)

// partitionable starts an ensemble that can be cut in two. A member that hears nothing of the others for four
// ticks believes that it is alone.
func partitionable(t *testing.T) *rig.Partitionable {
	t.Helper()
	p, err := rig.NewPartitionable(3, rig.WithTickTime(measuredTick), rig.WithConfig("syncLimit", "4"),
		rig.WithConfig("initLimit", "8"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop()) })
	return p
}
