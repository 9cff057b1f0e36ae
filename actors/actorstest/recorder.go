package actorstest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/messages"
)

// Recorder records what a lock actor goes through: give its PID to actors.WithObserver, or have it
// [Recorder.Observe] one that runs. One recorder is for one lock actor. Its methods may be called
// from any goroutine.
type Recorder struct {
	system *actor.ActorSystem
	pid    *actor.PID

	mu          sync.Mutex
	transitions []messages.Transition
	notices     []any
	gone        bool          // the lock actor to observe had ended
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

// Observe follows a lock actor that runs already: the record begins with a transition from
// messages.StateNone to its current state.
func (r *Recorder) Observe(lock *actor.PID) {
	r.system.Root.RequestWithCustomSender(lock, &messages.Observe{}, r.pid)
}

// Close stops the recorder. Its record stays readable.
func (r *Recorder) Close() { r.system.Root.Stop(r.pid) }

func (r *Recorder) receive(ctx actor.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch msg := ctx.Message().(type) {
	case *actor.DeadLetterResponse:
		r.gone = true
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
// returns at once when the request has been there. Where the request ends elsewhere, the error names
// the states that it went through. Otherwise it waits until ctx ends, or for a minute where ctx has no
// deadline, and the error wraps that of ctx.
func (r *Recorder) Await(ctx context.Context, state messages.State) (messages.Transition, error) {
	return r.AwaitNth(ctx, state, 1)
}

// AwaitNth is Await for the n-th time, from 1, that the request enters the state.
func (r *Recorder) AwaitNth(ctx context.Context, state messages.State, n int) (messages.Transition, error) {
	looked, seen := 0, 0
	return await(ctx, r, state.String(), func() (got messages.Transition, found, ended bool) {
		for ; looked < len(r.transitions); looked++ {
			got = r.transitions[looked]
			if got.To == state {
				seen++
			}
			if got.To == state && seen == n {
				return got, true, true
			}
			ended = ended || got.To.Terminal()
		}
		return got, false, ended
	})
}

// AwaitNotice waits for the first notice of a type that fits all conditions, and gives it. It returns
// at once when that has come, and gives up as [Recorder.Await] does. The error says what came instead.
// Each condition is called once for each notice of the type, in order.
//
//	held, err := actorstest.AwaitNotice[*messages.Held](ctx, recorder)
//	lost, err := actorstest.AwaitNotice(ctx, recorder, func(l *messages.Lost) bool { return l.Reason.MayPass() })
func AwaitNotice[Notice any](ctx context.Context, r *Recorder, fits ...func(Notice) bool) (Notice, error) {
	looked := 0
	return await(ctx, r, nameOf(*new(Notice)), func() (got Notice, found, ended bool) {
		for ; looked < len(r.notices); looked++ {
			notice, is := r.notices[looked].(Notice)
			if is && !slices.ContainsFunc(fits, func(fit func(Notice) bool) bool { return !fit(notice) }) {
				return notice, true, true
			}
			to, _ := messages.EndOf(r.notices[looked])
			ended = ended || to.Terminal()
		}
		return got, false, ended
	})
}

// patience bounds a wait whose ctx has no deadline. It only says how soon a test fails.
const patience = time.Minute

func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, bounded := ctx.Deadline(); bounded {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, patience)
}

// await looks at a record at every change until what is wanted is found, or will not come. look is
// called with r.mu locked.
func await[T any](ctx context.Context, r *Recorder, want string, look func() (got T, found, ended bool)) (none T, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	for {
		r.mu.Lock()
		got, found, ended := look()
		ended, came, changed := ended || r.stopped(), r.instead(want), r.changed
		r.mu.Unlock()
		switch {
		case found:
			return got, nil
		case ended:
			return none, fmt.Errorf("awaiting %s: the request ended: %s", want, came)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return none, fmt.Errorf("awaiting %s after %s: %w", want, came, ctx.Err())
		}
	}
}

// stopped reports whether the lock actor has ended without a last state: nothing more comes.
func (r *Recorder) stopped() bool {
	return r.gone || len(r.transitions) > 0 && r.transitions[len(r.transitions)-1].On == "Stopped"
}

// instead says what has come: the states, then the notices, those of the type that is wanted in full.
func (r *Recorder) instead(want string) string {
	states := make([]messages.State, len(r.transitions))
	for i, t := range r.transitions {
		states[i] = t.To
	}
	var told []string
	for _, notice := range r.notices {
		text := nameOf(notice)
		if _, reason := messages.EndOf(notice); reason != messages.ReasonNone {
			text += fmt.Sprintf(" (%s)", reason)
		}
		if nameOf(notice) == want {
			text = strings.Replace(fmt.Sprintf("%+v", notice), "&", want, 1)
		}
		told = append(told, text)
	}
	switch {
	case len(told) > 0:
		return Story(states) + ", told " + strings.Join(told, ", ")
	case len(states) > 0:
		return Story(states)
	case r.gone:
		return "before it was observed"
	}
	return "nothing"
}

// nameOf names a notice by its type, such as "Held".
func nameOf(notice any) string { return strings.TrimPrefix(fmt.Sprintf("%T", notice), "*messages.") }

// Story writes states as a sequence: "creating → held → releasing".
func Story(states []messages.State) string {
	words := make([]string, len(states))
	for i, s := range states {
		words[i] = s.String()
	}
	return strings.Join(words, " → ")
}
