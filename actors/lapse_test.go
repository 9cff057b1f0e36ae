package actors

import (
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestLapsedIsOfTheEpoch: a session may lapse before it is connected; the next has not.
func TestLapsedIsOfTheEpoch(t *testing.T) {
	var p phases
	p.become(Connecting, "", 0)
	p.lapsed()
	now, changed := p.current()
	require.True(t, now.Lapsed)
	p.become(Connecting, "", 0)
	now, _ = p.current()
	require.False(t, now.Lapsed)
	select {
	case <-changed:
	default:
		t.Fatal("a caller that looks is told")
	}
}

// TestPausesAreForSlowServers: the next replacement waits only where sessions lapse although they
// are connected and were asked for proofs.
func TestPausesAreForSlowServers(t *testing.T) {
	const timeout = 10 * time.Second
	at := time.Now()
	var l lapse
	l.lapses(true)
	l.replaced(at, timeout, 1)
	l.stop()
	require.GreaterOrEqual(t, l.notBefore.Sub(at), shortestLapse*timeout)
	require.Equal(t, shortestLapse*timeout, l.pause)

	at = l.notBefore
	l.lapses(true)
	l.replaced(at, timeout, 2)
	l.stop()
	require.Equal(t, 2*shortestLapse*timeout, l.pause, "they go on lapsing")

	before := l
	l.lapses(true)
	l.lost()
	l.replaced(at, timeout, 3)
	l.stop()
	require.Equal(t, before, l, "a connection was lost: nobody is slow")

	l.lapses(false)
	l.replaced(at, timeout, 4)
	l.stop()
	require.Equal(t, before, l, "nobody asked for proofs")
}

// idleSession is a session actor that nobody runs, with a connection to nowhere.
func idleSession(t *testing.T) *session {
	cfg, err := zkconn.NewConfig("127.0.0.1:1")
	require.NoError(t, err)
	s := newSession(&Session{system: actor.NewActorSystem(), cfg: cfg, opts: sessionOptions{log: cfg.Logger()}})
	s.link, err = zkconn.Dial(cfg, 1, func(zkconn.Event) {})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.link.Close() })
	s.setInfo(&sessionInfo{epoch: 1, clock: s.link.Lease()})
	return s
}

// TestNoPauseOutlivesTheSession: a session that is closed while the next is to begin later leaves no timer behind.
func TestNoPauseOutlivesTheSession(t *testing.T) {
	s := idleSession(t)
	pause := time.AfterFunc(time.Hour, func() {})
	s.lapse.timer = pause
	s.end(ErrSessionClosed)
	require.False(t, pause.Stop(), "it was stopped")
}

// TestPromisesOutliveALeaseClock: the clock ends at once where a server hands out another session in place of ours, and
// what a gateway has promised does not.
func TestPromisesOutliveALeaseClock(t *testing.T) {
	s := idleSession(t)
	s.info.clock.Extend(time.Now().Add(time.Hour))
	require.True(t, s.mayBePromised())
	s.info.clock.End()
	require.True(t, s.mayBePromised(), "no server has said that the session is over")
	s.lapse.lapses(true)
	require.False(t, s.mayBePromised(), "the lease had run out before the clock ended")
	s.lapse.stop()
	require.NoError(t, s.link.Close())
	require.False(t, s.mayBePromised(), "it is over")
}

// TestQuickAnswersEndAPause: servers that are quick for half a session timeout, without one answer that is not, are.
func TestQuickAnswersEndAPause(t *testing.T) {
	const timeout, quick, slow = 12 * time.Second, 500 * time.Millisecond, 501 * time.Millisecond
	at := time.Now()
	var l lapse
	require.False(t, l.answered(at, quick, timeout), "nothing waits")
	l.lapses(true)
	l.timer = time.AfterFunc(time.Hour, func() {})
	defer l.endPause()
	require.False(t, l.answered(at, quick, timeout))
	require.False(t, l.answered(at.Add(6*time.Second-1), quick, timeout))
	require.False(t, l.answered(at.Add(6*time.Second), slow, timeout))
	require.False(t, l.answered(at.Add(7*time.Second), quick, timeout))
	require.False(t, l.answered(at.Add(12*time.Second), quick, timeout))
	require.True(t, l.answered(at.Add(13*time.Second), quick, timeout))
	l.endPause()
	require.False(t, l.answered(at.Add(14*time.Second), quick, timeout), "nothing waits any more")
}
