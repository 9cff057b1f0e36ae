package embedded

// prepare makes a transaction of a request: what it asks for, or the refusal. A multi has been read already.
func (e *ensemble) prepare(c *conn, op Op, d *decoder, orders []operation, form form) *txn {
	x := &txn{op: op, session: c.sessionID, zxid: e.nextZxid(), time: e.millis()}
	p := preparation{tree: e.leader.tree, session: c.sessionID, standing: e.check(c.sessionID, c.r), who: c.who,
		sasl: e.settings.sasl != nil, zxid: x.zxid, now: x.time}
	switch op {
	case OpMulti:
		x.parts, x.code = p.multi(orders, form)
		if x.code == codeMarshalling {
			x.op, x.parts = opError, nil
		}
	case OpCreateSession:
		if d.int32(); d.err != nil {
			x.op, x.code = opError, codeMarshalling
		}
	default:
		p.single = true
		made, refused := p.prepare(op, d)
		if refused != codeOK {
			x.op, x.code = opError, refused
			return x
		}
		x.parts = []part{made}
	}
	return x
}

// prepare makes the part that carries out one operation.
func (p *preparation) prepare(op Op, d *decoder) (part, code) {
	switch op {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
		return p.create(op, readCreate(op, d))
	case OpDelete:
		return p.delete(d.text(), d.int32(), d.err)
	case OpSetData:
		return p.setData(d.text(), d.data(), d.int32(), d.err)
	case OpSetACL:
		return p.setACL(d.text(), d.acl(), d.int32(), d.err)
	case OpDeleteContainer:
		return p.deleteContainer(d.text())
	case OpReconfig:
		return part{}, codeReconfigDisabled
	}
	return part{}, codeMarshalling
}
