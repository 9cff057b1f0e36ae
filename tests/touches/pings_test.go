package touches

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// The leader sends a ping every half tick, whatever else it sends. The test runs alone, so that
// others do not delay the pings.
func TestPingsGoEveryHalfTick(t *testing.T) {
	const tick = time.Second
	l := newLab(t, rig.WithTickTime(tick))
	times := make(chan time.Time, 1000)
	l.Link(l.leader, l.follower).Observe(func(p rig.Packet) {
		if p.Type == rig.PacketPing {
			times <- time.Now()
		}
	})
	var gaps []time.Duration
	ping := func() time.Time { return scene.Receive(t, times) }
	for last := ping(); len(gaps) < 12; {
		next := ping()
		gaps, last = append(gaps, next.Sub(last)), next
	}
	slices.Sort(gaps)
	t.Logf("gaps between pings, with a tick of %v: %v", tick, gaps)
	// Some come late on a machine under load. Most do not.
	median := gaps[len(gaps)/2]
	require.GreaterOrEqual(t, median, tick/2-tick/20)
	require.Less(t, median, tick/2+tick/4)
}

// event is a packet on the connection of a follower, and its way.
type event struct {
	up bool
	rig.Packet
}

// record notes all packets of a link, both ways, in one order: what was sent down
// before it was read, what was sent up after it was written.
type record struct {
	mu     sync.Mutex
	events []event
}

func (r *record) note(up bool) func(rig.Packet) {
	return func(p rig.Packet) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, event{up, p})
	}
}

// Let Y and A be two transactions with a ping of the leader between their answers,
// and B one that is sent after A's answer. The follower answers the ping before it
// forwards B, and has named the session by then. The link is slow each way, so that
// there is time for another order.
func TestPingIsAnsweredBeforeRequests(t *testing.T) {
	t.Parallel()
	l := newLab(t, rig.WithTickTime(200*time.Millisecond))
	c := l.connect(10*time.Second, l.follower.Addr())
	var seen record
	down, up := l.Link(l.leader, l.follower), l.Link(l.follower, l.leader)
	down.Observe(seen.note(false))
	up.Observe(seen.note(true))
	down.Delay(30 * time.Millisecond)
	up.Delay(30 * time.Millisecond)
	l.create(c.Conn, "/trips", 0)
	commit := func(name string, i int) int64 {
		path := fmt.Sprintf("/trips/%s-%d", name, i)
		l.create(c.Conn, path, 0)
		found, stat, err := l.observer.Exists(path)
		require.NoError(t, err)
		require.True(t, found) // the leader has committed what a follower has
		return stat.Czxid
	}
	for i := range 20 {
		seen.clear()
		y := commit("y", i)
		l.eventually("a ping comes", func() bool { return seen.pinged(y) })
		a := commit("a", i)
		b := commit("b", i)
		checkOrder(t, seen.all(), c.SessionID(), y, a, b)
	}
}

// clear forgets what has passed.
func (r *record) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = nil
}

func (r *record) all() []event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// pinged reports whether a ping has come down behind the commit of a transaction.
func (r *record) pinged(zxid int64) bool {
	all := r.all()
	commit := slices.IndexFunc(all, func(e event) bool { return !e.up && e.Type == rig.PacketCommit && e.Zxid == zxid })
	return commit >= 0 && slices.ContainsFunc(all[commit:], func(e event) bool {
		return !e.up && e.Type == rig.PacketPing
	})
}

// checkOrder looks at one Y, A and B, by the zxids of their transactions.
func checkOrder(t *testing.T, events []event, session, y, a, b int64) {
	t.Helper()
	commit := func(zxid int64) int {
		at := slices.IndexFunc(events, func(e event) bool {
			return !e.up && e.Type == rig.PacketCommit && e.Zxid == zxid
		})
		require.GreaterOrEqual(t, at, 0, "no commit of %x among %d packets", zxid, len(events))
		return at
	}
	answeredY, answeredA := commit(y), commit(a)
	require.Less(t, answeredY, answeredA)
	require.Less(t, answeredA, commit(b))
	// The first request of the session behind A's answer is B.
	forwarded := slices.IndexFunc(events[answeredA:], func(e event) bool {
		return e.up && e.Type == rig.PacketRequest && e.Session() == session
	})
	require.GreaterOrEqual(t, forwarded, 0)
	forwarded += answeredA
	// A ping carries the newest proposal, and its answer the same. So those since Y
	// are told from older ones, whose answers may be on their way.
	pings := func(events []event, up bool) (n int) {
		for _, e := range events {
			if e.up == up && e.Type == rig.PacketPing && e.Zxid >= y {
				n++
			}
		}
		return n
	}
	require.NotZero(t, pings(events[answeredY:answeredA], false))
	require.GreaterOrEqual(t, pings(events[:forwarded], true), pings(events[:answeredA], false),
		"a request was forwarded before a ping was answered")
	named := slices.ContainsFunc(events[:forwarded], func(e event) bool {
		_, found := e.Sessions()[session]
		return e.up && e.Type == rig.PacketPing && found
	})
	require.True(t, named, "no answer names the session")
}
