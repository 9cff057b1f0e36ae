package readme

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// riddles are phrases that go around a thing instead of naming it.
var riddles = []word{
	{use: "the noun: “x: …”, or “x holds …”", not: whole(`(?:is|are) what`)},
	{use: "reports whether, or says that", not: whole(`tells whether`)},
	{use: "the noun: the waiter, the holder, a caller, anyone", not: whole(`who(?:m|so)?ever`)},
	{use: "“no x”, or “ends”", not: whole(`is none`), even: whole(`there is none|is none of|of which is none`)},
	{use: "the noun, as in: “tells the request”", not: whole(`to whom it is|holds who|that whom|ends who|who only tries`)},
	{use: "the waiter, the holder, a request that", not: whole(`(?:node|by|behind|than) (?:of )?who (?:came|comes|had|has|held|waits|asked)`)},
	{use: "the rest of, or the noun", not: whole(`what is left of`)},
	{use: "the outcome of, or what happened to", not: whole(`what (?:becomes|became|has become|had become) of`)},
	{use: "acquired, held, or free", not: whole(`(?:be|was not|were not) had`)},
	// At the beginning of a text, a paragraph, an item or a sentence; not in headings, which begin with another sign.
	{use: "the noun, in place of a sentence that begins with What",
		not:  regexp.MustCompile(`(?:^|\n\s*\n(?:[-*]\s+|\d+\.\s+)?\*{0,2}|\n\s*(?:[-*]|\d+\.)\s+\*{0,2}|[.;:?!]\s+)What\s+[a-z]+(?:\s+\S+){0,3}`),
		even: regexp.MustCompile(`\bWhat\s+[a-z][^.;?!]*\?`)}, // a question
}

// TestRiddles: no comment and no text of any Go file, of a test's either, no comment of a story and nothing else that
// TestWords looks at has one of the phrases. The changelog is not looked at.
func TestRiddles(t *testing.T) {
	for _, said := range append(places(t), comments(t)...) {
		for _, r := range riddles {
			for _, found := range r.find(said.text) {
				t.Errorf("%s, %s: %q; use %s", said.file, said.what, found, r.use)
			}
		}
	}
}

// comments gives the comments and the texts of all Go files but generated ones. A part in back quotes is a quotation.
func comments(t *testing.T) (all []text) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != root || entry.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING && literal.Value[0] == '"' {
				all = append(all, text{inRepository(t, path), fmt.Sprintf("the text in line %d", files.Position(n.Pos()).Line), said(literal)})
			}
			return true
		})
		for _, c := range file.Comments {
			all = append(all, text{inRepository(t, path), fmt.Sprintf("the comment in line %d", files.Position(c.Pos()).Line), quoted.ReplaceAllString(c.Text(), "")})
		}
		return nil
	}))
	require.Greater(t, len(all), 10_000)
	return all
}

// quoted is a quotation within a comment.
var quoted = regexp.MustCompile("`[^`]*`")
