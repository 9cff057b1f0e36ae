package readme

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// word is a term of the field, and the words that stood for the same thing once.
type word struct {
	use  string
	not  *regexp.Regexp
	even *regexp.Regexp // what is right although not matches within it; nil for nothing
}

// words are the terms that a reader can rely on: one for each thing.
var words = []word{
	{use: "lock path", not: whole(`base paths?`)},
	{use: "holder", not: whole(`masters?|owners? of (?:a|the|this|that|each) lock|lock owners?`), even: whole(`observer masters?`)},
	{use: "wait, or watch set", not: whole(`vigils?`)},
	{use: "batch, or group commit", not: whole(`compan(?:y|ies)|gather(?:s|ed|ing|ings)?`)},
	{use: "delay", not: whole(`linger(?:s|ed|ing)?|joining`)},
	{use: "burst", not: whole(`(?:comes?|came|coming) home|local run`)},
	{use: "term of the lease", not: whole(`runs? of (?:a|the|its|this) lease|leaseRun`)},
	{use: "remote predecessor", not: whole(`abroad`)},
	{use: "retained node, or retain", not: whole(`la(?:y|ys|id|ying) down|rests|rested|resting|at rest`), even: whole(`rest(?:s|ed|ing) on`)},
	{use: "reuse", not: whole(`t(?:akes?|aken|aking|ook) up`)},
	{use: "same owner, or ownership", not: whole(`kin|claim(?:s|ed|ing)?|stakes?`)},
	{use: "clean up, or remove", not: whole(`settle(?:s|d|ment)?|str(?:ikes?|uck|iking) (?:off|out|from)`)},
	{use: "inherited token", not: whole(`heirs?`)},
	{use: "batch mates", not: whole(`mates?`), even: whole(`batch mates?`)},
	{use: "add to the registry, or remove from it", not: whole(`enroll(?:s|ed|ing)?|the roll|dismiss(?:es|ed|ing)?`)},
	{use: "query, or dispatch", not: whole(`inquir(?:y|ies|es?|ed)|questions?|attend(?:s|ed|ing)?`)},
	{use: "revoke, or revoke request", not: whole(`ask(?:s|ed|ing)?[- ]back`)},
	{use: "deadlock probe", not: whole(`lookouts?`)},
}

// wordsKept are files, and folders, in which one of these words is right, or has to stay.
var wordsKept = []struct{ file, text, reason string }{
	{"actors/gateway/internal/relay/message.go", "Dismiss", "tells a gateway that its request is not wanted; there is no registry"},
	{"actors/gateway/internal/relay/testdata/requester/other_gateway.txt", "dismissed", "as in message.go"},
	{"tests/interop/witness_test.go", "Claims", "what holders say to the witness"},
	{"tests/interop/", "claim", "what a holder says to the witness of those with whom it may be inside; not whose a hold is"},
}

// TestWords: one word for each thing, the field's. The words on the other side of the list stand in no name that is
// exported, no doc comment of one, no package doc, no page, no log message, no help text of a command, no reason of a
// notice, no page of the dashboard, no name of a test or its file, and no comment of a story. The changelog may have
// them, since it names what was once called so. Generated files follow those that they are made of.
//
// Some words for which there is a better one cannot be looked for, because they are right elsewhere:
//
//   - leader: ZooKeeper's servers and an election have one; only a holder of a lock must not be called so.
//   - owner: the actor that a request belongs to; not who holds a lock.
//   - guard: the condition of a row of the machine; not a holder.
//   - look, keep, admit, turn, row, forget, lack, facts, learn, task, shares, join, under, handed, late, old: ordinary
//     words of English. They should not be names for a wait set, a burst, a clean-up, path info, a query, a shared
//     hold, the start of a hand-over, or what is stale. But a Group is joined, and a table has rows.
//   - rest: the noun is ordinary; the verb, for a node that is retained, is looked for.
//   - strike: what a fault does; only to strike off is looked for.
//   - ahead and second: looking ahead and the unit of time are right.
//   - ticket: Kerberos has them; a request is a contender.
//   - lease: right for the bound of a hold; a session's knowledge of itself is its info.
//   - disconnected: right for a connection; a holder is suspended, and a session expired.
func TestWords(t *testing.T) {
	met := make([]bool, len(wordsKept))
	for _, p := range places(t) {
		for _, w := range words {
			for _, found := range w.find(p.text) {
				kept := slices.IndexFunc(wordsKept, func(k struct{ file, text, reason string }) bool {
					return strings.HasPrefix(p.file, k.file) && strings.EqualFold(k.text, found)
				})
				if kept < 0 {
					t.Errorf("%s, %s: %q; use %s", p.file, p.what, found, w.use)
					continue
				}
				met[kept] = true
			}
		}
	}
	for i, k := range wordsKept {
		if !met[i] {
			t.Errorf("%s does not say %q any more: take it off the list", k.file, k.text)
		}
	}
}

// find gives what is to be called otherwise in a text.
func (w word) find(text string) []string {
	if w.even != nil {
		text = w.even.ReplaceAllString(text, "")
	}
	return w.not.FindAllString(text, -1)
}

// whole is a regular expression of whole words, whose spaces may be line ends.
func whole(words string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(words, " ", `\s+`) + `)\b`)
}

