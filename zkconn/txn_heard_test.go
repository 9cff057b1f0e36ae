package zkconn

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHeardIsWhole: an event does not say which transaction it is of. So Heard is not Whole after
// an event until the next reply, with any zxid.
func TestHeardIsWhole(t *testing.T) {
	g := &epochGuard{}
	g.toldOf(5)
	require.Equal(t, Heard{Zxid: 5, Whole: true}, g.heard())
	g.behind.Store(true)
	require.Equal(t, Heard{Zxid: 5}, g.heard())
	g.toldOf(4)
	require.Equal(t, Heard{Zxid: 5, Whole: true}, g.heard())
}
