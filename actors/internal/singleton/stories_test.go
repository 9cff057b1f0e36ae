package singleton_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/turnstile-locks/turnstile/actors/internal/singleton"
	"github.com/turnstile-locks/turnstile/messages"
)

// The files in testdata are stories, one event a stanza (go test -rewrite):
//
//	new [failures=N] [within=D]    begins one: 3 in a minute where nothing is said
//	KIND [at=D] [valid] [fails=REASON]
//	                               an event; a lock that has ended passes where it does not say that it fails
//
// Below each is the change of phase, what follows where that is not to campaign again, and what is to be done.
func TestStories(t *testing.T) {
	told := map[singleton.Kind]bool{}
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var m singleton.Machine
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "new" {
				m = singleton.Machine{Failures: 3, Within: time.Minute}
				d.MaybeScanArgs(t, "failures", &m.Failures)
				if d.HasArg("within") {
					m.Within = span(t, d, "within")
				}
				return ""
			}
			ev := eventIn(t, d)
			told[ev.Kind] = true
			before := m.Phase
			return written(before, &m, m.Step(ev))
		})
	})
	for _, kind := range singleton.Kinds() {
		if !told[kind] {
			t.Errorf("no story tells of %v", kind)
		}
	}
}

func eventIn(t *testing.T, d *datadriven.TestData) singleton.Event {
	ev := singleton.Event{Valid: d.HasArg("valid"), Passes: !d.HasArg("fails"), At: span(t, d, "at")}
	if d.HasArg("fails") {
		var reason string
		d.ScanArgs(t, "fails", &reason)
		ev.Reason = messages.Reason(reason)
	}
	for _, kind := range singleton.Kinds() {
		if kind.String() == d.Cmd {
			ev.Kind = kind
			return ev
		}
	}
	d.Fatalf(t, "unknown event %q", d.Cmd)
	return ev
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

var thens = map[singleton.Then]string{singleton.StayOut: ", then it stays out", singleton.End: ", then it ends"}

func written(before singleton.Phase, m *singleton.Machine, effects []singleton.Effect) string {
	var b strings.Builder
	if m.Phase == before && len(effects) == 0 {
		fmt.Fprint(&b, before)
	} else {
		fmt.Fprintf(&b, "%v → %v", before, m.Phase)
	}
	fmt.Fprint(&b, thens[m.Then])
	if m.Reason != "" {
		fmt.Fprintf(&b, " (%s)", m.Reason)
	}
	fmt.Fprintln(&b)
	for _, effect := range effects {
		fmt.Fprintln(&b, effect)
	}
	return b.String()
}
