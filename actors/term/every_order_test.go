package term_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstile-locks/turnstile/actors/term"
)

// hold is the state of the lock around a machine, as far as anybody knows it.
type hold uint8

const (
	nothing   hold = iota // no request
	waiting               // for the lock
	granted               // ours
	lapsed                // the lease is over, and it is not known whether the lock is gone
	gone                  // not ours any more; the request has not ended
	releasing             // being given back, or given up
)

// The promises of the package doc.
const (
	onlyWhileHeld   = "work begins and goes on only while the lock is held, and alone"
	backWithoutWork = "the lock is given back only when no work runs"
	campaignsAfter  = "a campaign begins only when no work runs and the lock before is known to be gone"
	alwaysGoesOn    = "something always follows"
	oneTerm         = "a policy of one term campaigns once"
)

// world is a machine with what is around it: its lock, its work, and its pause.
type world struct {
	m       term.Machine
	lock    hold
	work    bool   // there is some
	serving bool   // it was started under the lock
	told    bool   // it was told to stop or to drain, in this incarnation
	stop    bool   // the user was stopped from outside
	paused  bool   // PauseOver will come
	over    bool   // Finish was told
	wrong   string // the promise that was broken
}

// key tells worlds apart.
func (w *world) key() string {
	return fmt.Sprint(w.m.Phase, w.m.Then, w.m.Outcome, len(w.m.Failed), w.lock, w.work, w.serving, w.told, w.stop, w.paused, w.over)
}

// possible lists what may happen next.
func (w *world) possible() (all []term.Event) {
	may := func(is bool, events ...term.Event) {
		if is {
			all = append(all, events...)
		}
	}
	actor := slices.Contains(w.m.OnLoss, term.StopWork)
	asleep := w.m.Waits && !w.stop // it ends by being stopped
	may(w.paused, term.Event{Kind: term.PauseOver})
	may(w.lock == waiting, term.Event{Kind: term.Held, Valid: true}, term.Event{Kind: term.Held})
	may(w.lock == waiting && !w.m.Waits, term.Event{Kind: term.Declined})
	may(w.lock == waiting, term.Event{Kind: term.Lapse, Outcome: term.LeaseLost}) // it was granted, and that is over
	may(w.lock == granted || w.lock == lapsed, term.Event{Kind: term.Revoke})     // which may be told late
	may(w.lock == granted, term.Event{Kind: term.Gone, Outcome: term.Taken},
		term.Event{Kind: term.Lapse, Outcome: term.GivenBack})
	may(w.lock == lapsed, term.Event{Kind: term.Lapse, Outcome: term.Taken}, term.Event{Kind: term.Gone, Outcome: term.Taken})
	may(w.serving, term.Event{Kind: term.Lapse, Outcome: term.LeaseLost}) // by the clock, which looks at no event
	may(w.lock != nothing, term.Event{Kind: term.LockEnded, Passes: true}, term.Event{Kind: term.LockEnded},
		term.Event{Kind: term.LockEnded, Passes: true, Outcome: term.LeaseLost})
	may(w.work && actor, term.Event{Kind: term.WorkRestarted})
	may(w.work && !asleep, term.Event{Kind: term.WorkEnded, Passes: true}, term.Event{Kind: term.WorkEnded})
	may(w.work && !asleep && w.lock == granted, term.Event{Kind: term.WorkEnded, Passes: true, Valid: true},
		term.Event{Kind: term.WorkEnded, Valid: true})
	may(true, term.Event{Kind: term.Close}, term.Event{Kind: term.Stop})
	return all
}

// happen lets one thing happen, and carries out what follows.
func (w world) happen(ev term.Event) *world {
	w.m.Failed = slices.Clone(w.m.Failed)
	before := w.m.Phase
	switch ev.Kind {
	case term.PauseOver:
		w.paused = false
	case term.Held:
		w.lock = granted
		if !ev.Valid {
			w.lock = lapsed
		}
	case term.Declined:
		w.lock = granted
	case term.Lapse:
		if w.lock == waiting || w.lock == granted { // otherwise more is known already
			w.lock = lapsed
		}
	case term.Gone:
		w.lock = gone
	case term.LockEnded:
		w.lock = nothing
	case term.WorkRestarted:
		if w.m.Phase != term.Draining { // there it is in its mailbox still
			w.told = false // as after a panic in Stopping
		}
	case term.WorkEnded:
		w.work, w.serving = false, false
		if !ev.Valid && w.lock == granted { // the lease is over before anybody has told
			w.lock = lapsed
		}
	case term.Stop:
		w.stop, w.told = true, true // by the actor system
	}
	for _, effect := range w.m.Step(ev) {
		w.carryOut(effect)
	}
	w.must(!w.m.One || ev.Kind == term.Begin || w.m.Phase != term.Paused && (w.m.Phase != term.Campaigning || before == w.m.Phase), oneTerm)
	w.check()
	return &w
}

