package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/mistakes"
)

// TestRealDraw: a seed decides which changes are drawn, and each changes one file that it can be applied to.
func TestRealDraw(t *testing.T) {
	root, err := mistakes.Root()
	require.NoError(t, err)
	first, err := draw(root, "a", 2)
	require.NoError(t, err)
	again, err := draw(root, "a", 2)
	require.NoError(t, err)
	other, err := draw(root, "b", 2)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.NotEqual(t, first, other)
	for _, c := range first {
		_, err := c.Overlay(root, t.TempDir())
		require.NoError(t, err)
	}
}

// TestDrawnAreGone: a change is found again when its text has moved to another file of its package. One whose text is gone, or
// does not compile any more, is replaced by the next.
func TestDrawnAreGone(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "a"), 0o700))
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), []byte(text), 0o600))
	}
	edit := func(name, from, to string) textChange { return textChange{name, "a", from, to} }
	write("go.mod", "module sample\n\ngo 1.25\n")
	write("a/a.go", "package a\n\nvar one = 1\n")
	write("a/moved.go", "package a\n\nvar two = 2\n")
	text, err := json.Marshal(drawn{Changes: []textChange{edit("gone", "var none = 0", "var none = 1"), edit("one", "var one = 1", "var one = 1+1"),
		edit("not compiled", "var one = 1", "var one int = true"), edit("two", "var two = 2", "var two = 2+1"), edit("spare", "var two = 2", "")}})
	require.NoError(t, err)
	write("drawn.json", string(text))
	names := func(all []change) (names []string) {
		for _, c := range all {
			names = append(names, c.key())
		}
		return names
	}
	changes, gone, err := readDrawn(root, filepath.Join(root, "drawn.json"), 2, map[string]string{})
	require.NoError(t, err)
	require.Equal(t, []string{"random one", "random two"}, names(changes))
	require.Equal(t, []string{"random gone", "random not compiled"}, names(gone))
	_, _, err = readDrawn(root, filepath.Join(root, "drawn.json"), 4, map[string]string{})
	require.ErrorContains(t, err, "draw others")
}

// TestResults: a change has one line, which a later result replaces, and which names the test that is asked first next time.
func TestResults(t *testing.T) {
	name := filepath.Join(t.TempDir(), "results.txt")
	for _, r := range [][2]string{{"rules a", missed}, {"rules a b", "x TestX"}, {"rules a", inAll + "timeout in y TestY/z"}} {
		require.NoError(t, writeResult(name, r[0], r[1]))
	}
	known, err := readResults(name)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"rules a": "make test-all: timeout in y TestY/z", "rules a b": "x TestX"}, known)
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, "rules a: make test-all: timeout in y TestY/z\nrules a b: x TestX\n", string(text))
	require.Equal(t, "y TestY/z", finder(known["rules a"]))
}

// TestAsk: a test finds a change that fails again, or stands still by itself. One that fails once has not.
func TestAsk(t *testing.T) {
	root := t.TempDir()
	overlay, changed := filepath.Join(root, "overlay.json"), filepath.Join(root, "changed.go")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "a/a.go"): changed}})
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(root, "a"), 0o700))
	for name, text := range map[string]string{
		"go.mod": "module sample\n\ngo 1.25\n", "a/a.go": "package a\n\nconst Changed = false\n",
		"changed.go": "package a\n\nconst Changed = true\n", "overlay.json": string(replace),
		"a/a_test.go": `package a

import ("os"; "testing"; "time")

func TestPasses(*testing.T) {}

func TestFails(t *testing.T) { t.Run("in part", func(t *testing.T) { if Changed { t.Fail() } }) }

func TestStands(*testing.T) { for Changed { time.Sleep(time.Hour) } }

func TestOnce(t *testing.T) { if os.Mkdir("once", 0o700) == nil { t.Fail() } }
`} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	for test, want := range map[string]string{"TestPasses": "", "": "a TestFails/in_part", "TestStands": "timeout in a TestStands", "TestOnce": ""} {
		a := asked{suites: &suites{root: root}, overlay: overlay, skip: "-skip=^$", quiet: time.Second}
		found, err := a.ask("a", test)
		require.NoError(t, err)
		require.Equal(t, want, found)
		require.Equal(t, test == "TestOnce", a.unsure != "")
	}
}
