package scene

import (
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/stories"
)

// Play plays the scenes of a folder at every place, file by file.
func Play(t *testing.T, dir string) {
	files, err := filepath.Glob(dir + "/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	rewrite := flag.Lookup("rewrite").Value.String() == "true"
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Run("virtual", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { play(t, newVirtual(t), file) })
			})
			stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
				if !rewrite || t.Name()[strings.LastIndex(t.Name(), "/"):] == "/embedded" {
					play(t, &servers{zk: zk, rewrite: rewrite}, file)
				}
			})
		})
	}
}

// play plays a file's scenes at a place. The worlds of a scene are one for each value of each of its variables.
func play(t *testing.T, at place, file string) {
	var worlds []*world
	end := func() {
		for _, w := range worlds {
			w.end()
		}
		worlds = nil
	}
	datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
		lines := strings.Split(strings.TrimSpace(d.Input), "\n")
		if d.Cmd == "scene" {
			end()
			with := ""
			if strings.HasPrefix(lines[0], "with ") {
				with, lines = lines[0][len("with "):], lines[1:]
			}
			if !strings.Contains(with, "face=") {
				with += " face=locks|gateway|actors"
			}
			for _, vars := range variants(strings.Fields(with)) {
				if !at.keeps(vars["only"]) {
					worlds = append(worlds, newWorld(t, at, vars))
				}
			}
		}
		if len(worlds) == 0 {
			return d.Expected
		}
		told := map[string][]*world{}
		var outs []string
		for _, w := range worlds {
			w.t = t
			want := expected(d.Expected, w.vars)
			if d.Rewrite {
				want = "?" // what is told late is waited for
			}
			out := w.block(lines, want)
			if told[out] == nil {
				outs = append(outs, out)
			}
			told[out] = append(told[out], w)
		}
		if len(outs) == 1 {
			return outs[0]
		}
		var all strings.Builder
		for _, out := range outs {
			fmt.Fprintf(&all, "%s:\n%s", common(told[out], worlds), out)
		}
		return all.String()
	})
	end()
}

// common names some of all worlds by their variables, together where they are all that have these values.
func common(some, all []*world) string {
	label, product := "", 1
	for _, name := range slices.Sorted(maps.Keys(all[0].vars)) {
		values := func(of []*world) (values []string) {
			for _, w := range of {
				if v := strings.ReplaceAll(w.vars[name], " ", "+"); !slices.Contains(values, v) {
					values = append(values, v)
				}
			}
			return values
		}
		mine := values(some)
		if product *= len(mine); len(mine) < len(values(all)) {
			label += " " + name + "=" + strings.Join(mine, "|")
		}
	}
	if product == len(some) {
		return strings.TrimSpace(label)
	}
	var each []string
	for _, w := range some {
		each = append(each, common([]*world{w}, all))
	}
	return strings.Join(each, ", ")
}

// variants gives the values of all variables, in all their combinations.
func variants(with []string) []map[string]string {
	all := []map[string]string{{}}
	for _, word := range with {
		name, values, ok := strings.Cut(word, "=")
		if !ok {
			name, values = "only", word
		}
		var more []map[string]string
		for _, vars := range all {
			for _, value := range strings.Split(values, "|") {
				one := maps.Clone(vars)
				one[name] = strings.ReplaceAll(value, "+", " ")
				more = append(more, one)
			}
		}
		all = more
	}
	return all
}

// expected is the part of an outcome that is for a world: all, or what stands below a line that names it.
func expected(all string, vars map[string]string) string {
	var part strings.Builder
	mine := true
	for line := range strings.Lines(all) {
		if labels, ok := strings.CutSuffix(line, ":\n"); ok && strings.Contains(labels, "=") {
			mine = slices.ContainsFunc(strings.Split(labels, ", "), func(label string) bool {
				return !slices.ContainsFunc(strings.Fields(label), func(word string) bool {
					name, values, _ := strings.Cut(word, "=")
					return !slices.Contains(strings.Split(strings.ReplaceAll(values, "+", " "), "|"), vars[name])
				})
			})
		} else if mine {
			part.WriteString(line)
		}
	}
	return part.String()
}
