// Mutants says what a quick test run is worth: which of the mistakes in the rules, and which of some
// random changes to production code, it finds.
//
//	go run ./tests/mutants [-seed turnstile] [-random 40] [-of random,rules,soak] [-all] [-few] [-without ./tests/rig/...]
//
// The rules' mistakes are those of package mistakes and of the walk. The random changes are drawn by
// the seed: see draw. Each is tried by itself, by an overlay: the source stays as it is. First the
// test is run that is known to find it, then those beside the changed code, then all that import it
// and need no program of others, until the first failure. A failure counts when it comes again: see
// ask. With -all the random changes that were missed are tried by the tests that need servers, too: of
// the packages that import what was changed.
//
// Mistakes that only the soak finds are counted apart.
//
// Results are lines of a file, one for each change, by the text of the change. A change that has its
// line is not tried again, so that a run can be cut and goes on where it was.
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
	"strings"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/tests/mistakes"
)

// change is a mistake, with the kind that it is counted under.
type change struct {
	kind string // random, rules or soak
	mistakes.Mistake
}

// missed stands in the results of a change that no test has found.
const missed = "missed"

func main() {
	seed := flag.String("seed", "turnstile", "decides which random changes are drawn")
	random := flag.Int("random", 40, "how many random changes are tried")
	of := flag.String("of", "random,rules,soak", "which changes are tried")
	all := flag.Bool("all", false, "try random changes that were missed by the tests that need servers")
	few := flag.Bool("few", false, "ask only the packages that find most in a second")
	atATime := flag.Int("p", 2, "how many changes are tried at a time")
	without := flag.String("without", "", "packages, separated by commas, that the quick run leaves out")
	file := flag.String("results", "tests/mutants/results.txt", "the file of results, from the root of the module")
	flag.Parse()
	if err := run(*seed, *random, *of, *all, *few, *atATime, *without, *file); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(seed string, random int, of string, all, few bool, atATime int, without, file string) error {
	root, err := mistakes.Root()
	if err != nil {
		return err
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	known, err := readResults(file)
	if err != nil {
		return err
	}
	suites, err := findSuites(root, strings.FieldsFunc(without, func(r rune) bool { return r == ',' }))
	if err != nil {
		return err
	}
	suites.few = few
	var changes []change
	for _, kind := range strings.Split(of, ",") {
		var some []change
		switch kind {
		case "random":
			some, err = draw(root, seed, random, known)
		case "rules":
			some, err = rules()
		case "soak":
			for _, m := range mistakes.Soak() {
				some = append(some, change{kind, m})
			}
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
	for range atATime {
		workers.Go(func() {
			for c := range next {
				mu.Lock()
				before := known[c.key()]
				mu.Unlock()
				begin := time.Now()
				found, err := suites.search(c, before)
				mu.Lock()
				fmt.Printf("%s: %s (%v)\n", c.key(), found, time.Since(begin).Round(time.Second))
				if err == nil {
					known[c.key()] = found
					err = writeResult(file, c, found)
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
		if !tried || !few && found == missedByFew || all && found == missed && c.kind == "random" {
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
		case !tried, found == missedByFew:
			how = "not tried"
		case strings.HasPrefix(found, missed), strings.HasPrefix(found, unsure):
			how = missed
		case strings.HasPrefix(found, inAll):
			how = "found by make test-all alone"
		}
		counts[c.kind+" "+how]++
		counts[c.kind]++
	}
	for _, kind := range strings.Split(of, ",") {
		fmt.Printf("%s: %d changes, make test finds %d, make test-all alone %d, nothing %d, not tried %d\n", kind, counts[kind],
			counts[kind+" found"], counts[kind+" found by make test-all alone"], counts[kind+" "+missed], counts[kind+" not tried"])
	}
	return nil
}

func (c change) key() string { return c.kind + " " + c.Name }

// readResults reads the file. The last line of a change counts.
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

func writeResult(name string, c change, found string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s: %s\n", c.key(), found)
	return cmp.Or(err, f.Close())
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
	cmd := exec.Command("go", "test", "-count=1", "-p", "1", "-run", "^TestMistakesApply$", "./actors/turns", "./actors/internal/walk", "./zkconn/internal/leasewalk")
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
