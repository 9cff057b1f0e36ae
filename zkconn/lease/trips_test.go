package lease

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// at is an Instant in thousandths of a session timeout of 24 s.
func at(thousandths float64) Instant { return Instant(thousandths * float64(24*time.Millisecond)) }

// short is a round trip that took a thousandth of the session timeout, and whose packet was the first after a while.
func short(sent float64) trip {
	return trip{touched: at(sent), sent: at(sent), answered: at(sent + 1)}
}

func TestEvidence(t *testing.T) {
	const session = 24 * time.Second // a quarter and a twenty-fourth: 292 thousandths
	long := trip{touched: at(-5000), sent: at(-5000), answered: at(-4999)}
	for name, c := range map[string]struct {
		opened trip
		tick   time.Duration
		trips  []trip
		sent   float64
		want   Instant
	}{
		"a new connection counts at once":     {opened: short(0), sent: 1, want: at(0)},
		"not what was sent before its answer": {opened: short(0), sent: 0.5, want: -1},
		"nothing but the connection":          {opened: long, sent: 0, want: at(-5000)},
		"one round trip before is not enough": {opened: long, trips: []trip{short(0)}, sent: 500, want: at(-5000)},
		"a ping lies between two that are half a tick and more apart": {
			opened: long, trips: []trip{short(0), short(293)}, sent: 336, want: at(0)},
		"not for certain between two that are closer": {
			opened: long, trips: []trip{short(0), short(292)}, sent: 336, want: at(-5000)},
		"the answer to the first counts, not its request": {
			opened: long, trips: []trip{{touched: at(0), sent: at(0), answered: at(100)}, short(293)}, sent: 336, want: at(-5000)},
		"a transaction right behind the second may come before the ping's answer": {
			opened: long, trips: []trip{short(0), short(293)}, sent: 335, want: at(-5000)},
		"then an earlier pair counts": {
			opened: long, trips: []trip{short(0), short(293), short(600)}, sent: 602, want: at(0)},
		"the touch is that of the packet before": {
			opened: long, trips: []trip{{touched: at(-50), sent: at(0), answered: at(1)}, short(293)}, sent: 400, want: at(-50)},
		"heartbeats every sixth": {
			opened: long, trips: []trip{short(0), short(167), short(333), short(500), short(667)}, sent: 833, want: at(333)},
		"an idle session's syncs": {
			opened: long, trips: []trip{short(0), short(333), short(667)}, sent: 720, want: at(333)},
		"a known tick of a twelfth": { // half of it and a twenty-fourth: a twelfth
			opened: long, tick: 2 * time.Second, trips: []trip{short(0), short(85)}, sent: 130, want: at(0)},
		"a connection made later than Y": {
			opened: short(100), trips: []trip{short(110), short(200)}, sent: 300, want: at(100)},
	} {
		t.Run(name, func(t *testing.T) {
			e := newTrips(session, c.tick, c.opened)
			for _, r := range c.trips {
				e.add(r)
			}
			since, known := e.since(at(c.sent))
			if c.want == -1 {
				require.False(t, known)
				return
			}
			require.True(t, known)
			require.Equal(t, c.want, since)
		})
	}
}

// TestSteadyLease: heartbeats every sixth of a session timeout give a lease of Steady.
func TestSteadyLease(t *testing.T) {
	const session = 24 * time.Second
	e := newTrips(session, 0, short(0))
	for i := range 20 {
		e.add(short(float64(i+1) * 1000 / 6))
	}
	sent := at(21 * 1000.0 / 6)
	since, _ := e.since(sent)
	require.InDelta(t, Steady, float64(since+Good(session)-sent)/float64(session), 0.001)
}

// A busy session's round trips are not all kept.
func TestEvidenceIsBounded(t *testing.T) {
	e := newTrips(24*time.Second, 0, short(0))
	for i := range 1_000_000 {
		e.add(short(float64(i) / 10))
	}
	require.LessOrEqual(t, cap(e.all), 256)
	since, known := e.since(at(100_000))
	require.True(t, known)
	require.InDelta(t, float64(at(100_000-333)), float64(since), float64(at(40)), "it is as good as if they were")
}
