package main

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A package that fails on one version, and one that does not run at all there.
func TestTable(t *testing.T) {
	event := func(action, pkg, test string) string {
		return `{"Action":"` + action + `","Package":"` + modulePrefix + pkg + `","Test":"` + test + `"}` + "\n"
	}
	one, other := newTally(io.Discard), newTally(io.Discard)
	require.NoError(t, one.read(strings.NewReader(event("pass", "tests/sasl", "TestA")+event("pass", "tests/sasl", "TestB")+event("pass", "locks", "TestC"))))
	require.NoError(t, other.read(strings.NewReader(event("fail", "tests/sasl", "TestA")+event("skip", "tests/sasl", "TestB"))))
	var table strings.Builder
	require.NoError(t, printTable(&table, []column{{"3.9.5", one}, {"3.8.6", other}}))
	require.Equal(t, `| | 3.9.5 | 3.8.6 |
|---|---|---|
| locks | 1 | 0 |
| tests/sasl | 2 | 0, 1 failed, 1 skipped |
| all | 3 | 0, 1 failed, 1 skipped |
`, table.String())
}
