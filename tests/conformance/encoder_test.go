package conformance

import "encoding/binary"

// encoder writes jute, ZooKeeper's serialization: big-endian numbers, and a
// four-byte length, -1 for null, before everything that has one.
type encoder struct{ bytes []byte }

func (e *encoder) int32(v int32) { e.bytes = binary.BigEndian.AppendUint32(e.bytes, uint32(v)) }
func (e *encoder) int64(v int64) { e.bytes = binary.BigEndian.AppendUint64(e.bytes, uint64(v)) }

func (e *encoder) bool(v bool) {
	if v {
		e.bytes = append(e.bytes, 1)
	} else {
		e.bytes = append(e.bytes, 0)
	}
}

// text writes a string or a buffer, which look the same.
func (e *encoder) text(v text) {
	if v.null {
		e.int32(-1)
		return
	}
	e.int32(int32(len(v.value)))
	e.bytes = append(e.bytes, v.value...)
}

func (e *encoder) texts(v list[text]) {
	if v.null {
		e.int32(-1)
		return
	}
	e.int32(int32(len(v.items)))
	for _, item := range v.items {
		e.text(item)
	}
}

func (e *encoder) acl(v list[aclEntry]) {
	if v.null {
		e.int32(-1)
		return
	}
	e.int32(int32(len(v.items)))
	for _, item := range v.items {
		e.int32(item.perms)
		e.text(item.scheme)
		e.text(item.id)
	}
}

// frame puts the length that every message has before it.
func frame(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}
