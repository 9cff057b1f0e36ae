package singleton_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/singleton"
)

// world is a singleton with what is around it: its lock actor, its child, and its pause.
type world struct {
	m       singleton.Machine
	lock    bool // a lock actor lives
	granted bool // it has told Held
	ours    bool // the lock is ours at the servers, for all that is known
	child   bool // runs
	stopped bool // the child was told to stop, in this incarnation
	paused  bool // PauseOver will come
	ended   bool // the actor stops
	wrong   string
}

// key tells worlds apart.
func (w *world) key() string {
	return fmt.Sprint(w.m.Phase, w.m.Then, len(w.m.Failed), w.lock, w.granted, w.ours, w.child, w.stopped, w.paused,
		w.ended)
}

// possible lists what may happen next.
func (w *world) possible() (all []singleton.Event) {
	may := func(is bool, events ...singleton.Event) {
		if is {
			all = append(all, events...)
		}
	}
	may(w.paused, singleton.Event{Kind: singleton.PauseOver})
	may(w.lock && !w.granted, singleton.Event{Kind: singleton.Held, Valid: true}, singleton.Event{Kind: singleton.Held})
	may(w.lock && w.granted, singleton.Event{Kind: singleton.Asked}, singleton.Event{Kind: singleton.Gone})
	may(w.lock, singleton.Event{Kind: singleton.LockEnded, Passes: true}, singleton.Event{Kind: singleton.LockEnded})
	may(w.child, singleton.Event{Kind: singleton.ChildRestarted}, singleton.Event{Kind: singleton.ChildEnded})
	may(w.child && w.ours, singleton.Event{Kind: singleton.ChildEnded, Valid: true})
	may(true, singleton.Event{Kind: singleton.Close}, singleton.Event{Kind: singleton.Stop})
	return all
}

// happen lets one thing happen, and carries out what follows.
func (w world) happen(ev singleton.Event) *world {
	w.m.Failed = slices.Clone(w.m.Failed)
	switch ev.Kind {
	case singleton.PauseOver:
		w.paused = false
	case singleton.Held:
		w.granted, w.ours = true, ev.Valid
	case singleton.Gone:
		w.ours = false
	case singleton.LockEnded:
		w.lock, w.ours = false, false
	case singleton.ChildRestarted:
		w.stopped = false // as after a panic in Stopping
	case singleton.ChildEnded:
		w.child = false
		w.ours = w.ours && ev.Valid // the lease may be over before anybody has told
	case singleton.Stop:
		w.stopped = true // by the actor system
	}
	for _, effect := range w.m.Step(ev) {
		w.carryOut(effect)
	}
	w.check()
	return &w
}

func (w *world) must(is bool, what string) {
	if !is && w.wrong == "" {
		w.wrong = what
	}
}

func (w *world) carryOut(effect singleton.Effect) {
	switch effect {
	case singleton.Campaign:
		w.must(!w.child && !w.ours, "it campaigns while it holds, or its child runs")
		w.lock, w.granted, w.ours = true, false, false
	case singleton.SpawnChild:
		w.must(!w.child, "two children")
		w.must(w.ours, "a child without a lock")
		w.child, w.stopped = true, false
	case singleton.StopChild:
		w.stopped = true
	case singleton.Release:
		w.must(!w.child, "the lock is given back under the child")
		w.ours = false
	case singleton.Pause, singleton.LongPause:
		w.must(!w.paused, "two pauses")
		w.paused = true
	case singleton.Finish:
		w.must(!w.child && !w.ours, "it ends while it holds, or its child runs")
		w.ended = true
	}
}

// check: it never stands still.
func (w *world) check() {
	switch w.m.Phase {
	case singleton.Paused:
		w.must(w.paused, "a pause without an end")
	case singleton.Campaigning, singleton.Releasing:
		w.must(w.lock, "it waits for a lock actor that does not live")
	case singleton.Active:
		w.must(w.child, "no child")
	case singleton.Stopping, singleton.Lost:
		w.must(w.child && w.stopped, "it waits for a child that was not stopped")
	case singleton.Ended:
		w.must(w.ended, "it has ended, and its actor has not")
	}
}

// TestEveryOrder lets everything happen in every order, and checks what the package doc promises.
func TestEveryOrder(t *testing.T) {
	first := &world{m: singleton.Machine{Failures: 3, Within: time.Minute}}
	first = first.happen(singleton.Event{Kind: singleton.Begin})
	seen := map[string]bool{first.key(): true}
	type path struct {
		w    *world
		came []string
	}
	queue, phases := []path{{first, nil}}, map[singleton.Phase]bool{}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		phases[at.w.m.Phase] = true
		for _, ev := range at.w.possible() {
			next := at.w.happen(ev)
			came := append(slices.Clone(at.came), ev.Kind.String())
			if next.wrong != "" {
				t.Fatalf("%s: %s", strings.Join(came, ", "), next.wrong)
			}
			if !seen[next.key()] {
				seen[next.key()] = true
				queue = append(queue, path{next, came})
			}
		}
	}
	if len(phases) != int(singleton.Ended)+1 {
		t.Errorf("phases that were reached: %v", phases)
	}
	t.Logf("%d states", len(seen))
}

// TestWindowSlides: failures that are older than the window do not count.
func TestWindowSlides(t *testing.T) {
	w := &world{m: singleton.Machine{Failures: 3, Within: time.Minute}}
	w = w.happen(singleton.Event{Kind: singleton.Begin}).happen(singleton.Event{Kind: singleton.Held, Valid: true})
	for at := time.Duration(0); at < time.Hour; at += 30 * time.Second { // two in each minute
		w = w.happen(singleton.Event{Kind: singleton.ChildRestarted, At: at})
		if w.m.Phase != singleton.Active {
			t.Fatalf("%v at %v", w.m.Phase, at)
		}
	}
}
