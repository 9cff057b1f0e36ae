package zkconn

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A connect request is changed to say that no read-only server will do, and in nothing else. Other
// frames are not changed.
func TestConnectRequestSaysThatItIsNotReadOnly(t *testing.T) {
	whole := reattachFrame(stranger{"close", strangerID, strangerPassword, 4000, true, false})
	old := withLength(append([]byte(nil), whole[:len(whole)-1]...)) // as the library writes it
	before := string(old)
	require.Equal(t, whole, withoutReadOnly(old))
	require.Equal(t, before, string(old), "the library's own buffer")
	for _, other := range [][]byte{nil, {0, 0}, whole, old[:len(old)-1], old[:20], closeSessionFrame()} {
		require.Equal(t, other, withoutReadOnly(other))
	}
}
