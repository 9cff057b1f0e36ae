package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// column is the outcome on one version.
type column struct {
	version string
	tally   *tally
}

// runEach is run on each version, and then prints a table. Without versions it is run once, on the
// version that is set.
func runEach(versions []string, noSkips, brief bool, ours [][]string, others []module) error {
	if len(versions) == 0 {
		one := newTally(os.Stdout)
		if brief {
			one.screen = &screen{}
		}
		return run(one, noSkips, ours, others)
	}
	var columns []column
	var failures error
	for _, version := range versions {
		if err := os.Setenv(rig.VersionVariable, version); err != nil {
			return err
		}
		fmt.Println("on ZooKeeper", version)
		one := newTally(os.Stdout)
		if err := run(one, noSkips, ours, others); err != nil {
			failures = errors.Join(failures, fmt.Errorf("on %s: %w", version, err))
		}
		columns = append(columns, column{version, one})
	}
	return errors.Join(printTable(os.Stdout, columns), failures)
}

// modulePrefix begins the import paths of this repository.
const modulePrefix = "github.com/turnstile-locks/turnstile/"

// printTable prints a row for each package that has tests, and one for all of them.
func printTable(to io.Writer, columns []column) error {
	var text strings.Builder
	text.WriteString("| |")
	line, all := "|---|", "| all |"
	packages := map[string]bool{}
	for _, c := range columns {
		text.WriteString(" " + c.version + " |")
		line += "---|"
		all += " " + c.tally.total().cell() + " |"
		for name := range c.tally.counts {
			packages[name] = true
		}
	}
	text.WriteString("\n" + line + "\n")
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		text.WriteString("| " + strings.TrimPrefix(name, modulePrefix) + " |")
		for _, c := range columns {
			text.WriteString(" " + c.tally.counts[name].cell() + " |")
		}
		text.WriteString("\n")
	}
	_, err := io.WriteString(to, text.String()+all+"\n")
	return err
}

// cell says how many passed, and of the others only where there are any.
func (c counts) cell() string {
	said := fmt.Sprint(c.passed)
	if c.failed > 0 {
		said += fmt.Sprintf(", %d failed", c.failed)
	}
	if c.skipped > 0 {
		said += fmt.Sprintf(", %d skipped", c.skipped)
	}
	return said
}
