package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResultsOfSeveralEnsembles(t *testing.T) {
	first := result{Seconds: 10, Grants: 30, Ensembles: 1, TreesDiffered: 1, LongestWhole: 2, endedEarly: true,
		Faults: map[string]int{"member-kill": 1}, Wrong: map[string]int{orphans: 0}, Errors: map[string]int{}}
	second := result{Seconds: 20, Grants: 30, Ensembles: 1, LongestWhole: 1,
		Faults: map[string]int{"member-kill": 2}, Wrong: map[string]int{orphans: 1}, Errors: map[string]int{"unlock: lost": 1}}
	both := first.and(second)
	require.Equal(t, result{Seconds: 30, Grants: 60, Ensembles: 2, TreesDiffered: 1, LongestWhole: 2,
		Faults: map[string]int{"member-kill": 3}, Wrong: map[string]int{orphans: 1}, Errors: map[string]int{"unlock: lost": 1}}, both)
	require.False(t, both.clean())
}
