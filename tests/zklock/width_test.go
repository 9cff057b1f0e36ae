//go:build linux

package zklock

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// TestFullLines: lines that are as wide as the terminal lose no character, and characters that are shown in two columns
// count for two: a line that is too long would move the whole view.
func TestFullLines(t *testing.T) {
	t.Parallel()
	at := here(t)
	const broad = "夜"
	for letter, label := range map[string]string{"z": strings.Repeat("z", 100), broad: strings.Repeat(broad, 60)} {
		holder, _ := runs(t, at, "run --label % /full -- sh -c", label, holding)
		x := sits(t, command(at, "queue --watch /full"))
		x.shows(t, letter+"…")
		x.shows(t, "q quits")
		x.types(t, "q")
		x.ends(t, 0)
		require.NotContains(t, x.text(), "…\x1b[K", "what is wiped with the cursor in the last column is the last character")
		found := false
		for line := range strings.SplitSeq(x.text(), "\r\n") {
			if strings.Contains(line, letter+"…") {
				found = true
				shown := strings.ReplaceAll(line, "\x1b[K", "")
				columns := utf8.RuneCountInString(shown) + strings.Count(shown, broad)
				require.Contains(t, []int{79, 80}, columns, line)
			}
		}
		require.True(t, found)
		waiter := sits(t, command(at, "run /full -- true"))
		waiter.shows(t, letter+"…")
		holder.leaves(t)
		waiter.ends(t, 0)
		for line := range strings.SplitSeq(waiter.text(), "\r\x1b[K") {
			require.Less(t, utf8.RuneCountInString(line)+strings.Count(line, broad), 80, line)
		}
	}
}
