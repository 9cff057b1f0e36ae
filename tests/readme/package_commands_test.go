package readme

import (
	"go/ast"
	godoc "go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCommandsOfPackageDocs: the commands that package docs show name packages of the module in
// which they are typed, and flags, tests, targets and subcommands that there are. They are not run
// here: many take minutes, or want servers that a reader has. The effects of the programs are for
// their own tests.
func TestCommandsOfPackageDocs(t *testing.T) {
	docs, _ := packageDocs(t)
	checked := 0
	for path, doc := range docs {
		name := inRepository(t, path)
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly)
		require.NoError(t, err)
		own := "" // how the doc of a program calls it
		if file.Name.Name == "main" {
			own = filepath.Base(filepath.Dir(path))
		}
		for _, line := range codeLines(doc) {
			words := typed(line)
			if len(words) == 0 {
				continue
			}
			wrong := ""
			switch words[0] {
			case "make":
				wrong = wrongTarget(t, words[1:])
			case "zklock":
				wrong = wrongZklock(t, words[1:])
			case "go":
				if len(words) < 2 || !goCommand.MatchString(words[1]) {
					continue // a line of Go
				}
				wrong = wrongGo(t, words[1:])
			case own:
				wrong = wrongFlags(t, words[1:], flagsOf(t, filepath.Dir(path), false))
			default:
				continue
			}
			checked++
			if wrong != "" {
				t.Errorf("%s: %s: %s", name, line, wrong)
			}
		}
	}
	require.Greater(t, checked, 45)
}

var goCommand = regexp.MustCompile(`^(-C|run|test|build|install|get|doc|generate)$`)

// codeLines gives the lines of a package doc's blocks of code.
func codeLines(doc string) (lines []string) {
	var parser godoc.Parser
	for _, b := range parser.Parse(doc).Content {
		if code, is := b.(*godoc.Code); is {
			lines = append(lines, strings.Split(code.Text, "\n")...)
		}
	}
	return lines
}

var (
	explained  = regexp.MustCompile(`(  +| +#).*$`)             // what a line says of its command, behind it
	shellWords = regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`) // as a shell takes a line apart, as far as docs need it
	setting    = regexp.MustCompile(`^[A-Z_]+=\S*$`)            // a variable for one command
	optional   = regexp.MustCompile(`^\[|\]$`)                  // brackets around what may be left out
)

// typed takes a command apart: without variables before it, what is said of it, and where its
// output goes.
func typed(line string) []string {
	words := shellWords.FindAllString(explained.ReplaceAllString(strings.TrimSpace(line), ""), -1)
	for len(words) > 0 && setting.MatchString(words[0]) {
		words = words[1:]
	}
	if to := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, ">") || w == "|" }); to >= 0 {
		words = words[:to]
	}
	for i, w := range words {
		words[i] = strings.Trim(optional.ReplaceAllString(w, ""), `'"`)
	}
	return words
}

// wrongTarget says what is wrong with the arguments of make.
func wrongTarget(t *testing.T, words []string) string {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	for _, w := range words {
		if !strings.Contains(w, "=") && !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(w)+`:`).Match(makefile) {
			return "make has no target " + w
		}
	}
	return ""
}

// wrongZklock says what is wrong with the arguments of zklock.
func wrongZklock(t *testing.T, words []string) string {
	folder := filepath.Join(root, "examples", "zklock")
	known := false
	for _, file := range parseFolder(t, folder, false) {
		ast.Inspect(file, func(n ast.Node) bool {
			if pair, is := n.(*ast.KeyValueExpr); is && lastName(pair.Key) == "Use" {
				use, isText := literal(pair.Value, nil)
				known = known || isText && len(words) > 0 && strings.Fields(use)[0] == words[0]
			}
			return true
		})
	}
	if !known {
		return "zklock has no such command"
	}
	return wrongFlags(t, words[1:], flagsOf(t, folder, false))
}

