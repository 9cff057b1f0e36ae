package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/turnstile-locks/turnstile/tests/mistakes"
)

// drawn are random changes in the order in which they were drawn, by their text: the source may be another by now.
type drawn struct {
	Seed, Commit string
	Changes      []textChange
}

// textChange is a change of a text that one file of a package has, once.
type textChange struct{ Name, Package, Old, New string }

func (c textChange) mistake() mistakes.Mistake {
	return mistakes.Mistake{Name: c.Name, What: c.Name, Edits: []mistakes.Edit{{Package: c.Package, Old: c.Old, New: c.New}}}
}

// writeDrawn draws n changes from the source, and writes them to a file.
func writeDrawn(root, file, seed string, n int) error {
	commit := exec.Command("git", "rev-parse", "HEAD")
	commit.Dir = root
	said, err := commit.Output()
	if err != nil {
		return fmt.Errorf("the commit that changes are drawn from: %w", err)
	}
	changes, err := draw(root, seed, n)
	if err != nil {
		return err
	}
	d := drawn{Seed: seed, Commit: strings.TrimSpace(string(said))}
	for _, c := range changes {
		e := c.Edits[0]
		d.Changes = append(d.Changes, textChange{c.Name, e.Package, e.Old, e.New})
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	to := json.NewEncoder(f)
	to.SetEscapeHTML(false)
	to.SetIndent("", " ")
	return to.Encode(d)
}

// readDrawn gives the first n changes of a file that can still be made, and those before them that cannot: their text is gone
// or does not compile any more. What has a result did compile.
func readDrawn(root, file string, n int, results map[string]string) (changes, gone []change, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	var d drawn
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, text := range d.Changes {
		if len(changes) == n {
			break
		}
		c := change{"random", text.mistake()}
		if applies(root, c.Mistake, results[c.key()] == "") {
			changes = append(changes, c)
		} else {
			gone = append(gone, c)
		}
	}
	if len(changes) < n {
		return nil, nil, fmt.Errorf("%s: of %d changes %d can still be made: draw others", file, len(d.Changes), len(changes))
	}
	return changes, gone, nil
}
