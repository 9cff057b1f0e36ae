package kinds

import (
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// tally counts what any number of requests go through, of one client or of several.
type tally struct {
	mu      sync.Mutex
	into    map[messages.State]int
	woken   int // how often a waiter was told that the queue is not what it was
	changed chan struct{}
}

func newTally() *tally {
	return &tally{into: map[messages.State]int{}, changed: make(chan struct{})}
}

// of observes the requests of a client.
func (y *tally) of(t *testing.T, client *locks.Client) locks.LockOption {
	t.Helper()
	pid := client.System().Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if tr, ok := ctx.Message().(*messages.Transition); ok {
			y.note(tr)
		}
	}))
	patient.Cleanup(t, func() { client.System().Root.Stop(pid) })
	return locks.WithObserver(pid)
}

func (y *tally) note(tr *messages.Transition) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.into[tr.To]++
	if tr.From == messages.StateWatching {
		switch tr.On {
		case "TurnCame", "PredecessorGone", "Changed":
			y.woken++
		}
	}
	close(y.changed)
	y.changed = make(chan struct{})
}

// await waits until that many requests have gone into a state, or one so many times.
func (y *tally) await(t *testing.T, state messages.State, n int) {
	t.Helper()
	late := time.After(patient.Bound)
	for {
		y.mu.Lock()
		got, changed := y.into[state], y.changed
		y.mu.Unlock()
		if got >= n {
			return
		}
		select {
		case <-changed:
		case <-late:
			require.Failf(t, "too few", "%d into %v, not %d", got, state, n)
		}
	}
}

func (y *tally) count(state messages.State) int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.into[state]
}

// wakes gives how often waiters were woken.
func (y *tally) wakes() int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.woken
}
