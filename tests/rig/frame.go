package rig

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// frameLimit bounds what is believed of a length prefix. It is far above the
// servers' own bound (jute.maxbuffer, 1 MiB).
const frameLimit = 64 << 20

var errShortFrame = errors.New("rig: frame is too short")

// readFrame reads a length and that many bytes. The frame includes the length, to be passed on as
// it came.
func readFrame(r io.Reader) ([]byte, error) {
	var prefix [4]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(prefix[:])
	if size > frameLimit {
		return nil, fmt.Errorf("rig: a frame of %d bytes", size)
	}
	frame := make([]byte, 4+size)
	copy(frame, prefix[:])
	_, err := io.ReadFull(r, frame[4:])
	return frame, err
}

// reader takes jute values from a frame. After the first value that is not
// there, it returns zeros and remembers the error.
type reader struct {
	rest []byte
	err  error
}

// newReader reads a frame's content, after the length.
func newReader(frame []byte) *reader { return &reader{rest: frame[4:]} }

func (r *reader) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.rest) {
		r.err = errShortFrame
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) int32() int32 {
	b := r.take(4)
	if b == nil {
		return 0
	}
	return int32(binary.BigEndian.Uint32(b))
}

func (r *reader) int64() int64 {
	b := r.take(8)
	if b == nil {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}

func (r *reader) bool() bool {
	b := r.take(1)
	return b != nil && b[0] != 0
}

// buffer reads a length and its bytes; a length of -1 is a null.
func (r *reader) buffer() []byte {
	n := r.int32()
	if n == -1 {
		return nil
	}
	return r.take(int(n))
}

func (r *reader) string() string { return string(r.buffer()) }

// connectReply is a server's answer to the first frame of a connection.
type connectReply struct {
	timeout  int32
	session  int64
	password []byte
}

// accepted reports whether there is a session: a server answers with zeros when
// it has expired or the password is wrong.
func (c connectReply) accepted() bool { return c.session != 0 && c.timeout > 0 }

func parseConnectReply(frame []byte) (connectReply, error) {
	r := newReader(frame)
	r.int32() // protocol version
	reply := connectReply{timeout: r.int32(), session: r.int64(), password: r.buffer()}
	return reply, r.err
}
