package locks

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// apart are the packages whose errors have no row, and why.
var apart = map[string]string{
	"gateway":     "it imports this package, and its errors are those of starting a gateway",
	"activation":  "actors that are activated get its error, and this package does not import it",
	"gssapi":      "Kerberos is linked only where it is used; Open wraps its errors in zkconn.ErrAuthFailed",
	"outcome":     "package zkconn names its causes",
	"embedded":    "a server for tests",
	"gocronlocks": "a module of its own, for gocron: its errors are those that gocron is given",
}

// row matches the declaration of a row: the name that this package gives the error, and where it comes from.
var row = regexp.MustCompile(`(?m)^\t+(?:([A-Z]\w*|_) += )?(?:because|mayPass|mayNotPass)\([^,]+, ([\w.]+)`)

// rowNames are the names of the errors of errorTable in its order, and the names that other packages have for them.
func rowNames(t *testing.T) (names, origins []string) {
	for _, found := range row.FindAllStringSubmatch(read(t, "errors.go"), -1) {
		names, origins = append(names, cmp.Or(strings.Trim(found[1], "_"), found[2])), append(origins, found[2])
	}
	require.Len(t, names, len(errorTable))
	return names, origins
}

func read(t *testing.T, path string) string {
	source, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(source)
}

// TestEveryErrorHasARow: every exported error variable of the module's packages has a row in errorTable, or its package
// stands apart, and every exported error type unwraps to an error that has a row.
func TestEveryErrorHasARow(t *testing.T) {
	_, origins := rowNames(t)
	made := regexp.MustCompile(`(?m)^(?:var |\t)(Err\w*) (?:error)? *= (?:errors\.New|fmt\.Errorf|outcome)\b`)
	method := regexp.MustCompile(`(?m)^func \(\w* ?\*?([A-Z]\w*)\) (Error|Unwrap)\(\)`)
	alias := regexp.MustCompile(`(?m)^(?:var |\t)([A-Z]\w*) += (\w+\.Err\w+)$`)
	declared, types := []string{}, map[string]string{}
	for _, root := range []string{"../messages", "../zkconn", "../actors", "../locks"} {
		require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "internal" || entry.Name() == "testdata"):
				return fs.SkipDir
			case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			source := read(t, path)
			pkg, _, _ := strings.Cut(source[strings.Index("\n"+source, "\npackage ")+len("package "):], "\n")
			if apart[pkg] != "" {
				return nil
			}
			for _, found := range made.FindAllStringSubmatch(source, -1) {
				if name := pkg + "." + found[1]; !strings.HasPrefix(name, "actors.ErrSingleton") { // causes of the end of their actors' contexts
					declared = append(declared, name)
				}
			}
			for _, found := range alias.FindAllStringSubmatch(source, -1) {
				if slices.Contains(origins, pkg+"."+found[1]) {
					origins = append(origins, found[2])
				}
			}
			for _, found := range method.FindAllStringSubmatch(source, -1) {
				types[pkg+"."+found[1]] += found[2]
			}
			return nil
		}))
	}
	require.Subset(t, origins, declared)
	require.Greater(t, len(declared), 34)
	require.GreaterOrEqual(t, len(types), 3)
	for name, methods := range types {
		require.Contains(t, methods, "Unwrap", "nobody can say whether %s may pass", name)
	}
}

// TestRows: each error has one row, and no earlier one matches it. Reasons lead to their errors.
func TestRows(t *testing.T) {
	for i, row := range errorTable {
		require.False(t, slices.ContainsFunc(errorTable[:i], func(other errorRow) bool { return other.err == row.err }), row.err)
		require.Equal(t, row.passes, MayPass(fmt.Errorf("wrapped: %w", row.err)), row.err)
		require.Equal(t, row.word, errorType(row.err), "an earlier row matches: %v", row.err)
		require.Regexp(t, "^[a-z]+(_[a-z]+)*$", row.word)
		if row.reason != messages.ReasonNone {
			require.Equal(t, row.err, sentinel(row.reason), row.reason)
		}
	}
	require.Equal(t, ErrClosed, errorTable[0].err)
	require.Equal(t, ErrFailed, errorTable[len(errorTable)-1].err)
	require.False(t, MayPass(nil))
	require.False(t, MayPass(errors.New("somebody's")))
	require.False(t, MayPass(errors.Join(ErrLost, ErrClosed)), "lost because the client was closed")
	require.True(t, MayPass(sentinel(messages.ReasonGatewayFull)))
	require.Equal(t, ErrFailed, sentinel(messages.ReasonNone))
	require.Equal(t, "_OTHER", errorType(errors.New("somebody's")))
}

// TestDocsSayWhatMayPass: the docs of this package's errors say which may pass, and the doc of MayPass names those of
// other packages.
func TestDocsSayWhatMayPass(t *testing.T) {
	docs, mayPass := map[string]string{}, ""
	for _, file := range files(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				docs[n.Names[0].Name] = strings.Join(strings.Fields(n.Doc.Text()), " ")
			case *ast.FuncDecl:
				if n.Name.Name == "MayPass" {
					mayPass, _, _ = strings.Cut(n.Doc.Text(), "Over gateways")
				}
			}
			return true
		})
	}
	var others []string
	names, _ := rowNames(t)
	for i, row := range errorTable {
		switch doc := docs[names[i]]; {
		case doc != "":
			require.Equal(t, row.passes, strings.Contains(doc, "may pass"), names[i])
		case row.passes:
			others = append(others, names[i])
		}
	}
	require.ElementsMatch(t, others, regexp.MustCompile(`\w+\.(Err|Deadline)\w+`).FindAllString(mayPass, -1))
}
