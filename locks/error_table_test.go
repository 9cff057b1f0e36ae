package locks

import (
	"cmp"
	"errors"
	"fmt"
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
	all := readErrors(t)
	var rows []string
	for _, row := range all.rows {
		if !strings.HasPrefix(row, "context.") {
			rows = append(rows, all.origin(row))
		}
	}
	require.Equal(t, slices.Compact(slices.Sorted(slices.Values(rows))), slices.Sorted(slices.Values(rows)), "two rows")
	var declared []string
	for name := range all.values {
		pkg, _, _ := strings.Cut(name, ".")
		singletons := strings.HasPrefix(name, "actors.ErrSingleton") // causes of the end of their actors' contexts
		if apart[pkg] == "" && !singletons && all.origin(name) == name {
			declared = append(declared, name)
		}
	}
	require.ElementsMatch(t, declared, rows)
	require.Greater(t, len(declared), 40)
	require.GreaterOrEqual(t, len(all.types), 3)
	for name, unwraps := range all.types {
		require.True(t, unwraps, "%s has no Unwrap, so that nobody can say whether it may pass", name)
	}
}

// TestEveryReasonHasOneRow, and every row a word.
func TestEveryReasonHasOneRow(t *testing.T) {
	var reasons []messages.Reason
	for _, row := range errorTable {
		reasons = append(append(reasons, row.reasons...), row.rather...)
		require.NotEmpty(t, row.inOneWord(), row.err)
		if row.word != "" {
			require.Empty(t, slices.Concat(row.reasons, row.rather), "%v has the word of its reason", row.err)
			require.Regexp(t, "^[a-z]+(_[a-z]+)*$", row.word)
		}
		require.Equal(t, row.mayPass(), MayPass(fmt.Errorf("wrapped: %w", row.err)), row.err)
		require.Equal(t, len(row.reasons)+len(row.rather) > 0, row.passes == asReason, row.err)
		require.Equal(t, row.inOneWord(), errorType(row.err), "an earlier row matches: %v", row.err)
		for _, reason := range row.reasons {
			for _, usual := range []error{ErrFailed, ErrLost, context.Canceled} {
				require.Equal(t, row.err, sentinel(reason, usual), reason)
			}
		}
		for _, reason := range row.rather {
			require.Equal(t, ErrLost, sentinel(reason, ErrLost), reason)
		}
		for _, reason := range slices.Concat(row.reasons, row.rather) {
			require.Equal(t, row.mayPass(), reason.MayPass(), "%v, %v", row.err, reason)
		}
	}
	require.ElementsMatch(t, messages.Reasons(), reasons)
	require.False(t, MayPass(nil))
	require.False(t, MayPass(errors.New("somebody's")))
	require.False(t, MayPass(errors.Join(ErrLost, ErrClosed)), "lost because the client was closed")
	require.True(t, MayPass(sentinel(messages.ReasonGatewayFull, ErrFailed)))
	require.Equal(t, "_OTHER", errorType(errors.New("somebody's")))
}

// TestMayPassSaysWhatItDoes: its doc comment names the errors that may pass, and no other.
func TestMayPassSaysWhatItDoes(t *testing.T) {
	all := readErrors(t)
	_, list, _ := strings.Cut(all.mayPass, "May pass:")
	list, _, _ = strings.Cut(list, "Somebody else holds")
	var said, passing []string
	for _, name := range regexp.MustCompile(`(\w+\.)?(Err|Deadline)\w+`).FindAllString(list, -1) {
		said = append(said, all.origin(name))
	}
	for i, row := range errorTable {
		if row.mayPass() {
			passing = append(passing, all.origin(all.rows[i]))
		}
	}
	require.ElementsMatch(t, passing, said)
}

// sources has the errors that the module's source declares. Errors of this package have no package
// before their names.
type sources struct {
	values  map[string]string // of exported error variables; what they are copied from, or ""
	types   map[string]bool   // exported error types; whether they unwrap
	rows    []string          // of errorTable, in order
	mayPass string            // the doc comment
}

// origin is the name under which an error is declared first.
func (s *sources) origin(name string) string {
	for s.values[name] != "" {
		name = s.values[name]
	}
	return name
}

func readErrors(t *testing.T) *sources {
	t.Helper()
	s := &sources{values: map[string]string{}, types: map[string]bool{}}
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
				declared = append(declared, pkg+"."+found[1])
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

// TestMayPassSaysWhatItDoes: its doc comment names the errors that may pass, and no other.
func TestMayPassSaysWhatItDoes(t *testing.T) {
	_, list, _ := strings.Cut(read(t, "error_table.go"), "May pass:")
	list, _, _ = strings.Cut(list, "Somebody else holds")
	names, _ := rowNames(t)
	var passing []string
	for i, row := range errorTable {
		if row.passes {
			passing = append(passing, names[i])
		}
	}
	require.ElementsMatch(t, passing, regexp.MustCompile(`(\w+\.)?(Err|Deadline)\w+`).FindAllString(list, -1))
}
