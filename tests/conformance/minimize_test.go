package conformance

import (
	"slices"
	"time"
)

// minimizeFor bounds the search for a shorter sequence.
const minimizeFor = 60 * time.Second

// minimize leaves out what a difference does not need: all that came after it, then ever smaller
// pieces. Every attempt runs under a new root, with new sessions. The difference that remains may be another one; it is one.
func minimize(p pair, operations []operation, d *difference) ([]operation, *difference) {
	deadline := time.Now().Add(minimizeFor)
	best := operations
	try := func(candidate []operation) bool {
		if time.Now().After(deadline) {
			return false
		}
		found, err := p.differ(candidate)
		if err == nil && found != nil {
			best, d = candidate, found
		}
		return err == nil && found != nil
	}
	try(best[:min(len(best), max(0, d.step-(slots-1)+1))])
	for size := (len(best) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at < len(best); {
			if !try(slices.Delete(slices.Clone(best), at, min(at+size, len(best)))) {
				at += size
			}
		}
	}
	return best, d
}
