package embedded

import (
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestHungUpInMemory: a client sees the same as on TCP when a server closes the connection.
func TestHungUpInMemory(t *testing.T) {
	near, far := net.Pipe()
	client := &inMemory{Conn: near}
	require.NoError(t, far.Close())

	_, err := client.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, client.SetDeadline(time.Now()))
	require.NoError(t, client.SetReadDeadline(time.Now()))
	require.NoError(t, client.SetWriteDeadline(time.Now()))
	_, err = client.Write([]byte{1})
	require.ErrorIs(t, err, syscall.EPIPE)

	require.NoError(t, client.Close())
	_, err = client.Write([]byte{1})
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.NotErrorIs(t, err, syscall.EPIPE)
	require.ErrorIs(t, client.SetWriteDeadline(time.Now()), io.ErrClosedPipe)
}
