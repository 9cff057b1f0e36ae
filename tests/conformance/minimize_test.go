package conformance

import (
	"slices"
	"time"
)

// minimizeFor bounds the search for a shorter sequence.
const minimizeFor = 60 * time.Second

// minimize leaves out what a difference does not need: all that came after it, then ever smaller
// pieces, then the arguments and the parts of the operations that remain. Every attempt runs under a
// new root, with new sessions. The difference that remains may be another one; it is one.
func minimize(p pair, operations []operation, d *difference) ([]operation, *difference) {
	deadline := time.Now().Add(minimizeFor)
	best := operations
	try := func(candidate []operation) bool {
		if time.Now().After(deadline) {
			return false
		}
		found, _, err := p.differ(candidate)
		if err != nil || found == nil {
			return false
		}
		best, d = candidate, found
		return true
	}
	try(best[:min(len(best), max(0, d.step-(slots-1)+1))])
	for size := (len(best) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at < len(best); {
			if !try(slices.Delete(slices.Clone(best), at, min(at+size, len(best)))) {
				at += size
			}
		}
	}
	for i := 0; i < len(best); i++ {
		for _, simpler := range simpler(best[i]) {
			if try(slices.Replace(slices.Clone(best), i, i+1, simpler)) {
				i--
				break
			}
		}
	}
	return best, d
}

// simpler lists the operations that are this one without a part, or without an argument.
func simpler(o operation) []operation {
	var out []operation
	for i := range o.parts {
		s := o
		s.parts = slices.Delete(slices.Clone(o.parts), i, i+1)
		out = append(out, s)
	}
	for i := range o.parts {
		for _, part := range simpler(o.parts[i]) {
			s := o
			s.parts = slices.Clone(o.parts)
			s.parts[i] = part
			out = append(out, s)
		}
	}
	for i, a := range o.args {
		if a.key == "path" {
			continue
		}
		s := o
		s.args = slices.Delete(slices.Clone(o.args), i, i+1)
		out = append(out, s)
	}
	return out
}
