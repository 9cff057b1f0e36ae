//go:build linux

package zklock

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

// screenshotsVariable names the folder into which the views are written, as text; without it they are only looked at.
const screenshotsVariable = "TURNSTILE_ZKLOCK_SCREENSHOTS"

// TestScreenshots: the views of a few locks, with a revoke request and a deadlock, at a terminal of 80 columns. No line
// is wider, so none is broken.
func TestScreenshots(t *testing.T) {
	at := here(t)
	client := at.client(t)
	for _, job := range []struct{ path, label string }{{"/backup", "nightly"}, {"/orders/42", "pay"}, {"/reports", "monthly"}} {
		_, _ = runs(t, at, "run --keep --label % % -- sh -c", job.label, job.path, holding)
	}
	for i, label := range []string{"weekly", "by hand"} {
		start(t, at, "run --label % /backup -- sh -c", label, holding)
		awaitQueue(t, at, "/backup", 1, i+1)
	}
	_, err := client.Revoke(scene.Deadline(t), "/reports")
	require.NoError(t, err)
	inADeadlock(t, at)

	for name, view := range map[string]struct{ line, says string }{
		"queue":          {"queue /backup", "/backup: 1 holds, 2 wait"},
		"queue-revoking": {"queue /reports", "revoking"},
		"tree":           {"tree /", "below /: 5 locks, 5 holders, 4 waiters"},
		"tree-long":      {"tree --long /", "“nightly”"},
		"graph":          {"graph /", "1 deadlock"},
		"doctor":         {"doctor", "session"},
	} {
		t.Run(name, func(t *testing.T) {
			x := sits(t, command(at, view.line))
			x.shows(t, view.says)
			select {
			case <-x.over: // graph and doctor end with another status, because of the deadlock
			case <-scene.Deadline(t).Done():
				require.FailNow(t, "it never ended", x.text())
			}
			shown := settled(t, x)
			for line := range strings.SplitSeq(shown, "\n") {
				require.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
			}
			keep(t, name, "$ zklock "+view.line+"\n"+shown)
		})
	}
}

// settled is all that a program has shown that has ended.
func settled(t *testing.T, x *terminal) string {
	t.Helper()
	const end = "\x00" // behind everything that the program wrote
	_, err := x.far.WriteString(end)
	require.NoError(t, err)
	x.shows(t, end)
	shown, _, _ := strings.Cut(x.text(), end)
	return strings.ReplaceAll(shown, "\r\n", "\n")
}

// keep writes a view where that is wanted.
func keep(t *testing.T, name, shown string) {
	t.Helper()
	folder := os.Getenv(screenshotsVariable)
	if folder == "" {
		return
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join("..", "..", folder) // as it was typed at the root of the repository
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, name+".txt"), []byte(shown), 0o644))
}
