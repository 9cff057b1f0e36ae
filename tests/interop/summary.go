package interop

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Summary is what a worker says of a job that it has done.
type Summary struct {
	Acquired int           // how often a contest's threads held
	TimedOut int           // how often one gave up, to try again
	Elapsed  time.Duration // from when all sessions were open until the last release
}

// parseSummary reads "acquired=1 timed_out=2 elapsed_us=3".
func parseSummary(words []string) (Summary, error) {
	var s Summary
	var micros int
	fields := map[string]*int{"acquired": &s.Acquired, "timed_out": &s.TimedOut, "elapsed_us": &micros}
	for _, word := range words {
		name, text, _ := strings.Cut(word, "=")
		value, err := strconv.Atoi(text)
		field, known := fields[name]
		if err != nil || !known {
			return Summary{}, fmt.Errorf("interop: %q in a summary", word)
		}
		*field = value
	}
	s.Elapsed = time.Duration(micros) * time.Microsecond
	return s, nil
}
