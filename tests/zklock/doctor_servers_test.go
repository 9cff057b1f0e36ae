package zklock

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// saying stands before a server and answers srvr as one of another version does. It gives the address.
func saying(t *testing.T, server, version string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var running sync.WaitGroup
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		running.Wait()
	})
	serve := func(client net.Conn) {
		defer client.Close()
		first := make([]byte, 4)
		if _, err := io.ReadFull(client, first); err != nil {
			return
		}
		if string(first) == "srvr" {
			_, _ = io.WriteString(client, version+", built on a day\nLatency min/avg/max: 0/0.0/0\nMode: standalone\n")
			return
		}
		conn, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		running.Go(func() {
			_, _ = io.Copy(conn, io.MultiReader(bytes.NewReader(first), client))
			conn.Close()
		})
		_, _ = io.Copy(client, conn)
	}
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { serve(client) })
		}
	})
	return listener.Addr().String()
}
