package readme

import (
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

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors gives the anchors of a page's headings.
func anchors(prose string) map[string]bool {
	all := make(map[string]bool)
	for _, found := range heading.FindAllStringSubmatch(prose, -1) {
		all[strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(found[1]), ""), " ", "-")] = true
	}
	return all
}

// TestLinks: files and headings that the pages link to exist.
func TestLinks(t *testing.T) {
	for _, p := range readPages(t, root) {
		for _, found := range link.FindAllStringSubmatch(p.prose, -1) {
			target := found[1] + found[2]
			if strings.Contains(target, "://") {
				continue
			}
			file, anchor, _ := strings.Cut(target, "#")
			if anchor != "" && file == "" && !anchors(p.prose)[anchor] {
				t.Errorf("%s: there is no heading for #%s", p.name, anchor)
			}
			path := p.at(file)
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: %v", p.name, err)
			}
			if linked, err := os.ReadFile(path); anchor != "" && filepath.Ext(file) == ".md" &&
				(err != nil || !anchors(parse(string(linked)).prose)[anchor]) {
				t.Errorf("%s: %s has no heading for #%s", p.name, file, anchor)
			}
		}
	}
}

// TestEveryPageIsFound: from README.md, over links, a reader comes to every page.
func TestEveryPageIsFound(t *testing.T) {
	pages := make(map[string]page)
	for _, p := range readPages(t, root) {
		pages[filepath.Clean(p.at(filepath.Base(p.name)))] = p
	}
	reached := map[string]bool{}
	next := []string{filepath.Join(root, "README.md")}
	for len(next) > 0 {
		p, known := pages[next[0]]
		here := next[0]
		next = next[1:]
		if !known || reached[here] {
			continue
		}
		reached[here] = true
		for _, found := range link.FindAllStringSubmatch(p.prose, -1) {
			file, _, _ := strings.Cut(found[1], "#")
			next = append(next, p.at(file))
		}
	}
	for path, p := range pages {
		if !reached[path] {
			t.Errorf("no link leads from README.md to %s", p.name)
		}
	}
}

var (
	mention = regexp.MustCompile(`\b(?:actors|locks|messages|zkconn|examples|tests)/[A-Za-z0-9_][A-Za-z0-9_./-]*`)
	test    = regexp.MustCompile(`\b(?:Test|Example|Benchmark|Fuzz)_?[A-Z]\w+`)
	website = regexp.MustCompile(`\S*\.(?:com|org|io)/\S*`) // import paths among them
)

// TestPackageDocs: files, folders, tests, examples and benchmarks that pages and package docs name exist.
func TestPackageDocs(t *testing.T) {
	docs, tests := packageDocs(t)
	for _, p := range readPages(t, root) {
		docs[p.name] = p.prose
	}
	require.Greater(t, len(docs), 15)
	named := 0
	for name, doc := range docs {
		doc = website.ReplaceAllString(doc, "")
		for _, path := range mention.FindAllString(doc, -1) {
			named++
			path = strings.TrimRight(path, ".-/")
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(path))); err != nil {
				t.Errorf("%s names %s: %v", name, path, err)
			}
		}
		for _, found := range test.FindAllString(doc, -1) {
			named++
			if !tests[found] {
				t.Errorf("%s names %s: there is no such test", name, found)
			}
		}
	}
	require.NotZero(t, named)
}

// packageDocs gives the package doc of each file that has one, and the tests that are declared.
func packageDocs(t *testing.T) (docs map[string]string, tests map[string]bool) {
	t.Helper()
	docs, tests = make(map[string]string), make(map[string]bool)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != root || entry.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if file.Doc != nil {
			docs[path] = file.Doc.Text()
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && test.MatchString(f.Name.Name) {
				tests[f.Name.Name] = true
			}
		}
		return nil
	})
	require.NoError(t, err)
	return docs, tests
}
