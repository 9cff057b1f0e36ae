package main

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWindowsSaysWhatItCannotDo: what is built for Windows has no process groups, and the other
// systems' have. Without them the help of run and each run say what does not happen there, and so
// do the manual and the page.
func TestWindowsSaysWhatItCannotDo(t *testing.T) {
	for system, want := range map[string]string{"linux": "true", "darwin": "true", "freebsd": "true", "windows": "false"} {
		require.Equal(t, want, constantOn(t, system, "processGroups"), system)
	}
	source, err := os.ReadFile("run.go")
	require.NoError(t, err)
	for _, line := range []string{"cmd.Long += withoutGroups", `voice.say("run: %s", shortOfGroups)`} {
		require.Contains(t, string(source), "\tif !processGroups {\n\t\t"+line+"\n\t}\n")
	}
	page, err := os.ReadFile("README.md")
	require.NoError(t, err)
	manual, err := os.ReadFile("main.go")
	require.NoError(t, err)
	for name, text := range map[string]string{
		"page": string(page), "manual": strings.ReplaceAll(string(manual), "\n//", " "), "run": shortOfGroups,
	} {
		text = strings.ToLower(strings.Join(strings.Fields(text), " "))
		require.Contains(t, text, "ended without a warning", name)
		require.Contains(t, text, "what it has started is not ended with it, and neither is ended when zklock is killed", name)
	}
	help := strings.Join(strings.Fields(withoutGroups), " ")
	for _, says := range []string{"is ended at once and for good", "Processes that the command has started are not ended with it",
		"When zklock itself is killed, the command runs on", "No signals are passed on"} {
		require.Contains(t, help, says)
	}
}

// constantOn gives the value of a constant in what is built for a system; it must be declared once
// there.
func constantOn(t *testing.T, system, name string) (value string) {
	t.Helper()
	context := build.Default
	context.GOOS, context.CgoEnabled = system, false
	folder, err := context.ImportDir(".", 0)
	require.NoError(t, err)
	for _, file := range folder.GoFiles {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			if spec, is := n.(*ast.ValueSpec); is && spec.Names[0].Name == name {
				require.Empty(t, value, "%s: twice, and in %s", system, file)
				value = spec.Values[0].(*ast.Ident).Name
			}
			return true
		})
	}
	return value
}
