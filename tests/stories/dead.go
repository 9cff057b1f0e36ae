package stories

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// DeadAddress is one that nobody listens at.
func DeadAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}
