package actors

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestRefusalOfTheServerItselfIsNoProof: what a server refuses without asking the leader has not
// been committed, so that it does not say that the server shows what was there before.
func TestRefusalOfTheServerItselfIsNoProof(t *testing.T) {
	for name, c := range map[string]struct {
		code int32
		ok   bool
	}{
		"no node":       {-101, true},
		"no auth":       {-102, true},
		"session moved": {-118, false},
		"throttled":     {-127, false},
		"not read-only": {-119, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := catchUp(refusing(t, c.code), "/p")
			if c.ok {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, zkconn.ErrRefused)
		})
	}
}

// refusing dials a server that grants a session and answers every request with an error code.
func refusing(t *testing.T, code int32) *zkconn.Conn {
	t.Helper()
	cfg, err := zkconn.NewConfig("server:2181", zkconn.WithDialer(func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go refuseAll(server, code)
		return client, nil
	}))
	require.NoError(t, err)
	connected := make(chan zkconn.Event, 8)
	conn, err := zkconn.Dial(cfg, 1, func(ev zkconn.Event) { connected <- ev })
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.Equal(t, zkconn.Connected, (<-connected).Kind)
	return conn
}

func refuseAll(conn net.Conn, code int32) {
	defer func() { _ = conn.Close() }()
	if _, err := frame(conn); err != nil {
		return
	}
	granted := binary.BigEndian.AppendUint64([]byte{0, 0, 0, 0, 0, 0, 0x75, 0x30}, 1) // version, timeout, session
	granted = append(binary.BigEndian.AppendUint32(granted, 16), make([]byte, 16)...)
	for reply := granted; ; {
		if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(reply))), reply...)); err != nil {
			return
		}
		request, err := frame(conn)
		if err != nil {
			return
		}
		answer := code
		if op := binary.BigEndian.Uint32(request[4:]); op == 11 { // a ping
			answer = 0
		}
		reply = binary.BigEndian.AppendUint64(append([]byte(nil), request[:4]...), 9) // xid, zxid
		reply = binary.BigEndian.AppendUint32(reply, uint32(answer))
	}
}

func frame(conn net.Conn) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(length[:]))
	_, err := io.ReadFull(conn, body)
	return body, err
}
