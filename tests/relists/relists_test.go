package relists

import (
	"fmt"
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
		{bounds{0, 2}, 0, ""},
		{bounds{0, 2}, 2, ""},
		{bounds{0, 2}, 3, "3 times a waiter found"},
	} {
		err := c.are.judge(c.polls)
		if c.wrong == "" {
			require.NoError(t, err, fmt.Sprint(c))
		} else {
			require.ErrorContains(t, err, c.wrong, fmt.Sprint(c))
		}
	}
}
