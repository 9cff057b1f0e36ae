package zklock

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// forInstant is the beginning of the line of a job that is run for an instant.
func forInstant(at time.Time) string { return "run --for " + at.Format("2006-01-02T15:04Z07:00") + " " }

// TestForAnInstant: machines come one after the other, in different zones, and the command runs once for each instant. It
// is run again only where that is asked for, and not for an older one. Each outcome has its exit status.
func TestForAnInstant(t *testing.T) {
	t.Parallel()
	at := here(t)
	tonight := time.Now().UTC().Truncate(time.Minute).Add(-time.Hour)
	stdout, _ := says(t, at, 0, forInstant(tonight)+"/job -- echo ran")
	require.Equal(t, "ran\n", stdout)
	for _, zone := range []*time.Location{time.UTC, time.FixedZone("", 5*3600)} {
		stdout, stderr := says(t, at, 75, forInstant(tonight.In(zone))+"/job -- echo ran")
		require.Empty(t, stdout)
		require.Contains(t, stderr, "/job: already run (done at ")
		require.Contains(t, stderr, ", for "+tonight.Format(time.RFC3339))
	}
	_, stderr := says(t, at, 81, forInstant(tonight.Add(-time.Minute))+"/job -- echo ran")
	require.Contains(t, stderr, "/job: superseded")
	require.Contains(t, stderr, "the command was not run")

	next := tonight.Add(time.Minute)
	says(t, at, 81, forInstant(next)+"--start-within 10m /job -- echo ran")
	says(t, at, 7, forInstant(next)+"/job -- sh -c", "exit 7")
	_, stderr = says(t, at, 75, forInstant(next)+"/job -- echo ran")
	require.Contains(t, stderr, "already run (failed at ")
	says(t, at, 75, forInstant(next)+"--retry-after 1h /job -- echo ran")
	says(t, at, 0, forInstant(next)+"--retry-after 0s /job -- true")

	later := next.Add(time.Minute)
	runs, _ := runs(t, at, forInstant(later)+"/job -- sh -c", holding)
	_, stderr = says(t, at, 75, forInstant(later)+"/job -- echo ran")
	require.Contains(t, stderr, fmt.Sprintf("somebody is at it (process %d on ", runs.Pid()))
	_, stderr = says(t, at, 81, forInstant(later.Add(time.Minute))+"/job -- echo ran")
	require.Contains(t, stderr, "is still going")
	runs.leaves(t)
	says(t, at, 75, forInstant(later)+"/job -- echo ran")
}
