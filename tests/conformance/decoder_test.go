package conformance

import (
	"encoding/binary"
	"errors"
)

var errShort = errors.New("ends too early")

// decoder reads jute. The first thing that is not there makes every later
// answer zero; err tells.
type decoder struct {
	bytes []byte
	err   error
}

func (d *decoder) take(n int) []byte {
	if d.err != nil {
		return make([]byte, min(n, 16))
	}
	if n < 0 || n > len(d.bytes) {
		d.err = errShort
		return make([]byte, 16)
	}
	out := d.bytes[:n]
	d.bytes = d.bytes[n:]
	return out
}

func (d *decoder) int32() int32 { return int32(binary.BigEndian.Uint32(d.take(4))) }
func (d *decoder) int64() int64 { return int64(binary.BigEndian.Uint64(d.take(8))) }
func (d *decoder) bool() bool   { return d.take(1)[0] != 0 }

func (d *decoder) text() text {
	n := d.int32()
	if n == -1 {
		return text{null: true}
	}
	if n < 0 || int(n) > len(d.bytes) {
		d.err = errShort
		return text{}
	}
	return text{value: string(d.take(int(n)))}
}

func (d *decoder) texts() list[text] { return decodeList(d, d.text) }

func (d *decoder) acl() list[aclEntry] {
	return decodeList(d, func() aclEntry {
		return aclEntry{perms: d.int32(), scheme: d.text(), id: d.text()}
	})
}

func decodeList[T any](d *decoder, item func() T) list[T] {
	n := d.int32()
	if n == -1 {
		return list[T]{null: true}
	}
	var out list[T]
	for i := int32(0); i < n && d.err == nil; i++ {
		out.items = append(out.items, item())
	}
	return out
}

// stat is a node's Stat as a server sends it.
type stat struct {
	czxid, mzxid, ctime, mtime  int64
	version, cversion, aversion int32
	owner                       int64
	dataLength, numChildren     int32
	pzxid                       int64
}

func (d *decoder) stat() stat {
	return stat{
		czxid: d.int64(), mzxid: d.int64(), ctime: d.int64(), mtime: d.int64(),
		version: d.int32(), cversion: d.int32(), aversion: d.int32(),
		owner:      d.int64(),
		dataLength: d.int32(), numChildren: d.int32(),
		pzxid: d.int64(),
	}
}
