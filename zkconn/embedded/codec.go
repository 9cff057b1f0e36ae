package embedded

import (
	"encoding/binary"
	"errors"
)

// errMalformed means that a record is cut off or not well formed. The request is answered with
// MarshallingError, as ZooKeeper answers it.
var errMalformed = errors.New("embedded: malformed record")

// decoder reads jute records. The first fault is kept in err, and everything after it is zero, so that a
// record is read without a test after every field. It never allocates more than the frame holds.
type decoder struct {
	buf []byte
	err error
}

func (d *decoder) take(n int) []byte {
	if d.err != nil || n < 0 || n > len(d.buf) {
		d.err = errMalformed
		return nil
	}
	head := d.buf[:n]
	d.buf = d.buf[n:]
	return head
}

func (d *decoder) int32() int32 {
	if b := d.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (d *decoder) int64() int64 {
	if b := d.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (d *decoder) bool() bool {
	b := d.take(1)
	return b != nil && b[0] != 0
}

// bytes reads a buffer; nil when it is null on the wire. It shares the frame's memory.
func (d *decoder) bytes() []byte {
	n := d.int32()
	if n == -1 || d.err != nil {
		return nil
	}
	return d.take(int(n))
}

// data reads a buffer that outlives the frame.
func (d *decoder) data() []byte {
	b := d.bytes()
	if b == nil {
		return nil
	}
	return append(make([]byte, 0, len(b)), b...)
}

func (d *decoder) text() string {
	b := d.bytes()
	if b == nil {
		return null
	}
	return readable(b)
}

// texts reads a vector: nil when it is null. One with a negative length is empty, as in jute.
func (d *decoder) texts() []string {
	n := d.int32()
	if n == -1 || d.err != nil {
		return nil
	}
	all := []string{}
	for i := int32(0); i < n && d.err == nil; i++ {
		all = append(all, d.text())
	}
	return all
}

// acl reads an access control list: nil when it is null.
func (d *decoder) acl() []access {
	n := d.int32()
	if n == -1 || d.err != nil {
		return nil
	}
	all := []access{}
	for i := int32(0); i < n && d.err == nil; i++ {
		all = append(all, access{perms: d.int32(), identity: identity{scheme: d.text(), id: d.text()}})
	}
	return all
}

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
