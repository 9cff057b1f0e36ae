package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// storyErrors are the errors of stories.
var storyErrors = map[string]error{
	"lost": ErrLost, "revoked": ErrRevoked, "closed": ErrClosed, "no-auth": ErrNoAuth,
	"again": ErrAgain, "own": errors.New("the work failed"), "cancelled": context.Canceled, "deadline": context.DeadlineExceeded,
}

// TestCandidacy runs the stories in testdata/candidacy, one end of a term a stanza (go test
// -rewrite):
//
//	new                       begins one
//	term [led] [lost] [took=D] [err=NAME] or [err=(NAME, NAME)] [ctx=NAME] [cause=NAME]
//	                          the longest pause is 10 s; took is 1 s where it is not said
//
// Below each input stand the sequel and the error of Run.
func TestCandidacy(t *testing.T) {
	seen := map[sequel]bool{}
	datadriven.Walk(t, "testdata/candidacy", func(t *testing.T, path string) {
		var c candidacy
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "new" {
				c = candidacy{}
				return ""
			}
			end := termEnd{led: d.HasArg("led"), lost: d.HasArg("lost"), took: time.Second, most: 10 * time.Second,
				err: errorIn(t, d, "err"), ctx: errorIn(t, d, "ctx")}
			end.gone = end.ctx
			if cause := errorIn(t, d, "cause"); cause != nil {
				end.gone = fmt.Errorf("%w: %w", end.ctx, cause)
			}
			if d.HasArg("took") {
				var text string
				d.ScanArgs(t, "took", &text)
				took, err := time.ParseDuration(text)
				if err != nil {
					d.Fatalf(t, "took: %v", err)
				}
				end.took = took
			}
			then, err := c.after(end)
			seen[then] = true
			if err != nil {
				return fmt.Sprintf("%s: %v\n", then, err)
			}
			return string(then) + "\n"
		})
	})
	for _, then := range []sequel{runEnds, atOnce, afterPause, afterFirstPause} {
		if !seen[then] {
			t.Errorf("no story has %q", then)
		}
	}
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
