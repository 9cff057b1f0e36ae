package readme

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// step is a file and functions in it, as a page writes them: `lock_actor.go: lock.begin`, or with
// one function after the other, `lock_actor.go: lock.hear → lock.step`.
var step = regexp.MustCompile("`([A-Za-z0-9_./-]+\\.go): ([A-Za-z_][A-Za-z0-9_.]*(?: → [A-Za-z_][A-Za-z0-9_.]*)*)`")

// TestFlows: the files and functions of flows exist. A page names a method with its type, or a function by its name alone,
// where the file has one of that name.
func TestFlows(t *testing.T) {
	steps := 0
	for _, p := range readPages(t, root) {
		for _, found := range step.FindAllStringSubmatch(p.prose, -1) {
			file := p.at(found[1])
			for function := range strings.SplitSeq(found[2], " → ") {
				steps++
				if !declared(file)[function] {
					t.Errorf("%s: %s has no %s", p.name, found[1], function)
				}
			}
		}
		for _, span := range arrow.FindAllString(p.prose, -1) {
			if !step.MatchString(span) {
				t.Errorf("%s: %s is no file with functions", p.name, span)
			}
		}
	}
	require.Greater(t, steps, 180, "the flows were not found")
}

// arrow is a piece of code that goes on from one function to another.
var arrow = regexp.MustCompile("`[^`]*\\.go: [^`]* → [^`]*`")

// functions has the functions of a file: the type, for a method, and the name.
var functions = regexp.MustCompile(`(?m)^func (?:\((?:\w+ )?\*?(\w+)[^)]*\) )?(\w+)`)

// declared gives the functions of a file, each by its name and with its type, too. It is empty
// where the file does not exist.
func declared(file string) map[string]bool {
	text, _ := os.ReadFile(file)
	all := map[string]bool{}
	for _, found := range functions.FindAllStringSubmatch(string(text), -1) {
		all[found[2]] = true
		if found[1] != "" {
			all[found[1]+"."+found[2]] = true
		}
	}
	return all
}
