package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A difference without a row is found, and so is a row that is not true, in each way that it can be so.
func TestCompare(t *testing.T) {
	rows := []exception{{reason: "there are no quotas", tests: []string{"quota"}}}
	for _, test := range []struct {
		name           string
		real, embedded outcomes
		found          string // empty: nothing
	}{
		{"as the row says", outcomes{"quota": passed, "lock": passed}, outcomes{"quota": failed, "lock": passed}, ""},
		{"fails on both", outcomes{"quota": passed, "lock": failed}, outcomes{"quota": failed, "lock": failed}, ""},
		{"skipped on both", outcomes{"quota": passed, "lock": skipped}, outcomes{"quota": failed, "lock": skipped}, ""},
		{"passes where the real one fails", outcomes{"quota": passed, "lock": failed}, outcomes{"quota": failed, "lock": passed}, ""},
		{"fails without a row", outcomes{"quota": passed, "lock": passed}, outcomes{"quota": failed, "lock": failed},
			"lock: failed on the embedded server, and passes on a real one"},
		{"is skipped without a row", outcomes{"quota": passed, "lock": passed}, outcomes{"quota": failed, "lock": skipped},
			"lock: skipped on the embedded server, and passes on a real one"},
		{"does not run, without a row", outcomes{"quota": passed, "lock": passed}, outcomes{"quota": failed},
			"lock: did not run on the embedded server, and passes on a real one"},
		{"passes in spite of its row", outcomes{"quota": passed}, outcomes{"quota": passed},
			"quota: a row of the exceptions is not true: the test passes on the embedded server"},
		{"its row is needless: fails on both", outcomes{"quota": failed}, outcomes{"quota": failed},
			"quota: a row of the exceptions is not true: the test failed on a real server"},
		{"its row names no test", outcomes{}, outcomes{},
			"quota: a row of the exceptions is not true: the test did not run on a real server"},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := compare(test.real, test.embedded, rows)
			if test.found == "" {
				require.Empty(t, found)
				return
			}
			require.Equal(t, []string{test.found}, found)
		})
	}
}

// A test that depends on speed may pass or fail on both servers. It must still be there.
func TestCompareWhatDependsOnSpeed(t *testing.T) {
	rows := []exception{{reason: "a race", tests: []string{"race"}, sometimes: true}}
	for _, real := range []outcome{passed, failed} {
		for _, embedded := range []outcome{passed, failed} {
			require.Empty(t, compare(outcomes{"race": real}, outcomes{"race": embedded}, rows))
		}
	}
	require.NotEmpty(t, compare(outcomes{}, outcomes{}, rows))
	require.NotEmpty(t, compare(outcomes{"race": passed}, outcomes{}, rows), "nothing says whether it would have run")
}

// A test that has failed without a row is run again, and one that passes then has passed.
func TestSuspectsAreRunAgain(t *testing.T) {
	rows := []exception{{tests: []string{"quota"}}}
	all := outcomes{"quota": failed, "lock": failed, "queue": failed, "tls": skipped, "barrier": passed}
	require.Equal(t, []string{"lock", "queue"}, suspects(all, rows))
	all.again(outcomes{"lock": passed, "queue": failed, "unheard of": passed, "barrier": failed})
	require.Equal(t, outcomes{"quota": failed, "lock": passed, "queue": failed, "tls": skipped, "barrier": passed}, all)
}

// Every row has a reason, and no test is in two.
func TestExceptionsAreWellFormed(t *testing.T) {
	for _, s := range suites {
		seen := map[string]bool{}
		for _, row := range s.exceptions {
			require.NotEmpty(t, row.reason, s.name)
			require.NotEmpty(t, row.tests, row.reason)
			for _, test := range row.tests {
				require.False(t, seen[test], "%s: %s is there twice", s.name, test)
				seen[test] = true
			}
		}
	}
}
