package embedded

import "slices"

// handle carries out one request. It reports false when the connection is to be closed after the
// answers so far.
func (c *conn) handle(frame []byte) bool {
	d := decoder{buf: frame}
	xid, op := d.int32(), Op(d.int32())
	if d.err != nil {
		return false
	}
	if c.e.faults.any() || c.e.hook != nil {
		if goOn, open := c.applyFaults(xid, op, d.buf); !goOn {
			return open
		}
	}
	switch op {
	case OpAuth:
		return c.authenticate(xid, &d)
	case OpSASL:
		return c.sasl(xid, &d)
	}
	if c.e.saslRequired && !c.shows(schemeSASL) {
		c.reply(xid, 0, codeRequiresSASL, nil)
		return false
	}
	if !c.r.hear(c) {
		return true
	}
	switch kind := op.kind(); {
	case kind == writing:
		return c.submit(xid, op, &d)
	case op == OpSync:
		return c.sync(xid, &d)
	case len(c.waiting) > 0: // answers keep the order of the requests
		body := slices.Clone(d.buf)
		c.answered(c.await(), func() bool { return c.answerLocally(kind, xid, op, &decoder{buf: body}) })
		return true
	default:
		return c.answerLocally(kind, xid, op, &d)
	}
}

// answerLocally answers a request that needs no leader.
func (c *conn) answerLocally(kind kind, xid int32, op Op, d *decoder) bool {
	if kind == reading {
		return c.answer(xid, op, d)
	}
	c.reply(xid, -1, codeUnimplemented, nil)
	return false
}

// submit has the leader make a transaction of a request, and answers when it has been applied here.
// Without a leader the request waits in vain: the connection is closed when the replica finds the
// others.
func (c *conn) submit(xid int32, op Op, d *decoder) bool {
	if !c.r.following() {
		c.park()
		return true
	}
	return c.propose(d, func(d *decoder) (*txn, func([]result) bool) { return c.decide(xid, op, d) })
}

// decide makes the transaction of a request, at the leader, and the function that answers the
// request when the transaction has been applied. A request without a transaction gets the function
// alone.
func (c *conn) decide(xid int32, op Op, d *decoder) (*txn, func([]result) bool) {
	if op == OpCloseSession { // for any client: a session that is over or has moved is not refused
		x := c.e.closeSession(c.sessionID, c.r)
		return x, func([]result) bool {
			c.reply(xid, x.zxid, codeOK, nil)
			return false
		}
	}
	operations, form := []operation(nil), whole
	if op == OpMulti {
		operations, form = readMulti(d)
	}
	if form == unreadable || !wellFormed(op, *d) {
		return nil, func([]result) bool { // nothing has been begun, and no transaction id taken
			c.reply(xid, c.r.tree.zxid, codeMarshalling, nil)
			return true
		}
	}
	x := c.e.prepare(c, op, d, operations, form)
	return x, func(results []result) bool {
		if x.refusal() == codeSessionMoved {
			return false // the client is on another connection: this one ends without an answer
		}
		c.answerWrite(xid, op, x, results)
		return true
	}
}

func (c *conn) answerWrite(xid int32, op Op, x *txn, results []result) {
	zxid := c.r.tree.zxid
	switch {
	case x.op == opError:
		c.reply(xid, zxid, x.code, nil)
	case op == OpMulti:
		c.reply(xid, zxid, codeOK, func(e *encoder) { multiReply(e, results) })
	case op == OpCreateSession:
		c.greeting(false, c.timeout, c.sessionID, c.e.password(c.sessionID))
	default:
		r := results[0]
		c.reply(xid, zxid, codeOK, func(e *encoder) {
			if op.creates() {
				e.text(r.path)
			}
			if r.stat != nil {
				e.stat(r.stat)
			}
		})
	}
}

