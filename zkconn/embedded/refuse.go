package embedded

import "slices"

// refuseRequest answers a request with the code of a fault, and does nothing of what it asks.
func (c *conn) refuseRequest(xid int32, request Request, action Action, by *Injection) (open bool) {
	fault := Fault{}
	if by != nil {
		fault = by.fault
	}
	refused := code(fault.Code)
	if refused == codeOK {
		refused = throttledOp
	}
	if action == RefusePart && request.Op.kind() == writing {
		return c.refuseWrite(xid, request, fault, refused)
	}
	c.answered(c.await(), func() bool { // answers keep the order of the requests
		c.reply(xid, c.r.tree.zxid, refused, nil)
		return true
	})
	return true
}

// refuseWrite has the leader make the transaction of a refusal.
func (c *conn) refuseWrite(xid int32, request Request, fault Fault, refused code) (open bool) {
	if !c.r.following() {
		c.park()
		return true
	}
	return c.order(&decoder{}, func(*decoder) (*txn, func([]result) bool) {
		x := &txn{op: opError, session: c.sessionID, code: refused, zxid: c.e.nextZxid(), time: c.e.millis()}
		if request.Op == OpMulti {
			x.op = OpMulti
			x.parts = failed(len(request.Paths), max(0, slices.IndexFunc(request.Paths, fault.names)), refused)
		}
		return x, func(results []result) bool {
			c.answerWrite(xid, request.Op, x, results)
			return true
		}
	})
}