func (w *world) must(is bool, promise string) {
	if !is && w.wrong == "" {
		w.wrong = promise
	}
}

func (w *world) carryOut(effect term.Effect) {
	switch effect {
	case term.Campaign:
		w.must(!w.serving && (w.lock == nothing || w.lock == gone), campaignsAfter)
		w.lock = waiting
		w.work = w.m.Waits
	case term.StartWork:
		w.must(!w.serving && w.lock == granted, onlyWhileHeld)
		w.work, w.serving, w.told = true, true, w.stop && w.m.Waits
	case term.StopWork, term.DrainWork:
		w.told = true
	case term.Release:
		w.must(!w.work, backWithoutWork)
		w.must(w.lock != nothing, alwaysGoesOn)
		w.lock = releasing
	case term.NoPause, term.Pause, term.LongPause:
		w.must(!w.paused, alwaysGoesOn)
		w.paused = true
	case term.Finish:
		w.must(!w.work && w.lock != granted && w.lock != lapsed && w.lock != waiting, backWithoutWork)
		w.over = true
	}
}

// check: the invariants of the phases. It never stands still.
func (w *world) check() {
	function := !slices.Contains(w.m.OnLoss, term.StopWork)
	switch w.m.Phase {
	case term.Paused:
		w.must(w.paused, alwaysGoesOn)
		w.must(!w.work, campaignsAfter)
	case term.Campaigning, term.Releasing:
		w.must(w.lock != nothing, alwaysGoesOn)
		w.must(!w.serving, onlyWhileHeld)
	case term.Active:
		w.must(w.serving && w.lock == granted, onlyWhileHeld)
	case term.Draining:
		w.must(w.serving && w.lock == granted, onlyWhileHeld)
		w.must(w.told, alwaysGoesOn)
	case term.Stopping, term.Lapsed, term.Lost:
		w.must(w.work, onlyWhileHeld)
		w.must(w.told || function, alwaysGoesOn)
	case term.Ended:
		w.must(w.over, alwaysGoesOn)
	}
	w.must(!w.serving || w.told || function || w.lock == granted, onlyWhileHeld)
}

var policies = map[string]term.Policy{"once": term.Once, "leader": term.Leader, "singleton": failing(term.Singleton, 3),
	"activation": term.Activation}

func failing(p term.Policy, failures int) term.Policy {
	p.Failures, p.Within = failures, time.Minute
	return p
}

// TestEveryOrder lets everything happen in every order, for each policy, and fails where a promise is broken.
func TestEveryOrder(t *testing.T) {
	reached := map[term.Phase]bool{}
	for name, policy := range policies {
		first := &world{m: term.Machine{Policy: policy}}
		first = first.happen(term.Event{Kind: term.Begin})
		type path struct {
			w    *world
			came []string
		}
		queue, seen := []path{{first, nil}}, map[string]bool{first.key(): true}
		for len(queue) > 0 {
			at := queue[0]
			queue = queue[1:]
			reached[at.w.m.Phase] = true
			for _, ev := range at.w.possible() {
				next := at.w.happen(ev)
				came := append(slices.Clone(at.came), ev.Kind.String())
				if next.wrong != "" {
					t.Fatalf("%s: %s: not so after %s (%v)", name, next.wrong, strings.Join(came, ", "), next.m.Phase)
				}
				if !seen[next.key()] {
					seen[next.key()] = true
					queue = append(queue, path{next, came})
				}
			}
		}
		t.Logf("%s: %d states", name, len(seen))
	}
	if len(reached) != int(term.Ended)+1 {
		t.Errorf("phases that were reached: %v", reached)
	}
}

// TestWindowSlides: failures that are older than the window do not count.
func TestWindowSlides(t *testing.T) {
	w := &world{m: term.Machine{Policy: failing(term.Singleton, 3)}}
	w = w.happen(term.Event{Kind: term.Begin}).happen(term.Event{Kind: term.Held, Valid: true})
	for at := time.Duration(0); at < time.Hour; at += 30 * time.Second { // two in each minute
		w = w.happen(term.Event{Kind: term.WorkRestarted, At: at})
		if w.m.Phase != term.Active {
			t.Fatalf("%v at %v", w.m.Phase, at)
		}
	}
}

// TestStepsAreFree: a step allocates nothing, since a Do takes several.
func TestStepsAreFree(t *testing.T) {
	events := []term.Event{{Kind: term.Begin}, {Kind: term.Held, Valid: true}, {Kind: term.WorkEnded, Valid: true, Passes: true}}
	if n := testing.AllocsPerRun(100, func() {
		m := term.Machine{Policy: term.Once}
		for _, ev := range events {
			m.Step(ev)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
