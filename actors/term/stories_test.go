package term_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/turnstile-locks/turnstile/actors/term"
	"github.com/turnstile-locks/turnstile/messages"
)

// The files in testdata are stories, one event a stanza (go test -rewrite):
//
//	new POLICY [failures=N] [within=D]
//	                               begins one; of a singleton with 3 failures in a minute where nothing is said
//	KIND [at=D] [valid] [fails[=REASON]] [outcome=OUTCOME]
//	                               an event; another term may follow where it does not say that it fails. The longest
//	                               pause is 10 s
//
// Below each is the change of phase, the outcome of the term, what follows where that is not to campaign again, and what
// is to be done.
func TestStories(t *testing.T) {
	told, asked := map[term.Kind]bool{}, map[term.Effect]bool{}
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var m term.Machine
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "new" {
				m = begun(t, d)
				return ""
			}
			ev := eventIn(t, d)
			told[ev.Kind] = true
			before := m
			effects := m.Step(ev)
			for _, effect := range effects {
				asked[effect] = true
			}
			return written(before, &m, effects)
		})
	})
	for kind := term.Begin; kind <= term.Stop; kind++ {
		if !told[kind] {
			t.Errorf("no story tells of %v", kind)
		}
	}
	for effect := term.Campaign; effect <= term.Finish; effect++ {
		if !asked[effect] {
			t.Errorf("no story has %v done", effect)
		}
	}
}

func begun(t *testing.T, d *datadriven.TestData) term.Machine {
	policy, is := policies[d.CmdArgs[0].Key]
	if !is {
		d.Fatalf(t, "unknown policy %q", d.CmdArgs[0].Key)
	}
	d.MaybeScanArgs(t, "failures", &policy.Failures)
	if d.HasArg("within") {
		policy.Within = span(t, d, "within")
	}
	return term.Machine{Policy: policy}
}

func eventIn(t *testing.T, d *datadriven.TestData) term.Event {
	ev := term.Event{Valid: d.HasArg("valid"), Passes: !d.HasArg("fails"), At: span(t, d, "at"), Longest: 10 * time.Second}
	for _, arg := range d.CmdArgs {
		if arg.Key == "fails" && len(arg.Vals) > 0 {
			ev.Reason = messages.Reason(arg.Vals[0])
		}
	}
	if d.HasArg("outcome") {
		var name string
		d.ScanArgs(t, "outcome", &name)
		ev.Outcome = named(t, d, name, term.None, term.LeaseLost)
	}
	ev.Kind = named(t, d, d.Cmd, term.Begin, term.Stop)
	return ev
}

// named finds the one that is written so.
func named[T interface {
	~uint8
	fmt.Stringer
}](t *testing.T, d *datadriven.TestData, name string, first, last T) T {
	for one := first; one <= last; one++ {
		if one.String() == name {
			return one
		}
	}
	d.Fatalf(t, "unknown: %q", name)
	return last
}

// span reads a duration argument; zero where it is not there.
func span(t *testing.T, d *datadriven.TestData, key string) time.Duration {
	var text string
	if !d.HasArg(key) {
		return 0
	}
	d.ScanArgs(t, key, &text)
	span, err := time.ParseDuration(text)
	if err != nil {
		d.Fatalf(t, "%s: %v", key, err)
	}
	return span
}

var thens = map[term.Then]string{term.StayOut: ", then it stays out", term.End: ", then it ends"}

func written(before term.Machine, m *term.Machine, effects []term.Effect) string {
	var b strings.Builder
	if m.Phase == before.Phase && len(effects) == 0 {
		fmt.Fprint(&b, m.Phase)
	} else {
		fmt.Fprintf(&b, "%v → %v", before.Phase, m.Phase)
	}
	if m.Outcome != before.Outcome && m.Outcome != term.None {
		fmt.Fprintf(&b, ", %v", m.Outcome)
	}
	if !m.One || m.Then != term.End { // one term ends in any case
		fmt.Fprint(&b, thens[m.Then])
	}
	if m.Reason != "" {
		fmt.Fprintf(&b, " (%s)", m.Reason)
	}
	fmt.Fprintln(&b)
	for _, effect := range effects {
		if fmt.Fprint(&b, effect); effect == term.Pause {
			fmt.Fprint(&b, " ", m.Pauses)
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}