// text is something for people to read: what it is, and where.
type text struct{ file, what, text string }

// places gives all texts that are looked at.
func places(t *testing.T) (all []text) {
	t.Helper()
	for _, p := range readPages(t, root) {
		if p.name != "CHANGELOG.md" {
			all = append(all, text{p.name, "the page", linked.ReplaceAllString(p.prose, "$1")})
		}
	}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != root:
			return filepath.SkipDir
		case entry.IsDir() && entry.Name() == "testdata":
			all = append(all, readStories(t, path)...)
			return filepath.SkipDir
		case filepath.Ext(path) == ".html":
			page, err := os.ReadFile(path)
			all = append(all, text{inRepository(t, path), "the page", string(page)})
			return err
		case filepath.Ext(path) != ".go":
			return nil
		case strings.HasSuffix(path, "_test.go"):
			all = append(all, readTests(t, path)...)
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err == nil && !ast.IsGenerated(file) {
			all = append(all, readFile(inRepository(t, path), file)...)
		}
		return err
	}))
	require.Greater(t, len(all), 1000)
	return all
}

// readFile gives the texts of a Go file: its package doc, its exported names with their comments, and its log messages.
func readFile(path string, file *ast.File) (all []text) {
	add := func(what, s string) {
		if s != "" {
			all = append(all, text{path, what, s})
		}
	}
	add("the package doc", file.Doc.Text())
	name := func(name *ast.Ident, comments ...*ast.CommentGroup) {
		if !name.IsExported() {
			return
		}
		add("the name "+name.Name, apart(name.Name))
		for _, c := range comments {
			add("the comment of "+name.Name, c.Text())
		}
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil || exportedType(decl.Recv.List[0].Type) {
				name(decl.Name, decl.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				readSpec(name, decl.Doc, spec)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			add("a log message", logged(n))
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && (key.Name == "Short" || key.Name == "Long") {
				add("a help text", said(n.Value))
			}
		case *ast.ValueSpec:
			if of, ok := n.Type.(*ast.Ident); ok && of.Name == "Reason" && len(n.Values) == 1 {
				add("a reason", said(n.Values[0]))
			}
		}
		return true
	})
	return all
}

// readSpec gives the names of a declaration to a function, and those of its fields and methods, with their comments.
func readSpec(name func(*ast.Ident, ...*ast.CommentGroup), doc *ast.CommentGroup, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, n := range spec.Names {
			name(n, doc, spec.Doc, spec.Comment)
		}
	case *ast.TypeSpec:
		name(spec.Name, doc, spec.Doc, spec.Comment)
		var fields *ast.FieldList
		switch of := spec.Type.(type) {
		case *ast.StructType:
			fields = of.Fields
		case *ast.InterfaceType:
			fields = of.Methods
		}
		if fields == nil || !spec.Name.IsExported() {
			return
		}
		for _, field := range fields.List {
			for _, n := range field.Names {
				name(n, field.Doc, field.Comment)
			}
		}
	}
}

// exportedType reports whether a receiver's type is exported.
func exportedType(of ast.Expr) bool {
	switch of := of.(type) {
	case *ast.StarExpr:
		return exportedType(of.X)
	case *ast.IndexExpr:
		return exportedType(of.X)
	case *ast.Ident:
		return of.IsExported()
	}
	return false
}

var (
	logs = regexp.MustCompile(`^(?:Debug|Info|Warn|Error)(?:Context)?$`)
	hump = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)
)

// logged gives the text that a call writes to a log, as far as it stands there; "" for any other call.
func logged(call *ast.CallExpr) string {
	of, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !logs.MatchString(of.Sel.Name) {
		return ""
	}
	var all []string
	for _, argument := range call.Args {
		if s := said(argument); s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, ", ")
}

// apart are the words of a name.
func apart(name string) string {
	for name != hump.ReplaceAllString(name, "$1$3 $2$4") {
		name = hump.ReplaceAllString(name, "$1$3 $2$4")
	}
	return name
}

func TestWordsAreFound(t *testing.T) {
	require.Equal(t, "Permits Set", apart("PermitsSet"))
	require.Equal(t, "With ACL Func", apart("WithACLFunc"))
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", `// Package x has a
// vigil.
package x

// A is like kin. B lays
// down.
type A struct {
	Lookout int // of the roll
	hidden  int // at a company
}

// LayDown is of the A.
func (a *A) LayDown() { log.Warn("the claim", "heir", a.hidden); print("master") }

func (a *a) Linger() {}

const Herd, Kind, Mate = 1, 2, 3 // batch mates
`, parser.ParseComments)
	require.NoError(t, err)
	var found []string
	for _, p := range readFile("x.go", file) {
		for _, w := range words {
			for _, s := range w.find(p.text) {
				found = append(found, p.what+": "+strings.Join(strings.Fields(s), " "))
			}
		}
	}
	require.ElementsMatch(t, []string{"the package doc: vigil", "the comment of A: kin", "the comment of A: lays down",
		"the name Lookout: Lookout", "the comment of Lookout: the roll", "the name LayDown: Lay Down", "a log message: claim",
		"a log message: heir", "the name Mate: Mate"}, found)
}
