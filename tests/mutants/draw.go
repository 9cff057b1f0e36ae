package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/tests/mistakes"
)

// library has the folders whose code is changed at random: what users link.
var library = []string{"messages", "zkconn", "actors", "locks"}

// site is a place in a file, and what may stand there instead.
type site struct {
	file     string
	from, to int // bytes
	is       string
}

// draw gives the first n changes, in an order that the seed decides, that compile: those that are known have. A change turns a
// comparison, a logical operator, a sum or a condition round, takes a number for the next one, returns
// the other truth value, or leaves a statement out.
func draw(root, seed string, n int, known map[string]string) ([]change, error) {
	var all []site
	for _, folder := range library {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.Contains(path, "/testdata/") || strings.Contains(path, "/adapters/") {
				return err
			}
			found, err := sites(root, path)
			all = append(all, found...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b site) int {
		if c := strings.Compare(a.file, b.file); c != 0 {
			return c
		}
		if a.from != b.from {
			return a.from - b.from
		}
		return strings.Compare(a.is, b.is)
	})
	h := fnv.New64a()
	_, _ = h.Write([]byte(seed))
	r := rand.New(rand.NewPCG(h.Sum64(), 0))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var drawn []change
	for _, s := range all {
		if len(drawn) == n {
			break
		}
		c, err := s.change(root)
		if err != nil {
			return nil, err
		}
		if known[c.key()] != "" || compiles(root, c.Mistake) {
			drawn = append(drawn, c)
		}
	}
	return drawn, nil
}

// change describes the site by its line, so that it is found again although lines above it change.
func (s site) change(root string) (change, error) {
	text, err := os.ReadFile(filepath.Join(root, s.file))
	if err != nil {
		return change{}, err
	}
	begin := bytes.LastIndexByte(text[:s.from], '\n') + 1
	end := s.to
	if i := bytes.IndexByte(text[s.to:], '\n'); i >= 0 {
		end += i
	}
	line := string(text[begin:end])
	changed := string(text[begin:s.from]) + s.is + string(text[s.to:end])
	name := fmt.Sprintf("%s: %q for %q", s.file, squeeze(changed), squeeze(line))
	// The whole file up to the change makes the text occur once.
	return change{"random", mistakes.Mistake{Name: strings.ReplaceAll(name, ": ", " "), What: name,
		Edits: []mistakes.Edit{{File: s.file, Old: string(text[:end]), New: string(text[:begin]) + changed}}}}, nil
}

// squeeze is a text on one line.
func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }

func compiles(root string, m mistakes.Mistake) bool {
	folder, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return false
	}
	defer os.RemoveAll(folder)
	overlay, err := m.Overlay(root, folder)
	if err != nil {
		return false
	}
	build := exec.Command("go", "build", "-overlay", overlay, "./"+filepath.Dir(m.Edits[0].File))
	build.Dir = root
	return build.Run() == nil
}

// turned has what stands for an operator.
var turned = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+",
}

// sites finds the places of a file. Generated files have none.
func sites(root, path string) ([]site, error) {
	name, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(file) {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []site
	put := func(from, to token.Pos, is string) {
		all = append(all, site{file: filepath.ToSlash(name), from: positions.Position(from).Offset,
			to: positions.Position(to).Offset, is: is})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok != token.IMPORT
		case *ast.BinaryExpr:
			if is, ok := turned[n.Op]; ok {
				put(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), is)
			}
		case *ast.IfStmt:
			put(n.Cond.Pos(), n.Cond.End(), "!("+string(text[positions.Position(n.Cond.Pos()).Offset:positions.Position(n.Cond.End()).Offset])+")")
		case *ast.BasicLit:
			if n.Kind == token.INT {
				put(n.Pos(), n.End(), n.Value+"+1")
			}
		case *ast.ReturnStmt:
			for _, result := range n.Results {
				if ident, ok := result.(*ast.Ident); ok && (ident.Name == "true" || ident.Name == "false") {
					put(ident.Pos(), ident.End(), "!"+ident.Name)
				}
			}
		case *ast.ExprStmt, *ast.IncDecStmt:
			put(n.Pos(), n.End(), "")
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				put(n.Pos(), n.End(), "")
			}
		}
		return true
	})
	return all, nil
}
