package steady

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// packages are those whose operations are counted, by their names, with their folders.
var packages = map[string]string{
	"locks":   "../../locks",
	"actors":  "../../actors",
	"inspect": "../../actors/inspect",
	"gateway": "../../actors/gateway",
	"grain":   "../../actors/gateway/grain",
}

// TestEveryOperation: each exported function and method of the packages is of a row, or keeps nothing.
func TestEveryOperation(t *testing.T) {
	listed := map[string]int{}
	for _, r := range rows {
		for _, op := range strings.Fields(r.of) {
			listed[op] = 1
		}
	}
	for why, ops := range keepNothing {
		for _, op := range strings.Fields(ops) {
			require.Zero(t, listed[op], "%s is of a row, and among %q", op, why)
			listed[op] = 1
		}
	}
	for _, op := range exported(t) {
		if name := op[strings.LastIndexByte(op, '.')+1:]; strings.HasPrefix(name, "With") && listed[op] == 0 {
			continue // an option: what it changes is done by others
		}
		require.NotZero(t, listed[op], "%s is neither of a row, nor among those that keep nothing", op)
		listed[op]++
	}
	for op, times := range listed {
		require.Equal(t, 2, times, "there is no %s", op)
	}
}

// exported lists functions and methods, as "locks.Do" and "locks.Mutex.Lock".
func exported(t *testing.T) (ops []string) {
	t.Helper()
	for name, folder := range packages {
		files := token.NewFileSet()
		sources, err := filepath.Glob(folder + "/*.go")
		require.NoError(t, err)
		var all []*ast.File
		for _, source := range sources {
			if !strings.HasSuffix(source, "_test.go") {
				f, err := parser.ParseFile(files, source, nil, 0)
				require.NoError(t, err)
				all = append(all, f)
			}
		}
		p, err := doc.NewFromFiles(files, all, name)
		require.NoError(t, err)
		funcs := p.Funcs
		for _, typ := range p.Types {
			funcs = append(funcs, typ.Funcs...)
			for _, m := range typ.Methods {
				ops = append(ops, name+"."+typ.Name+"."+m.Name)
			}
		}
		for _, f := range funcs {
			ops = append(ops, name+"."+f.Name)
		}
	}
	slices.Sort(ops)
	return ops
}
