package main

import (
	"fmt"
	"maps"
	"slices"
)

// exception says why tests of a suite need not pass on the embedded server, though they pass on a real one.
type exception struct {
	reason string
	tests  []string
	// sometimes is for tests that depend on speed, on either server: they may pass, too, and may fail on a real one.
	sometimes bool
}

// excepted has the row of each test that is in one.
func excepted(rows []exception) map[string]exception {
	of := map[string]exception{}
	for _, row := range rows {
		for _, test := range row.tests {
			of[test] = row
		}
	}
	return of
}

// compare finds where the embedded server does not do as the real one, and no row says so, and the rows that are no
// longer true.
func compare(real, embedded outcomes, rows []exception) (found []string) {
	of := excepted(rows)
	tests := slices.Collect(maps.Keys(real))
	tests = append(tests, slices.Collect(maps.Keys(embedded))...)
	tests = append(tests, slices.Collect(maps.Keys(of))...)
	slices.Sort(tests)
	for _, test := range slices.Compact(tests) {
		onReal, onEmbedded := how(real, test), how(embedded, test)
		exception, row := of[test]
		switch {
		case exception.sometimes:
			if onReal == notRun || onEmbedded == notRun {
				found = append(found, fmt.Sprintf("%s: a row of the exceptions is not true: the test did not run", test))
			}
		case !row && onReal == passed && onEmbedded != passed:
			found = append(found, fmt.Sprintf("%s: %s on the embedded server, and passes on a real one", test, onEmbedded))
		case row && onReal != passed:
			found = append(found, fmt.Sprintf("%s: a row of the exceptions is not true: the test %s on a real server", test, onReal))
		case row && onEmbedded == passed:
			found = append(found, fmt.Sprintf("%s: a row of the exceptions is not true: the test passes on the embedded server", test))
		}
	}
	return found
}

func how(all outcomes, test string) outcome {
	if is := all[test]; is != "" {
		return is
	}
	return notRun
}

// suspects are the tests that are to be run again: they did not pass, and no row says so. One test of a hundred of the
// peers' depends on speed.
func suspects(all outcomes, rows []exception) (tests []string) {
	of := excepted(rows)
	for test, is := range all {
		if _, row := of[test]; is == failed && !row {
			tests = append(tests, test)
		}
	}
	slices.Sort(tests)
	return tests
}
