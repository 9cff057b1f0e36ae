package retry

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPausesGrow from one range to the next, with jitter, and never stop.
func TestPausesGrow(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		Policy
		means map[int]time.Duration // by the number of failures
	}{
		"vanished":                   {Vanished, map[int]time.Duration{1: 5 * ms, 3: 11250 * time.Microsecond, 100: 200 * ms}},
		"throttled":                  {Throttled, map[int]time.Duration{1: 20 * ms, 2: 40 * ms, 6: 500 * ms}},
		"unknown":                    {Unknown, map[int]time.Duration{0: 50 * ms, 1: 50 * ms, 2: 100 * ms, 3: 200 * ms, 4: 200 * ms, 1_000_000: 200 * ms}},
		"hung up":                    {HungUp, map[int]time.Duration{1: 100 * ms, 2: 200 * ms, 4: 800 * ms, 7: 5000 * ms, 1_000_000: 5000 * ms}},
		"no room":                    {NoRoom, map[int]time.Duration{1: 50 * ms, NoRoomTries - 1: 800 * ms}},
		"campaign":                   {Campaign, map[int]time.Duration{1: 100 * ms, 2: 150 * ms, 100: 10_000 * ms}},
		"taken":                      {Taken, map[int]time.Duration{1: 10 * ms, 3: 40 * ms, 100: 1000 * ms}},
		"rounds":                     {Rounds(7*ms, 70*ms), map[int]time.Duration{1: 7 * ms, 2: 10500 * time.Microsecond, 100: 70 * ms}},
		"urgent":                     {Urgent(4 * time.Second), map[int]time.Duration{1: 10 * ms, 2: 15 * ms, 100: 40 * ms}},
		"urgent, of a short session": {Urgent(400 * ms), map[int]time.Duration{1: 10 * ms, 100: 10 * ms}},
	} {
		for failures, mean := range c.means {
			least, most := time.Hour, time.Duration(0)
			for range 1000 {
				pause := c.Pause(failures)
				least, most = min(least, pause), max(most, pause)
			}
			require.GreaterOrEqual(t, least, mean/2, "%s: %d failures", name, failures)
			require.LessOrEqual(t, most, mean*3/2+1, "%s: %d failures", name, failures)
			require.Greater(t, most-least, mean/2, "%s: %d failures: jitter", name, failures)
		}
	}
}

// TestSeries: a series grows as Pause does, and begins anew after Reset.
func TestSeries(t *testing.T) {
	pauses := Unknown.Begin()
	for range 2 {
		for _, mean := range []time.Duration{50, 100, 200, 200} {
			pause := pauses.Next()
			require.GreaterOrEqual(t, pause, mean*time.Millisecond/2)
			require.LessOrEqual(t, pause, mean*time.Millisecond*3/2+1)
		}
		pauses.Reset()
	}
}

// TestTable: the package doc has a row for each policy, with the pauses and tries that it has.
func TestTable(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "retry.go", nil, parser.ParseComments)
	require.NoError(t, err)
	policies := map[string]Policy{
		"Vanished": Vanished, "Throttled": Throttled, "Unknown": Unknown, "HungUp": HungUp, "NoRoom": NoRoom, "Campaign": Campaign,
		"Taken":  Taken,
		"Rounds": Rounds(50*time.Millisecond, 5*time.Second),
		"Urgent": Urgent(100 * time.Second), // of which a hundredth is a second
	}
	var declared []string
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if v, is := s.(*ast.ValueSpec); is && d.Tok == token.VAR {
					declared = append(declared, v.Names[0].Name)
				}
			}
		case *ast.FuncDecl:
			if d.Recv == nil {
				declared = append(declared, d.Name.Name)
			}
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(policies)), declared)
	row := regexp.MustCompile(`(?m)^\t(\w+) +([\d.]+)( \w+)? to (T/100|[\d.]+)( m?s)? +(.+?)  `)
	tries := map[string]string{}
	for _, found := range row.FindAllStringSubmatch(file.Doc.Text(), -1) {
		name, first, unit, longest, unitOfLongest := found[1], found[2], found[3], found[4], found[5]
		p, is := policies[name]
		if !is {
			continue // of another rule
		}
		if unit == "" {
			unit = unitOfLongest
		}
		if longest == "T/100" {
			longest, unitOfLongest = "1", " s"
		}
		for text, pause := range map[string]time.Duration{first + unit: p.First, longest + unitOfLongest: p.Longest} {
			said, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
			require.NoError(t, err, name)
			require.Equal(t, pause, said, name)
		}
		tries[name] = found[6]
	}
	require.ElementsMatch(t, declared, slices.Collect(maps.Keys(tries)), "the rows")
	require.Equal(t, strconv.Itoa(VanishedTries), tries["Vanished"])
	require.Equal(t, strconv.Itoa(NoRoomTries), tries["NoRoom"])
}
