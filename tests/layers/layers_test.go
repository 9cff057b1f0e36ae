package layers

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWrong: what is wrong with an order of files is found.
func TestWrong(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) { require.NoError(t, os.WriteFile(name, []byte("package p\n\n"+text), 0o600)) }
	write("data.go", "type state struct{ n int }\n")
	write("rules.go", "func (s *state) next() { s.n++ }\n")
	write("apply.go", "import \"fmt\"\n\nfunc apply(s *state) { s.next(); fmt.Println(s.n) }\n")
	files, exports := []string{"data.go", "rules.go", "apply.go"}, goList(t, "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", "fmt")

	require.Empty(t, wrong([]string{"data", "rules", "apply"}, files, exports))
	require.Equal(t, []string{"apply.go:5:26 uses next of rules.go, which is above it"},
		wrong([]string{"data", "apply", "rules"}, files, exports))
	require.Equal(t, []string{"gone is in the list, and there is no such file", "rules.go is not in the list"},
		wrong([]string{"data", "gone", "apply"}, files, exports)[:2])
	require.Contains(t, wrong([]string{"data", "rules", "data", "apply"}, files, exports), "data is in the list twice")
}

// TestListed: a list has a name for each layer, and lines that go on.
func TestListed(t *testing.T) {
	order, err := listed("// Text.\n//\n// The files are layers. Each uses those before it:\n//\n" +
		"//\tdata   spec, state\n//\trules  wait; apply,\n//\t       check\npackage p\n")
	require.NoError(t, err)
	require.Equal(t, []string{"spec", "state", "wait", "apply", "check"}, order)
	_, err = listed("// Text.\npackage p\n")
	require.Error(t, err)
}
