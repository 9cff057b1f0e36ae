// Mutants says what a quick test run is worth: which of the mistakes in the rules, and which of some
// random changes to production code, it finds.
//
//	go run ./tests/mutants [-seed turnstile] [-random 40] [-of rules,random] [-all] [-without ./tests/rig/...]
//
// The rules' mistakes are those of package mistakes and of the walk. The random changes are drawn by
// the seed: see draw. Each is tried by itself, by an overlay: the source stays as it is. First the
// tests beside the changed code are run, then all that import it and need no program of others, until
// the first failure. With -all the changes that were missed are tried by the tests that need servers,
// too: of the packages that import what was changed.
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

	"github.com/turnstile-locks/turnstile/tests/mistakes"
)

// change is a mistake, with the kind that it is counted under.
type change struct {
	kind string // rules or random
	mistakes.Mistake
}

// missed stands in the results of a change that no test has found.
const missed = "missed"

func main() {
	seed := flag.String("seed", "turnstile", "decides which random changes are drawn")
	random := flag.Int("random", 40, "how many random changes are tried")
	of := flag.String("of", "rules,random", "which changes are tried")
	all := flag.Bool("all", false, "try missed changes by the tests that need servers")
	without := flag.String("without", "", "packages, separated by commas, that the quick run leaves out")
	file := flag.String("results", "tests/mutants/results.txt", "the file of results, from the root of the module")
	flag.Parse()
	if err := run(*seed, *random, *of, *all, *without, *file); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(seed string, random int, of string, all bool, without, file string) error {
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
	suites, err := findSuites(strings.FieldsFunc(without, func(r rune) bool { return r == ',' }))
	if err != nil {
		return err
	}
	var changes []change
	if strings.Contains(of, "rules") {
		changes, err = rules()
		if err != nil {
			return err
		}
	}
	if strings.Contains(of, "random") {
		drawn, err := draw(root, seed, random)
		if err != nil {
			return err
		}
		changes = append(changes, drawn...)
	}
	counts := map[string]int{}
	for _, c := range changes {
		found, tried := known[c.key()]
		if !tried || all && found == missed {
			if found, err = suites.search(root, c, tried); err != nil {
				return err
			}
			known[c.key()] = found
			if err := writeResult(file, c, found); err != nil {
				return err
			}
		}
		fmt.Printf("%s: %s\n", c.key(), found)
		how := "found"
		switch {
		case strings.HasPrefix(found, missed):
			how = missed
		case strings.HasPrefix(found, inAll):
			how = "found by make test-all alone"
		}
		counts[c.kind+" "+how]++
		counts[c.kind]++
	}
	for _, kind := range []string{"rules", "random"} {
		fmt.Printf("%s: %d changes, make test finds %d, make test-all alone %d, nothing %d\n",
			kind, counts[kind], counts[kind+" found"], counts[kind+" found by make test-all alone"], counts[kind+" "+missed])
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
