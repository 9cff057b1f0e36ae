package embedded

// prepare makes a transaction of a request: its change, or its refusal. A multi has been read
// already.
func (e *ensemble) prepare(c *conn, op Op, d *decoder, operations []operation, form form) *txn {
	x := &txn{op: op, session: c.sessionID, zxid: e.nextZxid(), time: e.millis()}
	p := preparation{tree: e.leader.tree, session: c.sessionID, sessionCode: e.check(c.sessionID, c.r), who: c.who,
		sasl: e.settings.sasl != nil, zxid: x.zxid, now: x.time}
	switch op {
	case OpMulti:
		x.parts, x.code = p.multi(operations, form)
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

// multi prepares the parts of a multi, all or none. When one is refused, the parts before it are reported
// as fine though nothing was done, it with its error, and those after it with RuntimeInconsistency. A
// request that is malformed is refused as a whole.
func (p *preparation) multi(operations []operation, form form) ([]part, code) {
	if form != whole || len(operations) > 0 && operations[0].reads() {
		return nil, codeMarshalling
	}
	for _, o := range operations {
		if o.path == null {
			return nil, codeMarshalling
		}
	}
	parts := make([]part, len(operations))
	for i, o := range operations {
		made, refused := o.prepare(p)
		if refused == codeMarshalling {
			return nil, codeMarshalling
		}
		if refused != codeOK {
			return failed(len(operations), i, refused), refused
		}
		parts[i] = made
	}
	return parts, codeOK
}

func failed(n, at int, refused code) []part {
	parts := make([]part, n)
	for i := range parts {
		parts[i].op = opError
		switch {
		case i == at:
			parts[i].code = refused
		case i > at:
			parts[i].code = codeRuntimeInconsistency
		}
	}
	return parts
}

// operation is one operation of a multi, as it was read.
type operation struct {
	op      Op
	create  creation
	path    string
	data    []byte
	version int32
}

func (o operation) reads() bool { return o.op == OpGetData || o.op == OpGetChildren }

func (o operation) prepare(p *preparation) (part, code) {
	switch o.op {
	case OpDelete:
		return p.delete(o.path, o.version, nil)
	case OpSetData:
		return p.setData(o.path, o.data, o.version, nil)
	case OpCheck:
		return p.check(o.path, o.version, nil)
	default:
		return p.create(o.op, o.create)
	}
}

// form is the shape of a multi's record.
type form int

const (
	whole      form = iota
	illFormed       // refused, with a transaction id
	unreadable      // refused without one: ZooKeeper did not foresee such a record
)

// readMulti reads all operations before any is checked: the record must be whole, and its
// operations all reads or all writes.
func readMulti(d *decoder) ([]operation, form) {
	var operations []operation
	for {
		op := Op(d.int32())
		done := d.bool()
		d.int32()
		if d.err != nil {
			return nil, illFormed
		}
		if done {
			return operations, whole
		}
		o, f := readOperation(op, d)
		if f != whole {
			return nil, f
		}
		if len(operations) > 0 && operations[0].reads() != o.reads() {
			return nil, illFormed
		}
		operations = append(operations, o)
	}
}

func readOperation(op Op, d *decoder) (operation, form) {
	o := operation{op: op}
	switch op {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
		o.create = readCreate(op, d)
		o.path = o.create.path
	case OpDelete, OpCheck:
		o.path, o.version = d.text(), d.int32()
	case OpSetData:
		o.path, o.data, o.version = d.text(), d.data(), d.int32()
	case OpGetData, OpGetChildren:
		o.path = d.text()
		d.bool() // a watch, which ZooKeeper does not set
	default:
		return o, illFormed
	}
	switch {
	case d.err != nil:
		return o, illFormed
	case op.creates():
		return o.withKind()
	}
	return o, whole
}

// withKind decides the kind of node that a create in a multi makes, by its flags, or by its type
// where the flags do not say (MultiOperationRecord, CreateOptions, Op.create). Unknown flags make
// the multi malformed, and so does a time to live that is asked for by flags alone. A createTTL
// with unknown flags, or without an access list, is refused when its turn comes.
func (o operation) withKind() (operation, form) {
	mode, known := modeOf(o.create.flags)
	if o.op != OpCreateTTL {
		switch {
		case !known:
			return o, illFormed
		case o.create.acl == nil:
			return o, unreadable
		case mode.life == timed:
			return o, illFormed
		}
	}
	if !known || mode.life == timed {
		return o, whole
	}
	switch {
	case mode.life == container:
		o.op = OpCreateContainer
	case o.op == OpCreateTTL:
		o.op = OpCreate
	}
	o.create.ttl = -1
	return o, whole
}
