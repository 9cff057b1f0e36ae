package embedded

import "time"

// noZxid is what an event carries that no transaction has caused, but a client that sets its watches again.
const noZxid = -1

// notify sends a watch event, with the zxid of the transaction that has caused it.
func (c *conn) notify(event eventType, path string, zxid int64) {
	c.out.add(func(e *encoder) {
		e.replyHeader(-1, zxid, codeOK)
		e.int32(int32(event))
		e.int32(syncConnected)
		e.text(path)
	})
	c.countSent()
	if !c.busy {
		c.out.poke()
	}
}

// reply sends the answer to a request; body may be nil.
func (c *conn) reply(xid int32, zxid int64, result code, body func(*encoder)) {
	if c.mute {
		return
	}
	c.out.add(func(e *encoder) {
		e.replyHeader(xid, zxid, result)
		if body != nil {
			body(e)
		}
	})
	c.countSent()
}

func (c *conn) greeting(old bool, timeout time.Duration, id int64, password []byte) {
	c.out.add(func(e *encoder) {
		e.int32(0)
		e.int32(int32(timeout.Milliseconds()))
		e.int64(id)
		e.bytes(password)
		if !old {
			e.bool(false) // not a read-only server
		}
	})
	c.countSent()
}

func (c *conn) countSent() { c.sent++; c.r.sent++ }
