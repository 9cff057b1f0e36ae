package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The exit status says whether a suite passes on embedded servers all tests that it passes on real
// ones. A test that fails once is run again, and alone.
func TestExitStatus(t *testing.T) {
	rows := []exception{{reason: "There are no quotas.", tests: []string{"quota"}}}
	once := func(all outcomes) func(only []string) outcomes { // the same each time
		return func([]string) outcomes { return all }
	}
	for _, test := range []struct {
		name     string
		embedded func(only []string) outcomes
		status   int
		says     string
	}{
		{"as the rows say", once(outcomes{"lock": passed, "quota": failed}), 0, "fake   2      2     1         1"},
		{"passes when it is run alone", func(only []string) outcomes {
			if only == nil {
				return outcomes{"lock": failed, "quota": failed}
			}
			return outcomes{only[0]: passed}
		}, 0, `run again: ["lock"]`},
		{"fails each time", once(outcomes{"lock": failed, "quota": failed}), 1, "lock: failed on the embedded server"},
		{"a row is not true", once(outcomes{"lock": passed, "quota": passed}), 1, "quota: a row of the exceptions is not true"},
		{"nothing ran", once(outcomes{}), 2, "no test ran"},
		{"cannot run", func([]string) outcomes { return nil }, 2, "no python"},
	} {
		t.Run(test.name, func(t *testing.T) {
			withSuites(t, suite{"fake", func(_ context.Context, r *round, only []string) (outcomes, error) {
				if (r.kind == onEmbedded) != (r.host != nil) {
					return nil, errors.New("stand-ins have a host, and real servers need none")
				}
				if r.kind == onReal {
					return outcomes{"lock": passed, "quota": passed}, nil
				}
				all := test.embedded(only)
				if all == nil {
					return nil, errors.New("no python")
				}
				return all, nil
			}, rows})
			t.Setenv("TMPDIR", t.TempDir())
			var printed strings.Builder
			require.Equal(t, test.status, run([]string{"-suite", "fake"}, &printed, &printed), printed.String())
			require.Contains(t, printed.String(), test.says)
			left, err := os.ReadDir(os.TempDir())
			require.NoError(t, err)
			require.Equal(t, test.status != 0, len(left) > 0, "what suites print stays when somebody wants to read it")
		})
	}
}

// Flags that choose nothing are refused.
func TestFlagsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-suite", "jedis"}, {"-suite", ""}, {"-tries", "0"}, {"kazoo"}} {
		var printed strings.Builder
		require.Equal(t, 2, run(args, &printed, &printed), "%q", args)
		require.NotEmpty(t, printed.String())
	}
}

func withSuites(t *testing.T, instead ...suite) {
	before := suites
	suites = instead
	t.Cleanup(func() { suites = before })
}