// wrongGo says what is wrong with the arguments of the go command.
func wrongGo(t *testing.T, words []string) string {
	within := root
	if words[0] == "-C" {
		within, words = filepath.Join(root, words[1]), words[2:]
	}
	command, words := words[0], words[1:]
	ofGo := map[string]bool{"o": true} // whether a flag of the go command takes a value
	if command == "test" {
		ofGo = map[string]bool{"v": false, "race": false, "short": false,
			"count": true, "timeout": true, "run": true, "tags": true, "exec": true}
	}
	var packages, rest []string
	tests := ""
	for i := 0; i < len(words); i++ {
		flag, isFlag := strings.CutPrefix(words[i], "-")
		flag, _, whole := strings.Cut(flag, "=")
		takes, gos := ofGo[flag]
		switch {
		case isFlag && gos:
			if flag == "run" {
				tests = strings.TrimPrefix(words[i], "-run=")
			}
			if takes && !whole {
				i++
				if flag == "run" {
					tests = words[i]
				}
			}
		case !isFlag && (len(packages) == 0 || command == "test" && len(rest) == 0):
			packages = append(packages, words[i])
		default:
			rest = append(rest, words[i])
		}
	}
	if len(packages) == 0 {
		return "no package"
	}
	for _, p := range packages {
		folder, found := folderOf(within, p)
		switch {
		case !found:
			return "there is no package " + p
		case moduleOf(folder) != moduleOf(within) && !strings.Contains(p, "@"):
			return p + " is in another module"
		}
		if wrong := wrongFlags(t, rest, flagsOf(t, folder, command == "test")); wrong != "" {
			return wrong
		}
		if tests != "" && !hasTest(t, folder, tests) {
			return p + " has no test " + tests
		}
	}
	return ""
}

// folderOf finds the folder of a package.
func folderOf(within, path string) (folder string, found bool) {
	path, _, _ = strings.Cut(path, "@")
	if own, is := strings.CutPrefix(path, "github.com/turnstile-locks/turnstile"); is {
		within, path = root, "."+own
	}
	folder = filepath.Join(within, filepath.FromSlash(path))
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	return folder, err == nil && (len(files) > 0 || path == ".")
}

// moduleOf gives the folder of the module to which a folder belongs.
func moduleOf(folder string) string {
	for ; ; folder = filepath.Join(folder, "..") {
		_, err := os.Stat(filepath.Join(folder, "go.mod"))
		if err == nil || filepath.Clean(folder) == filepath.Clean(root) {
			return filepath.Clean(folder)
		}
	}
}

// wrongFlags says which flag of a command there is not. Flags end with two dashes.
func wrongFlags(t *testing.T, words []string, known map[string]bool) string {
	t.Helper()
	for _, w := range words {
		if w == "--" {
			break
		}
		name, isFlag := strings.CutPrefix(w, "-")
		if !isFlag || regexp.MustCompile(`^[\d.]`).MatchString(name) { // a number below zero
			continue
		}
		if name, _, _ = strings.Cut(strings.TrimPrefix(name, "-"), "="); !known[name] {
			return "there is no flag -" + name
		}
	}
	return ""
}

// hasTest reports whether a package has a test of this pattern.
func hasTest(t *testing.T, folder, pattern string) bool {
	matches := regexp.MustCompile(pattern)
	for _, file := range parseFolder(t, folder, true) {
		for _, decl := range file.Decls {
			if f, is := decl.(*ast.FuncDecl); is && test.MatchString(f.Name.Name) && matches.MatchString(f.Name.Name) {
				return true
			}
		}
	}
	return false
}

// defines matches the methods that define a flag; those with Var are given a variable before its
// name.
var defines = regexp.MustCompile(
	`^(Bool|Duration|Float64|Func|BoolFunc|Int|Int64|String|StringArray|StringSlice|Text|Uint|Uint64|)(Var)?P?$`)

// flagsOf gives the flags that a package of a program defines, and those of our packages that it
// imports.
func flagsOf(t *testing.T, folder string, ofTests bool) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	files := parseFolder(t, folder, ofTests)
	for _, file := range files {
		for _, imported := range file.Imports {
			path, err := strconv.Unquote(imported.Path.Value)
			require.NoError(t, err)
			if own, is := strings.CutPrefix(path, "github.com/turnstile-locks/turnstile/examples/"); is && !ofTests {
				for flag := range flagsOf(t, filepath.Join(root, "examples", own), false) {
					known[flag] = true
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is {
				return true
			}
			method := defines.FindStringSubmatch(lastName(call.Fun))
			if method == nil || method[1]+method[2] == "" {
				return true
			}
			at := 0
			if method[2] != "" {
				at = 1
			}
			if len(call.Args) > at+1 {
				if name, isText := literal(call.Args[at], files); isText {
					known[name] = true
				}
			}
			return true
		})
	}
	return known
}

// literal gives the text of a literal, or of a constant of these files.
func literal(e ast.Expr, files []*ast.File) (text string, is bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.Ident:
		for _, file := range files {
			for _, decl := range file.Decls {
				constants, is := decl.(*ast.GenDecl)
				if !is || constants.Tok != token.CONST {
					continue
				}
				for _, spec := range constants.Specs {
					values := spec.(*ast.ValueSpec)
					for i, name := range values.Names {
						if name.Name == e.Name && i < len(values.Values) {
							return literal(values.Values[i], nil)
						}
					}
				}
			}
		}
	}
	return "", false
}

// parseFolder parses the files of a folder, whatever they are built for.
func parseFolder(t *testing.T, folder string, withTests bool) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") && !withTests {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
	}
	return files
}
