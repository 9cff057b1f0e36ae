package simulation

import (
	"encoding/binary"
	"net"
	"slices"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// operator is a client without the library: one request after the other, each answered at once. After an error
// nothing more is sent.
type operator struct {
	conn net.Conn
	xid  int32
	zxid int64 // of the newest answer
	err  error
}

// greet asks for a session.
func (o *operator) greet() {
	b := binary.BigEndian.AppendUint32(nil, 0)   // version
	b = binary.BigEndian.AppendUint64(b, 0)      // last zxid seen
	b = binary.BigEndian.AppendUint32(b, 10_000) // timeout
	b = binary.BigEndian.AppendUint64(b, 0)      // no session yet
	b = appendText(b, string(make([]byte, 16)))  // its password
	o.exchange(append(b, 0))                     // read-only will not do
}

func (o *operator) set(path, data string) {
	body := appendText(appendText(nil, path), data)
	o.call(embedded.OpSetData, binary.BigEndian.AppendUint32(body, 0xffffffff))
}

// delete gives the zxid of the deletion.
func (o *operator) delete(path string) int64 {
	o.call(embedded.OpDelete, binary.BigEndian.AppendUint32(appendText(nil, path), 0xffffffff))
	return o.zxid
}

// children gives the children of a path, sorted; nil when it does not exist.
func (o *operator) children(path string) (names []string) {
	r := o.call(embedded.OpGetChildren, append(appendText(nil, path), 0))
	for n := r.int32(); n > 0; n-- {
		names = append(names, r.str())
	}
	slices.Sort(names)
	return names
}

// call gives the body of the answer, empty after an error.
func (o *operator) call(op embedded.Op, body []byte) *reader {
	o.xid++
	b := binary.BigEndian.AppendUint32(nil, uint32(o.xid))
	b = binary.BigEndian.AppendUint32(b, uint32(op))
	r := reader{o.exchange(append(b, body...))}
	r.skip(4)
	o.zxid = r.int64()
	if code := r.int32(); code != 0 {
		return &reader{}
	}
	return &r
}

func (o *operator) exchange(b []byte) []byte {
	if o.err != nil {
		return nil
	}
	if _, o.err = o.conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)); o.err != nil {
		return nil
	}
	var answer []byte
	if answer, o.err = readFrame(o.conn); o.err != nil {
		return nil
	}
	return answer[4:]
}

func appendText(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}
