package readme

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var from = regexp.MustCompile(`^<!-- code: (\S+_test\.go) -->$`)

// TestCodeIsFromTheExamples: the code that a page shows is compiled, and run, by the tests of the file that it names.
func TestCodeIsFromTheExamples(t *testing.T) {
	shown := 0
	for _, p := range readPages(t, root) {
		for _, b := range p.blocks {
			if b.language != "go" {
				continue
			}
			shown++
			named := from.FindStringSubmatch(b.comment)
			require.NotNil(t, named, "%s:%d: the line before the block is to be <!-- code: <file>_test.go -->", p.name, b.line)
			source, err := os.ReadFile(filepath.Join(root, named[1]))
			require.NoError(t, err)
			require.True(t, has(strings.Split(string(source), "\n"), b.lines), "%s:%d: these lines are not in %s:\n%s", p.name, b.line,
				named[1], strings.Join(b.lines, "\n"))
		}
	}
	require.NotZero(t, shown)
}

// has reports whether some lines are among others, one after the other, however far all of them are indented.
func has(source, lines []string) bool {
	for at := range source {
		if len(source)-at >= len(lines) && same(source[at:at+len(lines)], lines) {
			return true
		}
	}
	return false
}

func same(source, lines []string) bool {
	indent, found := strings.CutSuffix(source[0], lines[0])
	if !found || strings.TrimLeft(indent, "\t") != "" {
		return false
	}
	for i, line := range lines {
		if line != "" {
			line = indent + line
		}
		if source[i] != line {
			return false
		}
	}
	return true
}

func TestHas(t *testing.T) {
	source := []string{"func f() {", "\tif x {", "\t\ty()", "", "\t\tz()", "\t}", "}"}
	require.True(t, has(source, []string{"if x {", "\ty()", "", "\tz()", "}"}))
	require.True(t, has(source, source))
	require.False(t, has(source, []string{"if x {", "\tz()"}))
	require.False(t, has(source, []string{"x {", "\ty()"}))
	require.False(t, has(source, []string{"if x {", "y()"}))
}
