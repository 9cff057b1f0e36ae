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

// difference is the first place where two transcripts differ.
type difference struct {
	step      int
	operation string
	entry     int
	field     string // empty when there is more to it than one field
	first     step   // what the reference answered to the operation
	second    step
}

func (d *difference) String() string {
	where := ""
	if d.field != "" {
		where = " in " + d.field
	}
	return fmt.Sprintf("operation %d%s: %s\n  the reference answered\n%s  the subject answered\n%s",
		d.step, where, d.operation, d.marked(d.first), d.marked(d.second))
}

// marked lists what came of the operation, with a mark where the difference is.
func (d *difference) marked(s step) string {
	var b strings.Builder
	if s.operation != d.operation {
		return fmt.Sprintf("  > %s\n", s.operation)
	}
	for i := range max(len(s.entries), d.entry+1) {
		mark := ' '
		if i == d.entry {
			mark = '>'
		}
		fmt.Fprintf(&b, "  %c %s\n", mark, entryAt(s, i))
	}
	return b.String()
}

const nothing = "(nothing)"

// compare finds the first difference, or returns nil.
func compare(reference, subject transcript) *difference {
	for i := range max(len(reference), len(subject)) {
		a, b := stepAt(reference, i), stepAt(subject, i)
		d := &difference{step: i, operation: a.operation, first: a, second: b}
		if a.operation != b.operation {
			return d
		}
		for j := range max(len(a.entries), len(b.entries)) {
			if entryAt(a, j) != entryAt(b, j) {
				d.entry = j
				if j < len(a.entries) && j < len(b.entries) {
					d.field = differentField(a.entries[j], b.entries[j])
				}
				return d
			}
		}
	}
	return nil
}

func stepAt(t transcript, i int) step {
	if i < len(t) {
		return t[i]
	}
	return step{operation: nothing}
}

func entryAt(s step, i int) string {
	if i < len(s.entries) {
		return s.entries[i].String()
	}
	return nothing
}

func differentField(a, b entry) string {
	if a.session != b.session || a.what != b.what || len(a.fields) != len(b.fields) {
		return ""
	}
	for i, f := range a.fields {
		if f != b.fields[i] {
			return f.name
		}
	}
	return ""
}

func (t transcript) String() string {
	var b strings.Builder
	for _, s := range t {
		fmt.Fprintln(&b, s.operation)
		for _, e := range s.entries {
			fmt.Fprintf(&b, "  %s\n", e)
		}
	}
	return b.String()
}
