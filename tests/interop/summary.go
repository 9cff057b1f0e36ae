package interop

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Summary is a worker's report of a job.
type Summary struct {
	Acquired int           // how often a contest's threads held
	TimedOut int           // how often one gave up, to try again
	Elapsed  time.Duration // from when all sessions were open until the last release; of Bench, the time that counts
	Timing   Timing
}

// Timing has what Bench and Queueing report besides. Acquired is then what was acquired in the time that counts.
type Timing struct {
	All         int           // grants altogether
	Handed      int           // hand-offs between two threads in the time that counts
	Median, P99 time.Duration // from the call of release until the next holder's acquire has returned
	Queued      time.Duration // until all waiters have their nodes
	Drained     time.Duration // from then until the last has released
	Asked       int           // requests that it took to see the nodes
}

// parseSummary reads "acquired=1 timed_out=2 elapsed_us=3".
func parseSummary(words []string) (Summary, error) {
	var s Summary
	var micros int
	nanos := map[string]*time.Duration{"p50_ns": &s.Timing.Median, "p99_ns": &s.Timing.P99,
		"queued_ns": &s.Timing.Queued, "drained_ns": &s.Timing.Drained}
	fields := map[string]*int{"acquired": &s.Acquired, "timed_out": &s.TimedOut, "elapsed_us": &micros,
		"all": &s.Timing.All, "handed": &s.Timing.Handed, "asked": &s.Timing.Asked}
	for _, word := range words {
		name, text, _ := strings.Cut(word, "=")
		value, err := strconv.Atoi(text)
		if field, known := nanos[name]; known && err == nil {
			*field = time.Duration(value)
			continue
		}
		field, known := fields[name]
		if err != nil || !known {
			return Summary{}, fmt.Errorf("interop: %q in a summary", word)
		}
		*field = value
	}
	s.Elapsed = time.Duration(micros) * time.Microsecond
	return s, nil
}
