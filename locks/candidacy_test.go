package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/term"
)

// storyErrors are the errors of stories.
var storyErrors = map[string]error{
	"lost": ErrLost, "revoked": ErrRevoked, "closed": ErrClosed, "no-auth": ErrNoAuth,
	"again": ErrAgain, "own": errors.New("the work failed"), "cancelled": context.Canceled, "deadline": context.DeadlineExceeded,
}

// TestCandidacy runs the stories in testdata/candidacy through the machine, one campaign with its term a stanza (go test
// -rewrite):
//
//	new                       begins one
//	term [led] [lost] [took=D] [err=NAME] or [err=(NAME, NAME)] [ctx=NAME] [cause=NAME]
//	                          the longest pause is 10 s; took is 1 s where it is not said
//
// Below each input stand what follows and the error of Run.
func TestCandidacy(t *testing.T) {
	seen := map[term.Effect]bool{}
	datadriven.Walk(t, "testdata/candidacy", func(t *testing.T, path string) {
		var run story
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "new" {
				run = story{m: term.Machine{Policy: term.Leader}}
				return ""
			}
			took := time.Second
			if d.HasArg("took") {
				var text string
				d.ScanArgs(t, "took", &text)
				var err error
				if took, err = time.ParseDuration(text); err != nil {
					d.Fatalf(t, "took: %v", err)
				}
			}
			run.ended = errorIn(t, d, "ctx")
			run.gone = run.ended
			if cause := errorIn(t, d, "cause"); cause != nil {
				run.gone = fmt.Errorf("%w: %w", run.ended, cause)
			}
			effect := run.term(d.HasArg("led"), d.HasArg("lost"), took, errorIn(t, d, "err"))
			seen[effect] = true
			text := map[term.Effect]string{term.Finish: "Run ends", term.NoPause: "again at once",
				term.Pause: fmt.Sprint("again after pause ", run.m.Pauses)}[effect]
			if effect != term.Finish {
				run.goesOn()
			} else if err := run.result(); err != nil {
				text += ": " + err.Error()
			}
			return text + "\n"
		})
	})
	require.Len(t, seen, 3, "the stories have the end and each pause")
}

// story is a Run without a lock: the machine, and the errors.
type story struct {
	candidacy
	m   term.Machine
	now time.Duration
}

// term has one campaign happen, with its term if there was one, and gives the last effect. Behind an end the story goes on
// as if that had not been.
func (s *story) term(led, lost bool, took time.Duration, err error) term.Effect {
	if s.m.Phase == term.Ended {
		s.m = term.Machine{Policy: term.Leader}
	}
	step := func(ev term.Event) (last term.Effect) {
		ev.At, ev.Longest = s.now, 10*time.Second
		for _, last = range s.m.Step(ev) {
		}
		return last
	}
	step(term.Event{Kind: term.PauseOver})
	s.now += took
	s.err = err
	if !led {
		return step(term.Event{Kind: term.LockEnded, Passes: s.gone == nil && s.passes()})
	}
	s.begins()
	step(term.Event{Kind: term.Held, Valid: true})
	if lost {
		step(term.Event{Kind: term.Lapse, Outcome: term.LeaseLost})
	}
	if s.gone != nil {
		step(term.Event{Kind: term.Stop})
	}
	if last := step(term.Event{Kind: term.WorkEnded, Valid: !lost, Passes: s.passes()}); last == term.Finish {
		return last
	}
	return step(term.Event{Kind: term.LockEnded, Passes: s.passes()})
}

// errorIn gives the error of an argument, or several that are joined; nil without an argument.
func errorIn(t *testing.T, d *datadriven.TestData, key string) error {
	var all []error
	for _, arg := range d.CmdArgs {
		if arg.Key != key {
			continue
		}
		for _, name := range arg.Vals {
			if storyErrors[name] == nil {
				d.Fatalf(t, "unknown error %q", name)
			}
			all = append(all, storyErrors[name])
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return errors.Join(slices.Clone(all)...)
}

// TestCandidacyTellsALossOnce: where the loss says already what ended Run.
func TestCandidacyTellsALossOnce(t *testing.T) {
	loss := fmt.Errorf("%w: %w", ErrLost, context.Canceled)
	c := candidacy{loss: loss, ended: context.Canceled, gone: context.Canceled}
	require.Equal(t, loss, c.result())
}
