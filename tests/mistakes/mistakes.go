package mistakes

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Mistake is a change of the code that a test suite must find.
type Mistake struct {
	Name  string // one word, for the name of a test
	What  string // what is wrong with it, in one sentence
	Edits []Edit
}

// Edit replaces one text in one file.
type Edit struct {
	File     string // from the root of the module, with slashes
	Old, New string // Old occurs exactly once in the file
}

// LeaseTooLong has leases run for three session timeouts: two contenders hold at once.
var LeaseTooLong = Mistake{
	Name: "lease-too-long",
	What: "a lease is valid for three session timeouts",
	Edits: []Edit{{
		File: "zkconn/round_trips.go",
		Old:  "{ return timeout - fractionOf(timeout, margin) }",
		New:  "{ return 3 * timeout }",
	}},
}

// LeaseFromNewest counts leases from the newest committed transaction, for 0.4 of the session
// timeout, whatever the leader has heard: two contenders hold at once when a link inside the
// ensemble stalls.
var LeaseFromNewest = Mistake{
	Name: "lease-from-newest",
	What: "a committed transaction is taken for a touch of the leader's",
	Edits: []Edit{{
		File: "zkconn/round_trips.go",
		Old:  "k.clock.extend(touched.plus(leaseOf(k.granted)))",
		New:  "_ = touched\n\t\t\tk.clock.extend(f.sent.plus(fractionOf(k.granted, SteadyLease)))",
	}},
}

// WakeUpLost has a session drop the event that a predecessor's node is gone: only the slow poll
// finds out.
var WakeUpLost = Mistake{
	Name: "wake-up-lost",
	What: "the event that a predecessor's node is gone wakes nobody",
	Edits: []Edit{{
		File: "actors/watches.go",
		Old:  "\t\tcase w.vigil != nil:\n\t\t\ts.stirred(w, ev)\n",
		New:  "\t\tcase w.vigil != nil && ev.Kind == zkconn.NodeDeleted:\n\t\tcase w.vigil != nil:\n\t\t\ts.stirred(w, ev)\n",
	}},
}

// DepartureUnseen has a waiter trust a watch on a node that is not there: the predecessor went
// between the listing and the watch, and only the slow poll finds out.
var DepartureUnseen = Mistake{
	Name: "departure-unseen",
	What: "a predecessor that goes between the listing and the watch wakes nobody",
	Edits: []Edit{{
		File: "actors/vigil.go",
		Old:  "case err == nil && !same(), errors.Is(err, zkconn.ErrNoNode):",
		New:  "case err == nil && !same():",
	}, {
		File: "actors/vigil.go",
		Old:  "case err == nil, errors.Is(err, zkconn.ErrNoAuth):",
		New:  "case err == nil, errors.Is(err, zkconn.ErrNoAuth), errors.Is(err, zkconn.ErrNoNode):",
	}},
}

// CreateForgotten has the clean-up pass over a request that ended while the outcome of its create
// was unknown: the node may stay for as long as the session lives.
var CreateForgotten = Mistake{
	Name: "create-forgotten",
	What: "the clean-up forgets nodes whose creation has an unknown outcome",
	Edits: []Edit{{
		File: "actors/contenders.go",
		Old:  "if c.node == \"\" && !c.unsure {",
		New:  "if c.node == \"\" {",
	}},
}

// DeleteForgotten takes a delete of unknown outcome for done: the node may stay for as long as the
// session lives.
var DeleteForgotten = Mistake{
	Name: "delete-forgotten",
	What: "the clean-up forgets nodes whose deletion has an unknown outcome",
	Edits: []Edit{{
		File: "actors/deleting.go",
		Old:  "case err == nil || errors.Is(err, zkconn.ErrNoNode):\n\t\tev.Kind = machine.Deleted",
		New: "case err == nil || errors.Is(err, zkconn.ErrNoNode) || zkconn.OutcomeOf(err) == zkconn.Unknown:\n" +
			"\t\tev.Kind = machine.Deleted",
	}},
}

// All gives every mistake.
func All() []Mistake {
	return []Mistake{LeaseTooLong, LeaseFromNewest, WakeUpLost, DepartureUnseen, CreateForgotten, DeleteForgotten}
}

// Overlay writes the changed files, and the file for the flag -overlay, to dir, and returns the
// latter's path. root is the root of the module. It fails when a text to replace does not occur
// exactly once.
func (m Mistake) Overlay(root, dir string) (string, error) {
	changed, err := m.apply(root)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, text := range changed {
		path := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", fmt.Errorf("mistake %s: %w", m.Name, err)
		}
		replace[filepath.Join(root, filepath.FromSlash(file))] = path
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("mistake %s: %w", m.Name, err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		return "", fmt.Errorf("mistake %s: %w", m.Name, err)
	}
	return path, nil
}

// apply gives the texts of the changed files, by their names.
func (m Mistake) apply(root string) (map[string]string, error) {
	changed := map[string]string{}
	for _, e := range m.Edits {
		text, ok := changed[e.File]
		if !ok {
			b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.File)))
			if err != nil {
				return nil, fmt.Errorf("mistake %s: %w", m.Name, err)
			}
			text = string(b)
		}
		if n := strings.Count(text, e.Old); n != 1 {
			return nil, fmt.Errorf("mistake %s no longer applies: %s has %d times, instead of once, %q",
				m.Name, e.File, n, e.Old)
		}
		changed[e.File] = strings.Replace(text, e.Old, e.New, 1)
	}
	return changed, nil
}

// Root gives the root of the module that the current directory is in.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("root of the module: %w", err)
	}
	for {
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		if err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if !errors.Is(err, os.ErrNotExist) || parent == dir {
			return "", fmt.Errorf("root of the module: %w", err)
		}
		dir = parent
	}
}
