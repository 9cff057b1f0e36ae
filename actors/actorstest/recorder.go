package actorstest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/messages"
)

// Recorder records what a lock actor goes through: give its PID to actors.WithObserver. One
// recorder is for one lock actor. Its methods may be called from any goroutine.
type Recorder struct {
	system *actor.ActorSystem
	pid    *actor.PID

	mu          sync.Mutex
	transitions []messages.Transition
	notices     []any
	changed     chan struct{} // closed and replaced at every change
}

// NewRecorder spawns a recorder.
func NewRecorder(system *actor.ActorSystem) *Recorder {
	r := &Recorder{system: system, changed: make(chan struct{})}
	r.pid = system.Root.Spawn(actor.PropsFromFunc(r.receive))
	return r
}

// PID is the recorder's address.
func (r *Recorder) PID() *actor.PID { return r.pid }

// Close stops the recorder. Its record stays readable.
func (r *Recorder) Close() { r.system.Root.Stop(r.pid) }

func (r *Recorder) receive(ctx actor.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch msg := ctx.Message().(type) {
	case actor.SystemMessage, actor.AutoReceiveMessage:
		return
	case *messages.Transition:
		r.transitions = append(r.transitions, *msg)
	default:
		r.notices = append(r.notices, msg)
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// Transitions gives a copy of the transitions so far, in order, each with its time.
func (r *Recorder) Transitions() []messages.Transition {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.transitions)
}

// Notices gives the notices so far, in order: *messages.Held and so on.
func (r *Recorder) Notices() []any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.notices)
}

// States gives the states that the request has entered so far, in order.
func (r *Recorder) States() []messages.State {
	transitions := r.Transitions()
	states := make([]messages.State, len(transitions))
	for i, t := range transitions {
		states[i] = t.To
	}
	return states
}

// Await waits until the request enters the state for the first time, and gives that transition. It
// returns at once when the request has been there. The error wraps the error of ctx when the state
// does not come in time, or names the states when the request ends elsewhere. Give ctx a deadline:
// an actor that is stopped, and not released, may end without a last state.
func (r *Recorder) Await(ctx context.Context, state messages.State) (messages.Transition, error) {
	return r.AwaitNth(ctx, state, 1)
}

// AwaitNth is Await for the n-th time, from 1, that the request enters the state.
func (r *Recorder) AwaitNth(ctx context.Context, state messages.State, n int) (messages.Transition, error) {
	for {
		r.mu.Lock()
		transitions, changed := r.transitions, r.changed
		r.mu.Unlock()
		seen := 0
		for _, t := range transitions {
			if t.To == state {
				if seen++; seen == n {
					return t, nil
				}
			}
			if t.To.Terminal() {
				return messages.Transition{}, fmt.Errorf("awaiting %v: the request ended: %s", state, Story(r.States()))
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return messages.Transition{}, fmt.Errorf("awaiting %v after %s: %w", state, Story(r.States()), ctx.Err())
		}
	}
}

// Story writes states as a sequence: "creating → held → releasing".
func Story(states []messages.State) string {
	words := make([]string, len(states))
	for i, s := range states {
		words[i] = s.String()
	}
	return strings.Join(words, " → ")
}
