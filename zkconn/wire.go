package zkconn

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// The part of ZooKeeper's wire format that the transport reads. A frame is its length in four bytes
// and that many bytes, big-endian.
const (
	lengthSize = 4
	// requestHeaderSize: length, xid, operation.
	requestHeaderSize = lengthSize + 4 + 4
	// replyHeaderSize: xid, zxid, error; the library reads this much of every reply without looking at its length.
	replyHeaderSize = 4 + 8 + 4

	opCreate          = 1
	opDelete          = 2
	opExists          = 3
	opGetData         = 4
	opSetData         = 5
	opSync            = 9
	opPing            = 11
	opGetChildren2    = 12
	opCheck           = 13
	opMulti           = 14
	opRemoveWatches   = 18
	opCreateContainer = 19
	opSetAuth         = 100
	opCloseSession    = -11

	xidEvent = -1
	xidPing  = -2
	// xidOwn is the xid of our own first request; later ones count down. The library and the
	// servers use other negative xids.
	xidOwn = -1000

	// typeOfError is the type of a part of a multi's answer that was refused, or not tried.
	typeOfError = -1

	// maxFrame bounds a frame from a server, in bytes: the names of a million contenders of one
	// lock path. (Java's client bounds it at 1 MiB by default, which does not list twenty
	// thousand.)
	maxFrame = 64 << 20
	// maxConnectReply bounds a server's reply to a connect request, in bytes; some forty are usual.
	maxConnectReply = 1 << 10
	// maxRequest bounds our requests, in bytes: jute.maxbuffer is 1 MiB - 1 by default, and
	// headers, ACL and the second part of a transaction need room too.
	maxRequest = 1<<20 - 16<<10
)

// requestHead gives the xid and the operation of a frame that the library writes; no operation where
// it is not a whole request.
func requestHead(frame []byte) (xid, op int32) {
	if len(frame) < requestHeaderSize || int(binary.BigEndian.Uint32(frame)) != len(frame)-lengthSize {
		return 0, 0
	}
	return int32(binary.BigEndian.Uint32(frame[lengthSize:])), int32(binary.BigEndian.Uint32(frame[8:]))
}

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

// multiHeaderSize: operation, whether it is the last, error.
const multiHeaderSize = 4 + 1 + 4

// firstCreate gives the path of the first node that a transaction makes, before which only checks
// and deletes may come.
func firstCreate(parts []byte) (string, bool) {
	for len(parts) > multiHeaderSize {
		op := int32(binary.BigEndian.Uint32(parts))
		path, rest, ok := cutString(parts[multiHeaderSize:])
		switch {
		case !ok:
			return "", false
		case op == opCreate:
			return path, true
		case op != opCheck && op != opDelete, len(rest) < 4: // both have a path and a version
			return "", false
		}
		parts = rest[4:]
	}
	return "", false
}

type connectReply struct {
	sessionID int64 // 0: the session has expired
	timeout   time.Duration
	password  []byte // of the session; a copy
}

func parseConnectReply(body []byte) (connectReply, error) {
	const fixed = 4 + 4 + 8
	if _, err := shape("iiiib").check(body); err != nil {
		return connectReply{}, fmt.Errorf("server sent a malformed connect reply: %w", err)
	}
	reply := connectReply{
		timeout:   time.Duration(int32(binary.BigEndian.Uint32(body[4:]))) * time.Millisecond,
		sessionID: int64(binary.BigEndian.Uint64(body[8:])),
	}
	if length := int(int32(binary.BigEndian.Uint32(body[fixed:]))); length > 0 {
		reply.password = bytes.Clone(body[fixed+lengthSize:][:length])
	}
	return reply, nil
}

// requestedSession reads the session out of a connect request: length, protocol version, last zxid,
// timeout, session.
func requestedSession(frame []byte) (int64, error) {
	const at = lengthSize + 4 + 8 + 4
	if len(frame) < at+8 {
		return 0, errors.New("connect request is too short")
	}
	return int64(binary.BigEndian.Uint64(frame[at:])), nil
}

func requestFrame(xid, op int32, body []byte) []byte {
	frame := binary.BigEndian.AppendUint32(nil, uint32(requestHeaderSize-lengthSize+len(body)))
	frame = binary.BigEndian.AppendUint32(frame, uint32(xid))
	frame = binary.BigEndian.AppendUint32(frame, uint32(op))
	return append(frame, body...)
}

// removeWatchFrame asks the server to forget a watch (Watcher.WatcherType numbers the kinds).
func removeWatchFrame(w watch) []byte {
	const onChildren, onData = 1, 2
	kind := uint32(onData)
	if w.children {
		kind = onChildren
	}
	body := append(binary.BigEndian.AppendUint32(nil, uint32(len(w.path))), w.path...)
	return requestFrame(xidOwn, opRemoveWatches, binary.BigEndian.AppendUint32(body, kind))
}

func partHeader(op int32, last bool) []byte {
	header := binary.BigEndian.AppendUint32(nil, uint32(op))
	if last {
		header = append(header, 1)
	} else {
		header = append(header, 0)
	}
	return append(header, 0xff, 0xff, 0xff, 0xff)
}

func withLength(frame []byte) []byte {
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-lengthSize))
	return frame
}

func readReply(from *bufio.Reader, limit uint32) ([]byte, error) {
	var head [lengthSize]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > limit {
		return nil, fmt.Errorf("server sent a frame of %d bytes, the limit is %d", length, limit)
	}
	return readWhole(from, int(length))
}

// readWhole reads that many bytes. It makes room as they come, because a length may be a lie.
func readWhole(from io.Reader, length int) ([]byte, error) {
	const first = 32 << 10
	var whole []byte
	for len(whole) < length {
		had := len(whole)
		room := min(max(2*had, first), length)
		whole = append(make([]byte, 0, room), whole...)[:room]
		if _, err := io.ReadFull(from, whole[had:]); err != nil {
			return nil, err
		}
	}
	return whole, nil
}

const farewellXid = 1

const longestFarewell = 3 * time.Second

func closeSessionFrame() []byte {
	closing := int32(opCloseSession)
	frame := make([]byte, lengthSize, requestHeaderSize)
	frame = binary.BigEndian.AppendUint32(frame, farewellXid)
	frame = binary.BigEndian.AppendUint32(frame, uint32(closing))
	return withLength(frame)
}

func awaitFarewell(from *bufio.Reader) error {
	for {
		body, err := readReply(from, maxFrame)
		if err != nil {
			return err
		}
		if len(body) < replyHeaderSize {
			return fmt.Errorf("server sent a frame of %d bytes, a reply has at least %d", len(body), replyHeaderSize)
		}
		if int32(binary.BigEndian.Uint32(body)) != farewellXid {
			continue // an event
		}
		if code := int32(binary.BigEndian.Uint32(body[replyHeaderSize-4:])); code != 0 {
			return fmt.Errorf("answered with error %d", code)
		}
		return nil
	}
}
