package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

var (
	// called finds the calls of zklock in a line of an example, without what the shell does with
	// them.
	called = regexp.MustCompile(`zklock ((?:'[^']*'|"[^"]*"|[^|>;#"'\n])*)`)
	// instantOfShell gives --for its value there.
	instantOfShell = regexp.MustCompile(`"\$\(date [^)]*\)"`)
	shellWord      = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)
)

// TestExamplesOfHelp: the help and the manual page show no command that zklock refuses. Each is
// parsed as the shell hands it over, with its flags and arguments, and is not carried out.
func TestExamplesOfHelp(t *testing.T) {
	checked := 0
	var check func(of *cobra.Command)
	check = func(of *cobra.Command) {
		example := instantOfShell.ReplaceAllString(of.Example, "2026-12-24T02:00Z")
		for _, call := range called.FindAllStringSubmatch(example, -1) {
			checked++
			args := shellWord.FindAllString(call[1], -1)
			for i := range args {
				args[i] = strings.Trim(args[i], `'"`)
			}
			root := rootCommand() // a value of its own for each: flags keep what they were given
			cmd, rest, err := root.Find(args)
			require.NoError(t, err, call[0])
			require.NotSame(t, root, cmd, call[0])
			require.NoError(t, cmd.ParseFlags(rest), call[0])
			require.NoError(t, cmd.ValidateArgs(cmd.Flags().Args()), call[0])
		}
		for _, below := range of.Commands() {
			if below.Name() != "completion" { // cobra's own
				check(below)
			}
		}
	}
	check(rootCommand())
	require.Greater(t, checked, 35)
}
