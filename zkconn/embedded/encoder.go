package embedded

import "encoding/binary"

// encoder appends jute records to a buffer.
type encoder struct{ buf []byte }

func (e *encoder) int32(v int32) { e.buf = binary.BigEndian.AppendUint32(e.buf, uint32(v)) }
func (e *encoder) int64(v int64) { e.buf = binary.BigEndian.AppendUint64(e.buf, uint64(v)) }

func (e *encoder) bool(v bool) {
	if v {
		e.buf = append(e.buf, 1)
		return
	}
	e.buf = append(e.buf, 0)
}

func (e *encoder) text(s string) {
	s = surrogates(s)
	e.int32(int32(len(s)))
	e.buf = append(e.buf, s...)
}

// bytes writes a buffer: null for nil.
func (e *encoder) bytes(b []byte) {
	if b == nil {
		e.int32(-1)
		return
	}
	e.int32(int32(len(b)))
	e.buf = append(e.buf, b...)
}

func (e *encoder) texts(all []string) {
	e.int32(int32(len(all)))
	for _, s := range all {
		e.text(s)
	}
}

func (e *encoder) stat(s *stat) {
	e.int64(s.czxid)
	e.int64(s.mzxid)
	e.int64(s.ctime)
	e.int64(s.mtime)
	e.int32(s.version)
	e.int32(s.cversion)
	e.int32(s.aversion)
	e.int64(s.owner)
	e.int32(s.dataLength)
	e.int32(s.numChildren)
	e.int64(s.pzxid)
}

func (e *encoder) acl(all []access) {
	e.int32(int32(len(all)))
	for _, a := range all {
		e.int32(a.perms)
		e.text(a.scheme)
		e.text(a.id)
	}
}

// multiHeader precedes each part of a multi's reply.
func (e *encoder) multiHeader(op Op, done bool, err code) {
	e.int32(int32(op))
	e.bool(done)
	e.int32(int32(err))
}

// open begins a frame: it leaves room for the length, which close fills in.
func (e *encoder) open() (mark int) {
	e.int32(0)
	return len(e.buf)
}

func (e *encoder) close(mark int) {
	binary.BigEndian.PutUint32(e.buf[mark-4:], uint32(len(e.buf)-mark))
}

func (e *encoder) replyHeader(xid int32, zxid int64, err code) {
	e.int32(xid)
	e.int64(zxid)
	e.int32(int32(err))
}
