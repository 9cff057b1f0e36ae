package guides_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSupervisionIsFromItsExamples: each block of code of the guide stands in the file of its
// examples, which runs. The table of directives is no code.
func TestSupervisionIsFromItsExamples(t *testing.T) {
	guide, err := os.ReadFile("supervision.go")
	require.NoError(t, err)
	source, err := os.ReadFile("example_supervision_test.go")
	require.NoError(t, err)
	runs := unindented(strings.Split(string(source), "\n"))
	blocks := 0
	for _, block := range strings.Split(string(guide), "\n//\n") {
		lines := strings.Split(block, "\n")
		if !strings.HasPrefix(lines[0], "//\t") || strings.HasPrefix(lines[0], "//\tRestart ") {
			continue
		}
		blocks++
		for i, line := range lines {
			lines[i] = strings.TrimPrefix(line, "//")
		}
		code := "\n" + strings.Join(unindented(lines), "\n") + "\n"
		require.Contains(t, "\n"+strings.Join(runs, "\n")+"\n", code)
	}
	require.Equal(t, 4, blocks)
}

// unindented are lines without the tabs that they begin with.
func unindented(lines []string) []string {
	all := make([]string, len(lines))
	for i, line := range lines {
		all[i] = strings.TrimLeft(line, "\t")
	}
	return all
}