func multiReply(e *encoder, results []result) {
	for _, r := range results {
		switch r.op {
		case OpCreate:
			e.multiHeader(OpCreate, false, codeOK)
			e.text(r.path)
		case OpCreate2, OpCreateContainer, OpCreateTTL:
			e.multiHeader(OpCreate2, false, codeOK)
			e.text(r.path)
			e.stat(r.stat)
		case OpSetData:
			e.multiHeader(OpSetData, false, codeOK)
			e.stat(r.stat)
		case opError:
			e.multiHeader(opError, false, r.code)
			e.int32(int32(r.code))
		default:
			e.multiHeader(r.op, false, codeOK)
		}
	}
	e.multiHeader(opError, true, -1)
}

// wellFormed reports whether a write can be read as a whole. Multis and new sessions are read later.
func wellFormed(op Op, d decoder) bool {
	switch op {
	case OpMulti, OpCreateSession:
		return true
	case OpReconfig:
		for range 3 { // the joining, the leaving and the new members
			d.text()
		}
		d.int64()
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
		readCreate(op, &d)
	case OpDelete:
		d.text()
		d.int32()
	case OpSetData:
		d.text()
		d.bytes()
		d.int32()
	case OpSetACL:
		d.text()
		d.acl()
		d.int32()
	case OpDeleteContainer:
		return d.text() != null && d.err == nil
	}
	return d.err == nil
}

func (c *conn) perform(frame []byte) bool {
	c.busy = true
	defer func() { c.busy, c.mute = false, false }()
	open := c.handle(frame) && !c.cutting
	c.r.latency.add(c.e.clock.Now().Sub(c.heard).Milliseconds())
	return open
}

// applyFaults asks the hook and the injected faults for an action on a request, and carries it out.
// goOn says that the request is still to be carried out, open that the connection stays if not.
func (c *conn) applyFaults(xid int32, op Op, body []byte) (goOn, open bool) {
	request := Request{Session: c.sessionID, Op: op, Paths: requestPaths(op, body)}
	if c.e.hook != nil {
		if action := c.e.hook(request); action != Pass {
			return c.applyAction(xid, request, action, nil)
		}
	}
	if i := c.e.faults.strike(request); i != nil {
		return c.applyAction(xid, request, i.fault.Action, i)
	}
	return true, true
}

// applyAction carries out one action on a request. by is the fault's injection; nil for an action
// of the hook.
func (c *conn) applyAction(xid int32, request Request, action Action, by *Injection) (goOn, open bool) {
	switch action {
	case CutBefore:
		return false, false
	case CutAfter:
		c.out.finish() // earlier answers still go out
		c.cutting = true
	case DropReply:
		c.mute = true
	case HoldReplies:
		c.out.hold(+1)
		if by != nil && by.fault.Delay == 0 {
			by.holding = append(by.holding, c.out)
		} else if by != nil {
			c.e.clock.AfterFunc(by.fault.Delay, func() { c.out.hold(-1) })
		}
	case ExpireBefore:
		if s := c.e.sessions[c.sessionID]; s != nil && c.e.leader != nil {
			c.e.expire(s)
		}
		return false, false
	case EndBefore:
		if s := c.e.sessions[c.sessionID]; s != nil && c.e.leader != nil {
			c.e.endElsewhere(s)
		}
	case Refuse, RefusePart:
		return false, c.refuseRequest(xid, request, action, by)
	}
	return true, true
}

// requestPaths reads the paths that a request names.
func requestPaths(op Op, body []byte) []string {
	d := &decoder{buf: body}
	switch op {
	case OpMulti:
		operations, _ := readMulti(d)
		var all []string
		for _, o := range operations {
			all = append(all, o.path)
		}
		return all
	case OpPing, OpCloseSession, OpCreateSession, OpMultiRead, OpAuth, OpSASL, OpSetWatches, OpSetWatches2, OpWhoAmI:
		return nil
	}
	if p := d.text(); d.err == nil && p != null {
		return []string{p}
	}
	return nil
}

// refuseRequest answers a request with the code of a fault, and does not carry it out. The request
// keeps the session alive, as every request does that a server has read.
func (c *conn) refuseRequest(xid int32, request Request, action Action, by *Injection) (open bool) {
	if !c.r.hear(c) {
		return true
	}
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
	return c.propose(&decoder{}, func(*decoder) (*txn, func([]result) bool) {
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
