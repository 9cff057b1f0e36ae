package zkconn_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestTxnThatIsTooLarge: the data of sets count as those of creates do. Nothing is sent, so the connection stays.
func TestTxnThatIsTooLarge(t *testing.T) {
	_, conn, guard := guarded(t)
	half := make([]byte, 600<<10)
	for name, ops := range map[string][]zkconn.Op{
		"set":            {{Kind: zkconn.OpSet, Path: "/queue", Data: make([]byte, 2<<20), Version: -1}},
		"set and create": {{Kind: zkconn.OpSet, Path: "/queue", Data: half, Version: -1}, {Kind: zkconn.OpCreate, Path: "/x", Data: half}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := conn.Txn(guard, ops)
			require.ErrorIs(t, err, zkconn.ErrTooLarge)
			require.Equal(t, zkconn.NotSent, zkconn.OutcomeOf(err))
		})
	}
}
