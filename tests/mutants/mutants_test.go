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

// TestDraw: a seed decides which changes are drawn, and each changes one file that it can still be applied to.
func TestRealDraw(t *testing.T) {
	root, err := mistakes.Root()
	require.NoError(t, err)
	first, err := draw(root, "a", 2, nil)
	require.NoError(t, err)
	again, err := draw(root, "a", 2, nil)
	require.NoError(t, err)
	other, err := draw(root, "b", 2, nil)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.NotEqual(t, first, other)
	for _, c := range first {
		_, err := c.Overlay(root, t.TempDir())
		require.NoError(t, err)
	}
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
		a := asked{suites: &suites{root: root}, folder: root, overlay: overlay, skip: "-skip=^$", quiet: time.Second}
		found, err := a.ask("a", test)
		require.NoError(t, err)
		require.Equal(t, want, found)
		require.Equal(t, test == "TestOnce", a.unsure != "")
	}
}
