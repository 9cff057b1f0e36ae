package touches

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// Two sessions lose their connections at the same time. One reconnects after a
// while, to a follower that no ping reaches: it lives for a whole timeout from its
// revalidation, when the other is long gone.
func TestRevalidationTouches(t *testing.T) {
	t.Parallel()
	const timeout = 16 * time.Second
	l := newLab(t, rig.WithTickTime(400*time.Millisecond))
	back, away := rig.NewProxy(t, l.follower.Addr()), rig.NewProxy(t, l.follower.Addr())
	c := l.connect(timeout, back.Addr())
	lived := l.watch(c, "/back")
	control := l.watch(l.connect(timeout, away.Addr()), "/away")

	back.Refuse(true)
	away.Refuse(true)
	back.Cut()
	away.Cut()
	time.Sleep(timeout / 2)
	l.Link(l.leader, l.follower).Stall()
	var mu sync.Mutex
	var revalidated, pinged time.Time
	l.Link(l.follower, l.leader).Observe(func(p rig.Packet) {
		mu.Lock()
		defer mu.Unlock()
		_, named := p.Sessions()[c.SessionID()]
		switch {
		case named && p.Type == rig.PacketRevalidate:
			revalidated = time.Now()
		case named && p.Type == rig.PacketPing:
			pinged = time.Now()
		}
	})
	back.Refuse(false)
	l.eventually("a revalidation", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return !revalidated.IsZero()
	})
	back.Refuse(true) // one is enough

	first := l.await(control)
	ended := l.await(lived)
	mu.Lock()
	defer mu.Unlock()
	t.Logf("gone %v after the revalidation, and %v after the session without one", ended.Sub(revalidated),
		ended.Sub(first))
	require.True(t, pinged.IsZero(), "a ping's answer named the session during the stall")
	require.GreaterOrEqual(t, ended.Sub(revalidated), timeout)
	require.Less(t, first, ended)
}

// The members that grant what they like, counted from 0.
const (
	generous = 0
	strict   = 1
)

const (
	short = 8 * time.Second
	long  = 10 * time.Minute
	// sooner is far from both, for a machine under load.
	sooner = 5 * time.Minute
)

// newUnequalLab starts members of which two grant 10 min, and at most 8 s, and the
// third leads.
func newUnequalLab(t *testing.T, opts ...rig.Option) *lab {
	t.Helper()
	l := newLab(t, append(opts,
		rig.WithMember(generous, rig.WithMinSessionTimeout(long), rig.WithMaxSessionTimeout(long)),
		rig.WithMember(strict, rig.WithMaxSessionTimeout(short)))...)
	third := l.Members()[2]
	for l.leader != third { // it wins the next election: it has the greatest id of the servers with the newest data
		require.NoError(t, l.leader.Restart(scene.Deadline(l.t)))
		l.cast()
	}
	return l
}

// move has a client reconnect to another member, which grants it that timeout.
func (l *lab) move(c *client, proxy *rig.Proxy, member int, granted time.Duration) {
	l.t.Helper()
	before := c.connected.Load()
	proxy.SetTarget(l.Members()[member].Addr())
	proxy.Cut()
	l.eventually("the session goes on", func() bool { return c.connected.Load() > before })
	require.Equal(l.t, granted, proxy.Timeout())
}

// touched waits until the leader has touched a session so many times more, by the
// answers of a member to its pings, with that timeout.
func (l *lab) touched(c *client, member int, timeout time.Duration, times int) {
	l.t.Helper()
	named := make(chan struct{}, 1000)
	up := l.Link(l.Members()[member], l.leader)
	up.Observe(func(p rig.Packet) {
		if granted, found := p.Sessions()[c.SessionID()]; found && p.Type == rig.PacketPing &&
			int64(granted) == timeout.Milliseconds() {
			named <- struct{}{}
		}
	})
	defer up.Observe(nil)
	l.eventually("the session is touched", func() bool {
		_, _, _ = c.Exists("/") // the member hears from the client
		return len(named) >= times
	})
}

// A session that was granted 8 s and, by a reconnect, 10 min lives on without a
// connection while its leader does. A new leader ends it by the first timeout.
func TestNewLeaderGoesByTheFirstTimeout(t *testing.T) {
	t.Parallel()
	l := newUnequalLab(t, rig.WithConfig("syncLimit", "50")) // a leader that died is missed
	proxy := rig.NewProxy(t, l.Members()[strict].Addr())
	c := l.connect(short, proxy.Addr())
	require.Equal(t, short, proxy.Timeout())
	l.observer = l.connect(long, l.Members()[strict].Addr()).Conn // it outlives the leader
	lived := l.watch(c, "/life")
	l.move(c, proxy, generous, long)
	l.touched(c, generous, long, 2) // later than what the first server had to say
	proxy.Refuse(true)
	proxy.Cut()
	time.Sleep(3 * short / 2)
	require.False(t, over(lived.ended), "the session is over, though its last timeout was %v", long)

	require.NoError(t, l.leader.Kill())
	killed := time.Now()
	ended := l.await(lived)
	t.Logf("gone %v after the leader was killed", ended.Sub(killed))
	require.Less(t, ended.Sub(killed), sooner)
}

// A session that was granted 10 min and, by a reconnect, 8 s ends by the second timeout.
func TestShorterTimeoutMovesTheExpiry(t *testing.T) {
	t.Parallel()
	l := newUnequalLab(t)
	proxy := rig.NewProxy(t, l.Members()[generous].Addr())
	c := l.connect(long, proxy.Addr())
	require.Equal(t, long, proxy.Timeout())
	lived := l.watch(c, "/life")
	l.move(c, proxy, strict, short)
	l.touched(c, strict, short, 2) // later than what the first server had to say
	proxy.Refuse(true)
	proxy.Cut()
	cut := time.Now()
	ended := l.await(lived)
	t.Logf("gone %v after its connection", ended.Sub(cut))
	require.Less(t, ended.Sub(cut), sooner)
}

// The server that a client has left may still answer a ping with its session, and
// the timeout that it granted. Later than the reconnect, this counts: a session that
// has just been granted 10 min ends after 8 s.
func TestServerThatWasLeftTouches(t *testing.T) {
	t.Parallel()
	l := newUnequalLab(t)
	proxy := rig.NewProxy(t, l.Members()[strict].Addr())
	c := l.connect(short, proxy.Addr())
	lived := l.watch(c, "/life")
	up := l.Link(l.Members()[strict], l.leader)
	l.touched(c, strict, short, 1) // all of its time is left
	up.Stall()
	_, _, err := c.Exists("/")
	require.NoError(t, err)            // the server has heard from its client
	time.Sleep(500 * time.Millisecond) // the leader reads what was on its way already
	l.move(c, proxy, generous, long)
	proxy.Refuse(true)
	proxy.Cut()
	require.False(t, over(lived.ended))
	time.Sleep(3 * short / 2) // its answers wait, and nothing else is to be heard
	require.False(t, over(lived.ended), "the session is over, though its last timeout was %v", long)
	up.Heal()
	healed := time.Now()
	ended := l.await(lived)
	t.Logf("gone %v after the answers of the server that was left", ended.Sub(healed))
	require.Less(t, ended.Sub(healed), sooner)
}
