package conformance

import (
	"fmt"
	"strings"
)

// transcript is everything that a server answered to a sequence.
type transcript []step

// step is the outcome of one operation.
type step struct {
	operation string
	entries   []entry
}

// entry is one thing that happened to one session: a reply, an event, the end
// of its connection. The values have been masked already.
type entry struct {
	session int
	what    string
	fields  []shown
}

type shown struct{ name, value string }

func (e entry) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "s%d %s", e.session, e.what)
	for _, f := range e.fields {
		fmt.Fprintf(&b, " %s=%s", f.name, f.value)
	}
	return b.String()
}

func (s step) String() string {
	var b strings.Builder
	fmt.Fprintln(&b, s.operation)
	for _, e := range s.entries {
		fmt.Fprintf(&b, "  %s\n", e)
	}
	return b.String()
}

// difference is the first place where two transcripts differ.
type difference struct {
	step          int
	first, second string // what the reference answered to the operation, and the subject
}

func (d *difference) String() string {
	return fmt.Sprintf("operation %d\nthe reference:\n%s\nthe subject:\n%s", d.step, d.first, d.second)
}

// compare finds the first difference, or returns nil.
func compare(reference, subject transcript) *difference {
	for i := range min(len(reference), len(subject)) {
		if a, b := reference[i].String(), subject[i].String(); a != b {
			return &difference{i, a, b}
		}
	}
	return nil // every operation is a step of both
}

func (t transcript) String() string {
	var b strings.Builder
	for _, s := range t {
		b.WriteString(s.String())
	}
	return b.String()
}
