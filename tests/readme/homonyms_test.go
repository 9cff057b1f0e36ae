package readme

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// homonyms are names that had several meanings, or none that a reader could guess. Each may be declared so often in a
// folder and below it, by a function, a type, a constant, a variable or a field.
var homonyms = []struct {
	name   string
	in     string
	most   int
	reason string
}{
	{"behind", "messages", 0, "Waiting for a count, WaitsFor for whom a contender waits"},
	{"behind", "actors", 0, "Waiting or followers for a count, predecessor for whom a contender waits"},
	{"behind", "locks", 1, "Error.Behind, which users know"},
	{"place", "actors/internal/coordinator", 4, "of a token: node.place, and Place of what is asked and answered"},
	{"place", "actors/queue", 1, "of a token: Owner.Place; a position in a queue is a Standing or a Position"},
	{"place", "locks", 0, "of a token: messages.Token.Place"},
	{"waits", "actors/internal/coordinator", 0, "isWaiting, awaitsNode, keepsOrder, or waitingCreate"},
	{"left", "actors/internal/coordinator", 1, "time: Lease.Left; a node is leftToOthers"},
	{"waits", "actors/internal/audience", 0, "WaitsFor, of a listener"},
	{"waits", "actors/inspect", 0, "isWaiting"},
	{"waits", "actors/queue", 1, "the waiter of a link, as Member.Waits, which users know; Owner.Who for a caller"},
	{"waits", "locks", 0, "WaitsFor of a listener, mayWait of RunOnce"},
	{"waits", "actors/gateway", 0, "pending for what is sent later; isWaiting; WaitsFor of a listener"},
	{"order", "actors/gateway", 0, "wish, of a request's owner; an order is an effect for the session"},
	{"order", "zkconn/embedded", 0, "propose, and operations of a multi"},
	{"standing", "actors/gateway", 0, "acceptance; a standing is a position in a queue"},
	{"standing", "actors/activation", 0, "incarnation"},
	{"leaving", "actors/gateway", 0, "withdrawn; leaving is the phase of a machine"},
	{"tick", "actors/gateway", 0, "sweep; a tick is the servers' unit of time"},
	{"turn", "actors", 2, "whose turn: of a request that wants a node; become changes a phase"},
	{"tryagain", "", 0, "retryCreates, of creates that are sent again"},
	{"brief", "", 0, "shortHold"},
	{"alarm", "", 0, "timer, and timerFired"},
	{"without", "actors", 0, "expect, switchedOff, or the option's own name"},
	{"broken", "actors/internal/coordinator", 0, "a chain of evidence, or a node that an operator breaks"},
	{"handed", "", 0, "handedOver, or passedOn"},
	{"stands", "actors", 0, "exists, or isValid"},
	{"done", "actors/internal/coordinator", 0, "queryDone, or released"},
	{"line", "actors/internal/coordinator", 3, "requests without a node, of a node, a cohort or a queue; fifo for an order of creates"},
	{"reclaimed", "actors/internal/coordinator", 0, "reclaim"},
	{"run", "actors/internal/coordinator", 0, "burst, for nodes of a session that hold one after the other"},
	{"run", "zkconn/internal/evidence", 0, "term, for a stretch of the lease"},
	{"probe", "actors/internal/coordinator", 0, "pathLookup; a probe looks for deadlocks"},
	{"label", "actors/internal/coordinator", 0, "a label is for people; a hold is reclaimed with a key"},
	{"sameas", "", 0, "expect"},
	{"happening", "", 0, "event"},
	{"hurry", "", 0, "urgent"},
	{"haste", "", 0, "urgent"},
	{"judge", "actors", 0, "decide"},
	{"judge", "zkconn", 0, "decide"},
	{"news", "actors", 0, "event"},
	{"brief", "actors", 0, "shortHold"},
	{"alarm", "actors", 0, "timer, and timerFired"},
	{"joined", "actors/machine", 0, "Seated"},
	{"taken", "actors/machine", 0, "SeatTaken"},
	{"left", "actors/machine", 0, "Unseated"},
}

