package touches

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// The leader's pings do not reach the follower, while requests of its client do
// reach the leader and are committed, one after the other. The session expires all
// the same, sooner after its newest transaction than a touch by it would allow.
func TestRequestsDoNotTouch(t *testing.T) {
	t.Parallel()
	const timeout = 12 * time.Second // much longer than a busy machine stands still
	l := newLab(t, rig.WithTickTime(500*time.Millisecond))
	proxy := rig.NewProxy(t, l.follower.Addr())
	c := l.connect(timeout, proxy.Addr())
	lived := l.watch(c, "/life")
	l.create(l.observer, "/committed", 0)

	l.Link(l.leader, l.follower).Stall()
	proxy.Refuse(true) // a client that hears nothing would reconnect, which touches
	stop := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(timeout / 40):
			}
			// The answer comes when the link is healed.
			asking.Go(func() {
				_, _ = c.Create(fmt.Sprintf("/committed/%d", i), nil, 0, zk.WorldACL(zk.PermAll))
			})
		}
	})
	ended := l.await(lived)
	close(stop)

	names, _, err := l.observer.Children("/committed")
	require.NoError(t, err)
	var newest time.Time
	for _, name := range names {
		_, stat, err := l.observer.Exists("/committed/" + name)
		require.NoError(t, err)
		if made := time.UnixMilli(stat.Ctime); made.After(newest) {
			newest = made
		}
	}
	require.Greater(t, len(names), 1, "requests were committed during the stall")
	t.Logf("%d requests were committed during the stall; the session ended %v after the newest", len(names),
		ended.Sub(newest))
	require.Less(t, ended.Sub(newest), timeout, "a touch by the newest would have kept the session for %v", timeout)
	l.Heal()
	proxy.Cut()
	c.Close()
	asking.Wait()
}

// An idle client sends nothing that goes to the leader. Its session lives, because
// the answers to the leader's pings name it; it ends when they do not arrive, though
// the follower goes on to hear from its client.
func TestAnsweredPingsTouch(t *testing.T) {
	t.Parallel()
	const timeout = 12 * time.Second // much longer than a busy machine stands still
	l := newLab(t, rig.WithTickTime(500*time.Millisecond))
	proxy := rig.NewProxy(t, l.follower.Addr())
	c := l.connect(timeout, proxy.Addr())
	lived := l.watch(c, "/life")
	up := l.Link(l.follower, l.leader)
	var mu sync.Mutex
	named, requests := 0, 0
	up.Observe(func(p rig.Packet) {
		mu.Lock()
		defer mu.Unlock()
		switch granted, found := p.Sessions()[c.SessionID()]; {
		case p.Type == rig.PacketPing && found:
			named++
			assert.EqualValues(t, timeout.Milliseconds(), granted)
		case p.Type == rig.PacketRequest && p.Session() == c.SessionID():
			requests++
		}
	})
	time.Sleep(2 * timeout)
	require.False(t, over(lived.ended), "the session of an idle client is over")
	mu.Lock()
	t.Logf("%d answers named the session in %v", named, 2*timeout)
	require.NotZero(t, named)
	require.Zero(t, requests)
	mu.Unlock()

	up.Stall()
	before := proxy.Requests(rig.OpPing)
	l.eventually("the follower hears from its client", func() bool { return proxy.Requests(rig.OpPing) > before })
	l.await(lived)
}
