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
	"path"
	"path/filepath"
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

// draw gives the first n changes, in an order that the seed and the source decide, that compile. A change turns a
// comparison, a logical operator, a sum or a condition round, takes a number for the next one, returns
// the other truth value, or leaves a statement out.
func draw(root, seed string, n int) ([]change, error) {
	var all []site
	for _, folder := range library {
		err := filepath.WalkDir(filepath.Join(root, folder), func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") ||
				strings.Contains(file, "/testdata/") || strings.Contains(file, "/adapters/") {
				return err
			}
			found, err := sites(root, file)
			all = append(all, found...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(seed))
	r := rand.New(rand.NewPCG(h.Sum64(), 0))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var drawn []change
	names := map[string]bool{}
	for _, s := range all {
		if len(drawn) == n {
			break
		}
		c, err := s.change(root)
		if err != nil {
			return nil, err
		}
		for names[c.Name] { // the line occurs more than once
			c.Name += " again"
		}
		if applies(root, c.Mistake, true) {
			names[c.Name] = true
			drawn = append(drawn, c)
		}
	}
	return drawn, nil
}

// change describes the site by its line, and by as many lines around it as its package has once, so that it is found again
// when other lines change, or move to another file.
func (s site) change(root string) (change, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(s.file)))
	if err != nil {
		return change{}, err
	}
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(path.Dir(s.file)), "*.go"))
	if err != nil {
		return change{}, err
	}
	occurs := func(part []byte) (times int) {
		for _, name := range files {
			other, _ := os.ReadFile(name) // if it may not be read, the change does not apply
			if !strings.HasSuffix(name, "_test.go") {
				times += bytes.Count(other, part)
			}
		}
		return times
	}
	begin, end := bytes.LastIndexByte(text[:s.from], '\n')+1, lineEnd(text, s.to)
	name := fmt.Sprintf("%s: %q for %q", s.file, squeeze(string(text[begin:s.from])+s.is+string(text[s.to:end])), squeeze(string(text[begin:end])))
	for occurs(text[begin:end]) > 1 && (begin > 0 || end < len(text)) {
		if begin > 0 {
			begin = bytes.LastIndexByte(text[:begin-1], '\n') + 1
		}
		if end < len(text) {
			end = lineEnd(text, end+1)
		}
	}
	return change{"random", mistakes.Mistake{Name: strings.ReplaceAll(name, ": ", " "), What: name, Edits: []mistakes.Edit{{
		Package: path.Dir(s.file), Old: string(text[begin:end]), New: string(text[begin:s.from]) + s.is + string(text[s.to:end])}}}}, nil
}

// lineEnd is where the line ends in which something stands.
func lineEnd(text []byte, at int) int {
	if at >= len(text) {
		return len(text)
	}
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}

// squeeze is a text on one line.
func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }

// applies reports whether the text is there that a mistake replaces; with compiled, also whether the result compiles.
func applies(root string, m mistakes.Mistake, compiled bool) bool {
	folder, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return false
	}
	defer os.RemoveAll(folder)
	overlay, err := m.Overlay(root, folder)
	if err != nil || !compiled {
		return err == nil
	}
	build := exec.Command("go", "build", "-overlay", overlay, "./"+changedPackage(m))
	build.Dir = root
	return build.Run() == nil
}

// turned has what stands for an operator.
var turned = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+",
}

// sites finds the places of a file. Generated files have none.
func sites(root, file string) ([]site, error) {
	name, err := filepath.Rel(root, file)
	if err != nil {
		return nil, err
	}
	positions := token.NewFileSet()
	parsed, err := parser.ParseFile(positions, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(parsed) {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []site
	put := func(from, to token.Pos, is string) {
		all = append(all, site{file: filepath.ToSlash(name), from: positions.Position(from).Offset,
			to: positions.Position(to).Offset, is: is})
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
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