// TestHomonyms: what does not run as a test declares each of the names as often as it has one meaning, and no more.
func TestHomonyms(t *testing.T) {
	for _, h := range homonyms {
		var found []string
		for _, folder := range []string{"actors", "locks", "messages", "zkconn"} {
			if strings.HasPrefix(h.in, folder) {
				found = append(found, declaredAs(t, h.in, h.name)...)
			} else if h.in == "" {
				found = append(found, declaredAs(t, folder, h.name)...)
			}
		}
		if len(found) > h.most {
			t.Errorf("%s is declared %d times below %q, may be %d times (%s): %s",
				h.name, len(found), h.in, h.most, h.reason, strings.Join(found, ", "))
		}
		if len(found) < h.most {
			t.Errorf("%s is declared %d times below %q: say so in the table, which has %d", h.name, len(found), h.in, h.most)
		}
	}
}

// declaredAs gives where a name is declared below a folder, in any case of its letters: not in tests, nor in what is
// generated, nor within functions.
func declaredAs(t *testing.T, folder, name string) (at []string) {
	t.Helper()
	files := token.NewFileSet()
	require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		add := func(all ...*ast.Ident) {
			for _, id := range all {
				if strings.EqualFold(id.Name, name) {
					at = append(at, fmt.Sprintf("%s:%d", inRepository(t, path), files.Position(id.Pos()).Line))
				}
			}
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				add(f.Name)
				continue
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncType, *ast.FuncLit:
					return false
				case *ast.TypeSpec:
					add(n.Name)
				case *ast.ValueSpec:
					add(n.Names...)
				case *ast.Field:
					add(n.Names...)
				}
				return true
			})
		}
		return nil
	}))
	return at
}

// fieldWords are the words by which people look for a problem, and the files that deal with it.
var fieldWords = []struct {
	word  string
	files []string
}{
	{`thundering herd`, []string{"locks/doc.go", "actors/FLOWS.md", "actors/internal/coordinator/wait.go", "zkconn/retry/retry.go"}},
	{`split brain`, []string{"README.md", "locks/doc.go", "locks/election_run.go", "zkconn/doc.go", "zkconn/lease_clock.go"}},
	{`lost wake-up`, []string{"locks/doc.go", "actors/FLOWS.md", "actors/internal/coordinator/wait.go", "actors/internal/walk/doc.go"}},
	{`back-pressure`, []string{"locks/options.go", "locks/lock_options.go", "actors/internal/coordinator/admission.go",
		"actors/internal/coordinator/max_waiters.go", "zkconn/outbox.go"}},
	{`reentrant`, []string{"README.md", "locks/lock_options.go", "actors/internal/coordinator/same_owner.go"}},
	{`keepalive`, []string{"zkconn/doc.go", "zkconn/keepalive.go", "actors/internal/coordinator/heartbeat.go"}},
	{`pipelining`, []string{"locks/doc.go", "actors/FLOWS.md", "zkconn/sent_creates.go"}},
	{`group commit`, []string{"locks/doc.go", "actors/FLOWS.md", "actors/internal/coordinator/batch.go"}},
}

// TestFieldWords: each file says the word, in prose, that a reader searches for.
func TestFieldWords(t *testing.T) {
	for _, w := range fieldWords {
		say := regexp.MustCompile(`(?i)\b` + strings.ReplaceAll(w.word, " ", `[\s/]+`))
		for _, name := range w.files {
			source, err := os.ReadFile(filepath.Join(root, name))
			require.NoError(t, err)
			if filepath.Ext(name) == ".go" {
				file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments|parser.SkipObjectResolution)
				require.NoError(t, err)
				source = nil
				for _, c := range file.Comments {
					source = append(source, c.Text()...)
				}
			}
			if !say.Match(source) {
				t.Errorf("%s does not say %q any more", name, w.word)
			}
		}
	}
}
