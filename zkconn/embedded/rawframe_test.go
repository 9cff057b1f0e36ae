package embedded_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// access is one entry of an access control list.
type access struct {
	perms      int32
	scheme, id string
}

var openACL = []access{{31, "world", "anyone"}}

// The flags of a create.
const (
	plain      = int32(0)
	ephemeral  = int32(1)
	sequential = int32(2)
	container  = int32(4)
	timed      = int32(5)
)

// The results that the tests speak of.
const (
	ok              = int32(0)
	inconsistent    = int32(-2)
	badArguments    = int32(-8)
	noNode          = int32(-101)
	nodeExists      = int32(-110)
	noWatcher       = int32(-121)
	multiEnd        = int32(-1)
	anyVersion      = int32(-1)
	persistentWatch = int32(0)
	recursiveWatch  = int32(1)
	childrenWatch   = int32(1)
	dataWatch       = int32(2)
	anyWatch        = int32(3)
	lastingWatch    = int32(4) // a persistent one, as checkWatches and removeWatches number it
)

// encode writes fields as jute does.
func encode(fields ...any) (b []byte) {
	for _, field := range fields {
		switch v := field.(type) {
		case bool:
			bit := byte(0)
			if v {
				bit = 1
			}
			b = append(b, bit)
		case int32:
			b = binary.BigEndian.AppendUint32(b, uint32(v))
		case int64:
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		case string:
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...)
		case []byte:
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...)
		case []string:
			b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
			for _, s := range v {
				b = append(b, encode(s)...)
			}
		case []access:
			b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
			for _, a := range v {
				b = append(b, encode(a.perms, a.scheme, a.id)...)
			}
		case raw:
			b = append(b, v...)
		default:
			panic(fmt.Sprintf("no encoding for %T", field))
		}
	}
	return b
}

// raw is bytes that go into a record as they are.
type raw []byte

// createOf is the record of a create.
func createOf(path string, flags int32) raw { return encode(path, []byte("x"), openACL, flags) }

// multiOf is the record of a multi of the given parts.
func multiOf(parts ...raw) raw {
	var all raw
	for _, part := range parts {
		all = append(all, part...)
	}
	return append(all, encode(multiEnd, true, int32(-1))...)
}

// partOf is one part of a multi.
func partOf(op embedded.Op, fields ...any) raw {
	return append(encode(int32(op), false, int32(-1)), encode(fields...)...)
}

// record reads the content of a frame, field by field. A frame that is too short fails the test.
type record struct {
	t    testing.TB
	left []byte
}

func (r *record) take(n int) []byte {
	r.t.Helper()
	require.LessOrEqual(r.t, n, len(r.left), "the frame is too short")
	head := r.left[:n]
	r.left = r.left[n:]
	return head
}

func (r *record) int32() int32 { r.t.Helper(); return int32(binary.BigEndian.Uint32(r.take(4))) }
func (r *record) int64() int64 { r.t.Helper(); return int64(binary.BigEndian.Uint64(r.take(8))) }
func (r *record) bool() bool   { r.t.Helper(); return r.take(1)[0] != 0 }
func (r *record) text() string { r.t.Helper(); return string(r.bytes()) }

func (r *record) bytes() []byte {
	r.t.Helper()
	n := r.int32()
	if n < 0 {
		return nil
	}
	return r.take(int(n))
}

func (r *record) texts() []string {
	r.t.Helper()
	all := []string{}
	for range r.int32() {
		all = append(all, r.text())
	}
	return all
}

// stat is the part of a node's Stat that the tests look at.
type stat struct {
	czxid, mzxid, ctime, mtime int64
	version, cversion          int32
	owner                      int64
	children                   int32
	pzxid                      int64
}

func (r *record) stat() (s stat) {
	r.t.Helper()
	s.czxid, s.mzxid, s.ctime, s.mtime = r.int64(), r.int64(), r.int64(), r.int64()
	s.version, s.cversion = r.int32(), r.int32()
	r.int32() // aversion
	s.owner = r.int64()
	r.int32() // the data's length
	s.children = r.int32()
	s.pzxid = r.int64()
	return s
}

// reply is a reply's header, and what follows it.
type reply struct {
	xid  int32
	zxid int64
	code int32
	record
}

// must fails the test when the request was refused.
func (r reply) must() reply {
	r.t.Helper()
	require.Equal(r.t, ok, r.code, "the request was refused")
	return r
}

// create makes a node, which must succeed, and gives its path.
func (c *rawClient) create(path string, flags int32) string {
	c.t.Helper()
	r := c.call(embedded.OpCreate, createOf(path, flags)).must()
	return r.text()
}

// createContainer makes a container.
func (c *rawClient) createContainer(path string) {
	c.t.Helper()
	c.call(embedded.OpCreateContainer, createOf(path, container)).must()
}

// delete deletes a node, which must succeed.
func (c *rawClient) delete(path string) {
	c.t.Helper()
	c.call(embedded.OpDelete, path, anyVersion).must()
}

// exists reports whether a node is there.
func (c *rawClient) exists(path string) bool {
	c.t.Helper()
	return c.call(embedded.OpExists, path, false).code == ok
}

// stat gives a node's Stat.
func (c *rawClient) stat(path string) stat {
	c.t.Helper()
	r := c.call(embedded.OpExists, path, false).must()
	return r.record.stat()
}

// children lists a node's children.
func (c *rawClient) children(path string) []string {
	c.t.Helper()
	r := c.call(embedded.OpGetChildren, path, false).must()
	return r.texts()
}
