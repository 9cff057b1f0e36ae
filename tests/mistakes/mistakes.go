package mistakes

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Mistake is a change of the code that a test suite must find.
type Mistake struct {
	Name  string // one word, for the name of a test
	What  string // what is wrong with it, in one sentence
	Edits []Edit
	Test  string // the folder and the test that find it, where that is known: actors/queue TestFind
}

// Edit replaces one text in one source file: in a File, or in whichever file of a Package has the text. Both are paths from
// the root of the module, with slashes.
type Edit struct {
	File     string
	Package  string // its tests are not looked at
	Old, New string // Old occurs exactly once in the file, or in all files of the package together
}

// rules is the package of most rules that can be broken.
const rules = "actors/internal/coordinator"

// LeaseTooLong has leases run for three session timeouts: two contenders hold at once.
var LeaseTooLong = Mistake{
	Name: "lease-too-long",
	What: "a lease is valid for three session timeouts",
	Edits: []Edit{{
		Package: "zkconn/lease",
		Old:     "{ return timeout - Fraction(timeout, Margin) }",
		New:     "{ return 3 * timeout }",
	}},
}

// LeaseFromNewest counts leases from the newest committed transaction, for 0.4 of the session
// timeout, without regard to the touches that have reached the leader: two contenders hold at once
// when a link inside the ensemble stalls.
var LeaseFromNewest = Mistake{
	Name: "lease-from-newest",
	What: "a committed transaction is taken for a touch of the leader's",
	Edits: []Edit{{
		Package: "zkconn/lease",
		Old:     "\t\tc.here = max(c.here, touched+Good(c.timeout))\n",
		New:     "\t\t_ = touched\n\t\tc.here = max(c.here, f.sent+Fraction(c.timeout, 0.4))\n",
	}, unbroken, quietTimer}, // that rule knew no chain, which would break before the lease is wrong
}

// unbroken has the chain of evidence last however late a proof comes. Then quietTimer keeps the timer for its end from
// firing over and over.
var (
	unbroken = Edit{
		Package: "zkconn/lease",
		Old:     "if c.timeout > 0 && now >= c.here {",
		New:     "if c.timeout > 0 && now >= c.here && c.phase == broken {",
	}
	quietTimer = Edit{
		Package: "zkconn/lease",
		Old:     "k.timer.Reset(ends - now)",
		New:     "k.timer.Reset(max(ends-now, time.Second))",
	}
)

// ChainUnbroken has proofs count however late they come: a session that its leader has already taken
// off its queue is renewed, and two contenders hold at once when many sessions expire under a slow log.
var ChainUnbroken = Mistake{
	Name:  "chain-unbroken",
	What:  "a proof that comes late counts",
	Edits: []Edit{unbroken, quietTimer},
}

// PartsUnread takes every answer to a multi for evidence whose header says that all is well. A session
// that was ended elsewhere is renewed for as long as its connection stays.
var PartsUnread = Mistake{
	Name: "parts-unread",
	What: "a refusal in a part of a multi's answer is taken for a success",
	Edits: []Edit{{
		Package: "zkconn",
		Old:     "func verdictOfParts(body []byte) verdict {\n",
		New:     "func verdictOfParts(body []byte) verdict {\n\tif len(body) >= 0 {\n\t\treturn decided\n\t}\n",
	}},
}

// WakeUpLost has a session drop the event that a predecessor's node is gone: only the slow poll
// finds out.
var WakeUpLost = Mistake{
	Name: "wake-up-lost",
	What: "the event that a predecessor's node is gone wakes nobody",
	Edits: []Edit{{
		Package: rules,
		Old:     "\tcase change == NodeDeleted:\n\t\tc.wake(",
		New:     "\tcase change == NodeDeleted && !local:\n\tcase change == NodeDeleted:\n\t\tc.wake(",
	}},
}

// DepartureUnseen has a waiter trust a watch on a node that is not there: the predecessor went
// between the listing and the watch, and only the slow poll finds out.
var DepartureUnseen = Mistake{
	Name: "departure-unseen",
	What: "a predecessor that goes between the listing and the watch wakes nobody",
	Edits: []Edit{{
		Package: rules,
		Old:     "\tcase f.is(NoNode):\n\t\tc.wake(",
		New: "\tcase f.is(NoNode):\n\t\tif w.pending == 0 {\n" +
			"\t\t\tc.tell(r, machine.Event{Kind: machine.Watched, Op: w.op})\n\t\t}\n" +
			"\tcase false:\n\t\tc.wake(",
	}},
}

