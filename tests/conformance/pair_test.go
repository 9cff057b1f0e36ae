package conformance

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// pair is a server that is right by definition, and one that is to be like it.
type pair struct{ reference, subject server }

// runs numbers the sequences: no root is used twice.
var runs atomic.Int64

// differ carries out a sequence on both servers at the same time, and says where they differ.
func (p pair) differ(operations []operation) (*difference, error) {
	run := runs.Add(1)
	var transcripts [2]transcript
	var errs [2]error
	var wait sync.WaitGroup
	for i, s := range []server{p.reference, p.subject} {
		wait.Go(func() { transcripts[i], errs[i] = play(s.Addr(), run, operations) })
	}
	wait.Wait()
	for i, name := range []string{"reference", "subject"} {
		if errs[i] != nil {
			errs[i] = fmt.Errorf("%s: %w", name, errs[i])
		}
	}
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return compare(transcripts[0], transcripts[1]), nil
}
