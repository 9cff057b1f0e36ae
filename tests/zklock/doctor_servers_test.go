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
	return standIn(t, server, func(word string) (string, bool) {
		return version + ", built on a day\nLatency min/avg/max: 0/0.0/0\nMode: standalone\n", word == "srvr"
	}, nil)
}

// standIn stands before a server and gives its address. It answers the words that answer knows, and passes on all else.
// through wraps the connections of clients that ask for a session; nil leaves them as they are.
func standIn(t *testing.T, server string, answer func(word string) (text string, known bool),
	through func(net.Conn) net.Conn) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var running sync.WaitGroup
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		running.Wait()
	})
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				first := make([]byte, 4)
				if _, err := io.ReadFull(conn, first); err != nil {
					return
				}
				if text, known := answer(string(first)); known {
					_, _ = io.WriteString(conn, text)
					return
				}
				if first[0] == 0 && through != nil { // the length of a connect request, and no word
					conn = through(conn)
				}
				passOn(conn, server, first)
			})
		}
	})
	return listener.Addr().String()
}

// passOn passes what a client sends on to a server, and back what that answers.
func passOn(client net.Conn, server string, first []byte) {
	conn, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	var up sync.WaitGroup
	up.Go(func() {
		_, _ = io.Copy(conn, io.MultiReader(bytes.NewReader(first), client))
		conn.Close()
	})
	_, _ = io.Copy(client, conn)
	client.Close()
	up.Wait()
}