// CreateForgotten has the clean-up pass over a request that ended while the outcome of its create
// was unknown: the node may stay for as long as the session lives.
var CreateForgotten = Mistake{
	Name: "create-forgotten",
	What: "the clean-up forgets nodes whose creation has an unknown outcome",
	Edits: []Edit{{
		Package: rules,
		Old:     "\tcase n.phase == unknown:\n\t\tr.removal.phase = removing\n",
		New: "\tcase n.phase == unknown && r.removal.op == 0:\n\t\tn.phase = absent\n\t\tc.removalDone(r)\n" +
			"\tcase n.phase == unknown:\n\t\tr.removal.phase = removing\n",
	}},
}

// DeleteForgotten takes a delete of unknown outcome for done: the node may stay for as long as the
// session lives.
var DeleteForgotten = Mistake{
	Name: "delete-forgotten",
	What: "the clean-up forgets nodes whose deletion has an unknown outcome",
	Edits: []Edit{{
		Package: rules,
		Old:     "if !f.none() && !f.is(NoNode) {\n\t\tc.removalFailed(",
		New:     "if !f.none() && !f.is(NoNode) && f.Outcome != Unknown {\n\t\tc.removalFailed(",
	}},
}

// DoubtForgotten takes a create of unknown outcome for one that made nothing: where it did make a node, that node stays
// for as long as the session lives, and nobody is granted the lock behind it. A request makes a second node, or ends.
// (CreateForgotten and DeleteForgotten are made up for by the other half of the clean-up as long as the actors of
// requests end in order, as they do in a soak.)
var DoubtForgotten = Mistake{
	Name: "doubt-forgotten",
	What: "a create of unknown outcome is taken for one that made nothing",
	Edits: []Edit{{
		Package: rules,
		Old:     "\t\tc.park(r, machine.Effect{Do: machine.Verify, Op: op})\n",
		New: "\t\tc.park(r, machine.Effect{Do: machine.Verify, Op: op})\n" +
			"\tcase r.node.phase == unknown:\n\t\tr.node.phase = absent\n" +
			"\t\tc.tell(r, machine.Event{Kind: machine.Found, Op: op})\n",
	}},
}

// All gives the mistakes that whole suites find.
func All() []Mistake {
	return []Mistake{LeaseTooLong, LeaseFromNewest, ChainUnbroken, PartsUnread, WakeUpLost, DepartureUnseen, CreateForgotten,
		DeleteForgotten}
}

// ListVariable names the file to which a test that checks that its mistakes apply writes them: see [List].
const ListVariable = "TURNSTILE_MISTAKES"

// List appends mistakes, one as JSON on each line, to the file that TURNSTILE_MISTAKES names, if it
// names one. So those that live in the tests of a package are known to the program mutants.
func List(all ...Mistake) error {
	name := os.Getenv(ListVariable)
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("list mistakes: %w", err)
	}
	to := json.NewEncoder(f)
	for _, m := range all {
		err = cmp.Or(err, to.Encode(m))
	}
	return cmp.Or(err, f.Close())
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
		copied := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			return "", fmt.Errorf("mistake %s: %w", m.Name, err)
		}
		replace[filepath.Join(root, filepath.FromSlash(file))] = copied
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("mistake %s: %w", m.Name, err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", fmt.Errorf("mistake %s: %w", m.Name, err)
	}
	return list, nil
}

// apply gives the texts of the changed files, by their names.
func (m Mistake) apply(root string) (map[string]string, error) {
	changed := map[string]string{}
	for _, e := range m.Edits {
		if err := e.apply(root, changed); err != nil {
			return nil, fmt.Errorf("mistake %s no longer applies: %w", m.Name, err)
		}
	}
	return changed, nil
}

// apply puts the file that it changes into changed, which has what was changed before.
func (e Edit) apply(root string, changed map[string]string) error {
	files, err := e.files(root)
	if err != nil {
		return err
	}
	found, at, whole := 0, "", ""
	for _, file := range files {
		text, ok := changed[file]
		if !ok {
			b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
			if err != nil {
				return err
			}
			text = string(b)
		}
		if n := strings.Count(text, e.Old); n > 0 {
			found, at, whole = found+n, file, text
		}
	}
	if found != 1 {
		return fmt.Errorf("%s%s has %d times, instead of once, %q", e.File, e.Package, found, e.Old)
	}
	changed[at] = strings.Replace(whole, e.Old, e.New, 1)
	return nil
}

// files lists the files in which the text may be, by their names from the root.
func (e Edit) files(root string) ([]string, error) {
	if e.File != "" {
		return []string{e.File}, nil
	}
	all, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(e.Package)))
	var files []string
	for _, entry := range all {
		if name := entry.Name(); path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") {
			files = append(files, path.Join(e.Package, name))
		}
	}
	return files, err
}

// Root gives the folder of Turnstile's module, which the current directory is in; modules of its own below tests are
// passed over.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("root of the module: %w", err)
	}
	for {
		definition, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(definition), "module github.com/turnstile-locks/turnstile\n") {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir || err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("root of the module: %w", cmp.Or(err, os.ErrNotExist))
		}
		dir = parent
	}
}
