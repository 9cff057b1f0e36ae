package gssapi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

const (
	// largestReply bounds what a KDC may send: tickets with the groups of a Windows domain have some 64 KiB.
	largestReply = 1 << 20
	// firstRepeat is after how long a datagram is sent again, doubled each time.
	firstRepeat = time.Second
)

// converseTCP sends a request, with its length before it, and reads the reply (RFC 4120, 7.2.2).
func converseTCP(conn net.Conn, request []byte) ([]byte, error) {
	if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(request))), request...)); err != nil {
		return nil, err
	}
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length == 0 || length > largestReply {
		return nil, fmt.Errorf("the KDC sent a reply of %d bytes, the limit is %d", length, largestReply)
	}
	reply := make([]byte, length)
	if _, err := io.ReadFull(conn, reply); err != nil {
		return nil, err
	}
	return reply, nil
}

// converseUDP sends a request until there is a reply. Whoever calls it closes the connection when the time is over.
func converseUDP(conn net.Conn, request []byte) ([]byte, error) {
	reply := make([]byte, 64<<10)
	for wait := firstRepeat; ; wait *= 2 {
		if _, err := conn.Write(request); err != nil {
			return nil, err
		}
		if err := conn.SetReadDeadline(time.Now().Add(wait)); err != nil {
			return nil, err
		}
		n, err := conn.Read(reply)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return reply[:n], nil
	}
}
