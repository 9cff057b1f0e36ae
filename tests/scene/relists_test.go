package scene

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVerdicts: what a session's count means for its test, with what was said of it.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		are   bounds
		polls int64
		wrong string
	}{
		{bounds{}, 0, ""},
		{bounds{}, 1, "1 times a waiter found"},
		{bounds{1, 1}, 0, "none had to"},
		{bounds{1, 1}, 1, ""},
		{bounds{1, 1}, 2, "2 times a waiter found"},
	} {
		err := c.are.judge(c.polls)
		if c.wrong == "" {
			require.NoError(t, err, fmt.Sprint(c))
		} else {
			require.ErrorContains(t, err, c.wrong, fmt.Sprint(c))
		}
	}
}

// TestListener: the warning is found however the writes cut it, and everything is passed on.
func TestListener(t *testing.T) {
	line := "WARN a waiter found by looking again, a session timeout later, " + warning + ": why path=/p\n"
	for step := range len(line) {
		var to bytes.Buffer
		l := Listen(&to)
		for at := 0; at < len(line); at += step + 1 {
			end := min(at+step+1, len(line))
			_, err := io.WriteString(l, line[at:end])
			require.NoError(t, err)
			require.Equal(t, strings.Contains(line[:end], warning), l.Err() != nil, line[:end])
		}
		require.Equal(t, line, to.String())
		require.ErrorContains(t, l.Err(), "1 times a waiter found")
	}
	require.NoError(t, SaidRelists("what an event had told it"))
	require.ErrorContains(t, SaidRelists(line+line), "2 times a waiter found")
}
