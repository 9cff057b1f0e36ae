package actors

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/messages"
)

// recorder is what these tests need of actorstest.Recorder. Package actorstest imports this package.
type recorder struct {
	pid     *actor.PID
	mu      sync.Mutex
	all     []messages.Transition
	changed chan struct{}
}

// spawnRecorded spawns a lock actor with a recorder.
func spawnRecorded(session *Session, want messages.Acquire) (lock *actor.PID, rec *recorder) {
	r := &recorder{changed: make(chan struct{})}
	r.pid = session.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if t, is := ctx.Message().(*messages.Transition); is {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.all = append(r.all, *t)
			close(r.changed)
			r.changed = make(chan struct{})
		}
	}))
	return session.system.Root.Spawn(NewLock(session, want, WithObserver(r.pid))), r
}

func (r *recorder) transitions() []messages.Transition {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

func (r *recorder) states() (all []messages.State) {
	for _, t := range r.transitions() {
		all = append(all, t.To)
	}
	return all
}

// await waits for the n-th time that the request enters a state.
func (r *recorder) await(ctx context.Context, state messages.State, n int) (messages.Transition, error) {
	for {
		r.mu.Lock()
		changed := r.changed
		r.mu.Unlock()
		seen := 0
		for _, t := range r.transitions() {
			if t.To == state {
				if seen++; seen == n {
					return t, nil
				}
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return messages.Transition{}, fmt.Errorf("awaiting %v after %v: %w", state, r.states(), ctx.Err())
		}
	}
}
