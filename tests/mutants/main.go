// Mutants says what a quick test run is worth: which of the mistakes in the rules, and which of some
// random changes to production code, it finds.
//
//	go run ./tests/mutants [-random 40] [-of random,rules] [-all] [-again pattern] $(go list ./...)
//	go run ./tests/mutants -draw 100 [-seed turnstile]
//
// The rules' mistakes are those of package mistakes and of the walk. The random changes were drawn once, from a seed and
// from the source of one commit, by -draw: see draw. The file drawn.json has more of them than are tried. One whose text
// has gone since is left out, and the next takes its place.
//
// Each change is tried by itself, by an overlay: the source stays as it is. First the
// test is run that is known to find it, then those beside the changed code, then all of the packages named that import it,
// until the first failure. They are to need no program of others. A failure counts when it comes again: see
// ask. With -all the random changes that were missed are tried by the tests that need servers, too: of
// the packages that import what was changed.
//
// Results are lines of a file, one for each change, by the text of the change. A change that has its
// line is not tried again, so that a run can be cut and goes on where it was. With -again those are whose lines match: first
// by the test that found them last time. Lines that say "equivalent: ", and why, are written by hand: with such a change the
// code does the same, so that no test can find it.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/tests/mistakes"
)

// change is a mistake, with the kind that it is counted under.
type change struct {
	kind string // random or rules
	mistakes.Mistake
}

// missed stands in the results of a change that no test has found. equivalent begins that of one that no test can find.
const (
	missed     = "missed"
	equivalent = "equivalent: "
)

// The files of random changes, and of results, from the root of the module.
const (
	drawnFile   = "tests/mutants/drawn.json"
	resultsFile = "tests/mutants/results.txt"
)

// options are the flags.
type options struct {
	seed, of, again       string
	draw, random, atATime int
	all                   bool
}

func main() {
	var o options
	flag.StringVar(&o.seed, "seed", "turnstile", "decides which random changes are drawn")
	flag.IntVar(&o.draw, "draw", 0, "draw so many random changes from the source, write them, and try none")
	flag.IntVar(&o.random, "random", 40, "how many random changes are tried")
	flag.StringVar(&o.of, "of", "random,rules", "which changes are tried")
	flag.BoolVar(&o.all, "all", false, "try random changes that were missed by the tests that need servers")
	flag.StringVar(&o.again, "again", "^$", "a pattern: changes whose lines in the results match are tried again")
	flag.IntVar(&o.atATime, "p", 2, "how many changes are tried at a time")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	again, err := regexp.Compile(o.again)
	if err != nil {
		return fmt.Errorf("-again: %w", err)
	}
	root, err := mistakes.Root()
	if err != nil {
		return err
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	if o.draw > 0 {
		return writeDrawn(root, drawnFile, o.seed, o.draw)
	}
	known, err := readResults(resultsFile)
	if err != nil {
		return err
	}
	suites, err := findSuites(root, flag.Args())
	if err != nil {
		return err
	}
	var changes, gone []change
	for _, kind := range strings.Split(o.of, ",") {
		var some []change
		switch kind {
		case "random":
			some, gone, err = readDrawn(root, drawnFile, o.random, known)
			for _, c := range gone {
				fmt.Println(c.key() + ": gone")
			}
		case "rules":
			some, err = rules()
		}
		if err != nil {
			return err
		}
		changes = append(changes, some...)
	}
	var mu sync.Mutex
	var workers sync.WaitGroup
	var wrong error
	next := make(chan change)
	for range o.atATime {
		workers.Go(func() {
			for c := range next {
				mu.Lock()
				before := known[c.key()]
				mu.Unlock()
				begin := time.Now()
				if again.MatchString(line(c.key(), before)) {
					c.Test, before = cmp.Or(finder(before), c.Test), ""
				}
				found, err := suites.search(c, before)
				mu.Lock()
				fmt.Printf("%s: %s (%v)\n", c.key(), found, time.Since(begin).Round(time.Second))
				if err == nil {
					known[c.key()] = found
					err = writeResult(resultsFile, c.key(), found)
				}
				wrong = errors.Join(wrong, err)
				mu.Unlock()
			}
		})
	}
	for _, c := range changes {
		mu.Lock()
		found, tried := known[c.key()]
		mu.Unlock()
		if !tried || o.all && found == missed && c.kind == "random" || again.MatchString(line(c.key(), found)) {
			next <- c
		}
	}
	close(next)
	workers.Wait()
	if wrong != nil {
		return wrong
	}
	counts := map[string]int{}
	for _, c := range changes {
		found, tried := known[c.key()]
		how := "found"
		switch {
		case !tried:
			how = "not tried"
		case strings.HasPrefix(found, equivalent):
			how = "equivalent"
		case strings.HasPrefix(found, missed), strings.HasPrefix(found, unsure):
			how = missed
		case strings.HasPrefix(found, inAll):
			how = "found by make test-all alone"
		}
		counts[c.kind+" "+how]++
		counts[c.kind]++
	}
	for _, kind := range strings.Split(o.of, ",") {
		fmt.Printf("%s: %d changes, make test finds %d, make test-all alone %d, nothing %d, equivalent %d, not tried %d\n", kind, counts[kind],
			counts[kind+" found"], counts[kind+" found by make test-all alone"], counts[kind+" "+missed], counts[kind+" equivalent"],
			counts[kind+" not tried"])
	}
	return nil
}

func (c change) key() string { return c.kind + " " + c.Name }

// readResults reads the file.
func readResults(name string) (map[string]string, error) {
	known := map[string]string{}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if key, found, ok := strings.Cut(lines.Text(), ": "); ok {
			known[key] = found
		}
	}
	return known, lines.Err()
}

// writeResult puts a line into the file, in the place of the one that it had.
func writeResult(name, key, found string) error {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lines := slices.Collect(strings.Lines(string(text)))
	at := slices.IndexFunc(lines, func(other string) bool { return strings.HasPrefix(other, key+": ") })
	if at < 0 {
		at, lines = len(lines), append(lines, "")
	}
	lines[at] = line(key, found) + "\n"
	return os.WriteFile(name, []byte(strings.Join(lines, "")), 0o644)
}

// line is the line of a change in the results.
func line(key, found string) string { return key + ": " + found }

// finder is the package and the test that a result names; empty where it names none.
func finder(found string) string {
	found = strings.TrimPrefix(strings.TrimPrefix(found, unsure), inAll)
	return strings.TrimPrefix(found, "timeout in ")
}

// rules are the mistakes that ask whether a rule is kept: those of package mistakes, and those in the
// tests of the walks, which list them.
func rules() ([]change, error) {
	var all []change
	for _, m := range append(mistakes.All(), mistakes.Own()...) {
		all = append(all, change{"rules", m})
	}
	folder, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	list := filepath.Join(folder, "list")
	cmd := exec.Command("go", "test", "-count=1", "-p", "1", "-run", "^TestMistakesApply$", "./actors/turns", "./actors/internal/walk", "./zkconn/lease")
	cmd.Env = append(os.Environ(), mistakes.ListVariable+"="+list)
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mistakes of the walks: %w: %s", err, said)
	}
	f, err := os.Open(list)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for from := json.NewDecoder(f); ; {
		var m mistakes.Mistake
		err := from.Decode(&m)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("mistakes of the walks: %w", err)
		}
		all = append(all, change{"rules", m})
	}
}
