package embedded

// multi prepares the parts of a multi, all or none. When one is refused, the parts before it are reported
// as fine though nothing was done, it with its error, and those after it with RuntimeInconsistency. A
// request that is malformed is refused as a whole.
func (p *preparation) multi(d *decoder) ([]part, code) {
	orders, ok := readMulti(d)
	if !ok || len(orders) > 0 && orders[0].reads() {
		return nil, codeMarshalling
	}
	parts := make([]part, len(orders))
	for i, o := range orders {
		made, refused := o.prepare(p)
		if refused == codeMarshalling {
			return nil, codeMarshalling
		}
		if refused != codeOK {
			return failed(len(orders), i, refused), refused
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

// order is one operation of a multi, as it was read.
type order struct {
	op      Op
	create  creation
	broken  bool // a time to live is asked for by flags, and did not come
	path    string
	data    []byte
	version int32
}

func (o order) reads() bool { return o.op == OpGetData || o.op == OpGetChildren }

func (o order) prepare(p *preparation) (part, code) {
	if o.broken {
		return part{}, codeMarshalling
	}
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

// readMulti reads all operations before any is looked at: the record must be whole, and either all of its
// operations read or none does. What kind of create each is follows from its flags and not from its type,
// so a create2 is a create here, as in ZooKeeper.
func readMulti(d *decoder) ([]order, bool) {
	var orders []order
	for {
		op := Op(d.int32())
		done := d.bool()
		d.int32()
		if d.err != nil {
			return nil, false
		}
		if done {
			return orders, true
		}
		o := order{op: op}
		switch op {
		case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
			o.create = readCreate(op, d)
			o.op, o.broken = kindByFlags(op, o.create.flags)
			if o.op != OpCreateTTL {
				o.create.ttl = -1
			}
		case OpDelete, OpCheck:
			o.path, o.version = d.text(), d.int32()
		case OpSetData:
			o.path, o.data, o.version = d.text(), d.data(), d.int32()
		case OpGetData, OpGetChildren:
			o.path = d.text()
			d.bool() // a watch, which 3.8.0 does not set
		default:
			return nil, false
		}
		if d.err != nil || len(orders) > 0 && orders[0].reads() != o.reads() {
			return nil, false
		}
		orders = append(orders, o)
	}
}

// kindByFlags says what a create in a multi makes. A time to live that came without its own record cannot
// be carried out, which ZooKeeper finds only when it gets there.
func kindByFlags(op Op, flags int32) (kind Op, broken bool) {
	mode, _ := modeOf(flags) // unknown flags are refused later, part by part
	switch mode.life {
	case timed:
		return OpCreateTTL, op != OpCreateTTL
	case container:
		return OpCreateContainer, false
	default:
		return OpCreate, false
	}
}
