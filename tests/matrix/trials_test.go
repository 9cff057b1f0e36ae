package matrix

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestLostBeforeAnybodyElse: the holder's connection is cut and stays away until the servers have let the next
// in, 200 times. Its lease was over before that. The lease's own deadline counts, by which Valid goes and
// every notice is sent: how soon a process that has no processor gets to send one is not in its hands, and is
// reported.
func TestLostBeforeAnybodyElse(t *testing.T) {
	const workers, each = 20, 10
	server := embedded.Run(t, embedded.WithTick(20*time.Millisecond))
	trials(t, server.Addr(), workers, each, 400*time.Millisecond)
}

// TestRealLostBeforeAnybodyElse is the same, a few times.
func TestRealLostBeforeAnybodyElse(t *testing.T) {
	rig.Require(t)
	t.Parallel()
	server := rig.StartStandalone(t, rig.WithTickTime(serverTick))
	trials(t, server.Addr(), 4, 3, time.Second)
}

// margins are the measurements.
type margins struct {
	sync.Mutex
	trials, toldLate      int
	least, leastTold, sum time.Duration
}

func trials(t *testing.T, addr string, workers, each int, timeout time.Duration) {
	var m margins
	var all sync.WaitGroup
	for worker := range workers {
		holder := &cuttable{proxy: rig.NewProxy(t, addr)}
		holder.client = openReal(t, holder.proxy.Addr(), locks.WithSessionTimeout(timeout))
		next := openReal(t, addr, locks.WithSessionTimeout(long))
		all.Go(func() {
			for range each {
				if err := holder.trial(t, next, fmt.Sprintf("/trial-%d", worker), &m); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	require.Equal(t, workers*each, m.trials)
	t.Logf("%d trials, sessions of %v: the lease was over %v before the next was let in at the least, %v on average; "+
		"Lost was told %v before at the least, %d times after", m.trials, timeout, m.least, m.sum/time.Duration(m.trials),
		m.leastTold, m.toldLate)
}

// cuttable is a client that can be cut off.
type cuttable struct {
	client *locks.Client
	proxy  *rig.Proxy
}

// trial has the client hold and another wait, and cuts the client off until the other holds.
func (c *cuttable) trial(t *testing.T, next *locks.Client, path string, m *margins) error {
	ctx := bounded(t)
	rec, nextRec := actorstest.NewRecorder(c.client.System()), actorstest.NewRecorder(next.System())
	defer rec.Close()
	defer nextRec.Close()
	lease, err := c.client.Mutex(path, locks.WithObserver(rec.PID())).Lock(ctx)
	if err != nil {
		return err
	}
	got := make(chan answer, 1)
	go func() {
		lease, err := next.Mutex(path, locks.WithObserver(nextRec.PID())).Lock(ctx)
		got <- answer{lease, err}
	}()
	for states := nextRec.States(); !slices.Contains(states, stWatching) && !slices.Contains(states, stHeld); states = nextRec.States() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		time.Sleep(time.Millisecond) // a holder without a processor may lose before it is cut off
	}
	c.proxy.Refuse(true)
	c.proxy.Cut()
	until := lease.Deadline()
	a := <-got
	if a.err != nil {
		return a.err
	}
	valid, over := lease.Valid(), lease.Deadline() // the time of its end; zero once the session is known to be over
	if over.IsZero() {
		over = until
	}
	c.proxy.Refuse(false)
	lost, err := rec.Await(ctx, messages.StateLost)
	if err != nil {
		return err
	}
	switch lost.Reason {
	case messages.ReasonLeaseOver:
	case messages.ReasonSessionExpired: // it had no processor when its lease ended
	default:
		return fmt.Errorf("%s: Lost, for %q: the lease was over before that, and nobody was told", path, lost.Reason)
	}
	if over.IsZero() || lost.At.Before(over) { // it ran out before it was cut off, and the session was heard of again, or has ended since
		over = lost.At
	}
	granted, err := nextRec.Await(ctx, messages.StateHeld)
	if err != nil {
		return err
	}
	if valid || !over.Before(granted.At) || a.lease.Token() <= lease.Token() {
		return fmt.Errorf("%s: the lease ran until %v, valid %v, and the next held at %v; tokens %v and %v",
			path, over, valid, granted.At, lease.Token(), a.lease.Token())
	}
	m.note(granted.At.Sub(over), granted.At.Sub(lost.At))
	return unlock(ctx, a.lease)
}

func (m *margins) note(over, told time.Duration) {
	m.Lock()
	defer m.Unlock()
	if m.trials == 0 {
		m.least, m.leastTold = over, told
	}
	m.trials++
	m.sum += over
	m.least, m.leastTold = min(m.least, over), min(m.leastTold, told)
	if told <= 0 {
		m.toldLate++
	}
}
