package zkconn

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// The few facts of ZooKeeper's wire format that the transport looks at. A frame is its length in four bytes and that
// many bytes more, everything big-endian.
const (
	lengthSize = 4
	// requestHeaderSize: length, xid, operation.
	requestHeaderSize = lengthSize + 4 + 4
	// replyHeaderSize: xid, zxid, error; what the library reads of every reply without looking at its length.
	replyHeaderSize = 4 + 8 + 4

	opCreate          = 1
	opDelete          = 2
	opExists          = 3
	opGetData         = 4
	opSetData         = 5
	opSetACL          = 7
	opSync            = 9
	opPing            = 11
	opGetChildren2    = 12
	opCheck           = 13
	opMulti           = 14
	opCreate2         = 15
	opCreateContainer = 19
	opCreateTTL       = 21
	opCloseSession    = -11

	xidEvent = -1
	xidPing  = -2
	// xidOwn is that of the first request of our own (keepalive.go); the others count down from it. The library and the
	// servers use other negative ones.
	xidOwn = -1000

	// typeOfError is the type of a part of a multi's answer that was refused, or not tried.
	typeOfError = -1

	// maxFrame bounds what a server may send, in bytes: the names of a million contenders of one lock path. (Java's client
	// bounds it at 1 MiB by default, which is not enough to list twenty thousand.)
	maxFrame = 64 << 20
	// maxConnectReply bounds what a server may say to a connect request; some forty bytes are usual.
	maxConnectReply = 1 << 10
	// maxRequest bounds what we send: jute.maxbuffer is 1 MiB - 1 by default, and headers, ACL and the second part of
	// a transaction need room too.
	maxRequest = 1<<20 - 16<<10
)

// connectReply is what a server says to a connect request.
type connectReply struct {
	sessionID int64 // 0: the session has expired
	timeout   time.Duration
	password  []byte // of the session; a copy
}

// parseConnectReply reads protocol version, timeout in milliseconds, session and password. A password that does not
// fit is left empty: the library finds that out by itself.
func parseConnectReply(body []byte) (connectReply, error) {
	const fixed = 4 + 4 + 8
	if len(body) < fixed {
		return connectReply{}, fmt.Errorf("connect reply of %d bytes is too short", len(body))
	}
	reply := connectReply{
		timeout:   time.Duration(int32(binary.BigEndian.Uint32(body[4:]))) * time.Millisecond,
		sessionID: int64(binary.BigEndian.Uint64(body[8:])),
	}
	if rest := body[fixed:]; len(rest) >= lengthSize {
		length := int(int32(binary.BigEndian.Uint32(rest)))
		if rest = rest[lengthSize:]; length >= 0 && length <= len(rest) {
			reply.password = bytes.Clone(rest[:length])
		}
	}
	return reply, nil
}

// setConnectTimeout writes another timeout into a connect reply that parseConnectReply has read.
func setConnectTimeout(body []byte, d time.Duration) {
	binary.BigEndian.PutUint32(body[4:], uint32(d/time.Millisecond))
}

// requestedSession reads the session out of a connect request: length, protocol version, last zxid, timeout, session.
func requestedSession(frame []byte) (int64, error) {
	const at = lengthSize + 4 + 8 + 4
	if len(frame) < at+8 {
		return 0, errors.New("connect request is too short")
	}
	return int64(binary.BigEndian.Uint64(frame[at:])), nil
}

// withoutReadOnly adds to a connect request that no read-only server will do. The library leaves that out, as clients did
// before ZooKeeper 3.4. It means the same, but costs each server a warning in its log at each connect ("Connection request
// from old client"), and servers wait for a slow log.
func withoutReadOnly(frame []byte) []byte {
	const fixed = 4 + 8 + 4 + 8 + lengthSize // up to the password
	body := len(frame) - lengthSize
	if body < fixed || int(binary.BigEndian.Uint32(frame)) != body {
		return frame
	}
	if password := int(binary.BigEndian.Uint32(frame[fixed:])); body != fixed+password {
		return frame
	}
	return withLength(append(bytes.Clone(frame), 0))
}

// requestOp gives the operation of a frame that the library writes, 0 where it is not a whole request.
func requestOp(frame []byte) int32 {
	if len(frame) < requestHeaderSize || int(binary.BigEndian.Uint32(frame)) != len(frame)-lengthSize {
		return 0
	}
	return int32(binary.BigEndian.Uint32(frame[8:]))
}

// requestXid gives the number of a frame that requestOp knows.
func requestXid(frame []byte) int32 { return int32(binary.BigEndian.Uint32(frame[lengthSize:])) }

// requestPath gives the path that a request begins with.
func requestPath(frame []byte) (string, bool) {
	path, _, ok := cutString(frame[requestHeaderSize:])
	return path, ok
}

// cutString takes a string from the beginning of what a frame says.
func cutString(b []byte) (text string, rest []byte, ok bool) {
	if len(b) < 4 {
		return "", nil, false
	}
	length := int(int32(binary.BigEndian.Uint32(b)))
	if length < 0 || length > len(b)-4 {
		return "", nil, false
	}
	return string(b[4 : 4+length]), b[4+length:], true
}
