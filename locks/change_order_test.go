package locks

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/told"
)

// TestLossIsToldLast: the loss is the last change, also where it comes while another change is about
// to be told, as with the timer of WithMaxHold.
func TestLossIsToldLast(t *testing.T) {
	heard := make(chan ChangeKind, 10)
	for range 100 {
		l := &Lease{from: &lock{client: &Client{changes: newChanges(nil)}, lockSettings: lockSettings{onChange: func(c Change) {
			heard <- c.Kind
		}}}}
		var both sync.WaitGroup
		both.Go(func() { l.changed(Suspended, time.Time{}) })
		both.Go(func() { l.end(ErrMaxHold) })
		both.Wait()
		l.changed(Resumed, time.Time{})
		l.from.client.changes.Tell(func() { heard <- "end" })
		first := <-heard
		if first == Suspended {
			first = <-heard
		}
		require.Equal(t, Lost, first)
		require.Equal(t, ChangeKind("end"), <-heard)
	}
}

// TestWaitingHasABound: a function that takes long does not keep all that it is not told yet of waits. Losses have no bound.
func TestWaitingHasABound(t *testing.T) {
	stuck := make(chan struct{})
	client := &Client{changes: newChanges(nil)}
	l := &Lease{from: &lock{client: client, lockSettings: lockSettings{onChange: func(Change) { <-stuck }}}}
	w := &waiter{call: (*call)(l)}
	for n := range told.Most + 9 {
		w.Behind(messages.Contender{Sequence: int32(n + 1)})
	}
	require.Positive(t, client.changes.Untold())
	dropped := client.changes.Untold()
	l.mu.Lock()
	l.tell(Change{Kind: Lost, Lease: l})
	l.mu.Unlock()
	require.Equal(t, dropped, client.changes.Untold())
	close(stuck)
	require.True(t, client.changes.Wait(t.Context()))
}
