package zkconn

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHeardIsWhole: after an event, which tells of a transaction and not which, what was heard is not whole until a reply
// has come, whatever that tells of.
func TestHeardIsWhole(t *testing.T) {
	g := &epochGuard{}
	g.toldOf(5)
	require.Equal(t, Heard{Zxid: 5, Whole: true}, g.heard())
	g.behind.Store(true)
	require.Equal(t, Heard{Zxid: 5}, g.heard())
	g.toldOf(4)
	require.Equal(t, Heard{Zxid: 5, Whole: true}, g.heard())
}
