package readme

import (
	godoc "go/doc/comment"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
				t.Errorf("%s: %s: %s", path, line, wrong)
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
	if len(words) == 0 || !regexp.MustCompile(`\bUse: +"`+words[0]+`\b`).MatchString(source(t, folder, false)) {
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
		name, _, _ := strings.Cut(tests, "/")
		matches := regexp.MustCompile(name)
		if tests != "" && !slices.ContainsFunc(function.FindAllString(source(t, folder, true), -1), func(f string) bool {
			return test.MatchString(f) && matches.MatchString(strings.TrimPrefix(f, "func "))
		}) {
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

// function matches the beginning of a function that is declared.
var function = regexp.MustCompile(`(?m)^func \w+`)

// defines matches a call that defines a flag, by its name or by a constant. Those with Var are given a variable before.
var defines = regexp.MustCompile(`\.(?:(?:Bool|Duration|Float64|Func|BoolFunc|Int|Int64|String|StringArray|StringSlice|Text|Uint|Uint64)(?:Var)?|Var)P?\(` +
	`(?:&?[\w.\[\]]+, )?(?:"([a-z][\w-]*)"|(\w+)), `)

// flagsOf gives the flags that a package of a program defines, and those of our packages that it
// imports.
func flagsOf(t *testing.T, folder string, ofTests bool) map[string]bool {
	t.Helper()
	known, text := map[string]bool{}, source(t, folder, ofTests)
	for _, found := range regexp.MustCompile(`"github.com/turnstile-locks/turnstile/(examples/.*)"`).FindAllStringSubmatch(text, -1) {
		if !ofTests {
			maps.Copy(known, flagsOf(t, filepath.Join(root, found[1]), false))
		}
	}
	for _, found := range defines.FindAllStringSubmatch(text, -1) {
		if constant := regexp.MustCompile(`\b` + found[2] + ` += "([\w-]+)"`).FindStringSubmatch(text); found[2] != "" && constant != nil {
			found[1] = constant[1]
		}
		known[found[1]] = true
	}
	return known
}

// source is the text of the Go files of a folder, whatever they are built for.
func source(t *testing.T, folder string, withTests bool) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	var all strings.Builder
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") || withTests {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			all.Write(text)
		}
	}
	return all.String()
}
