package embedded

// multi prepares the parts of a multi, all or none. When one is refused, the parts before it are reported
// as fine though nothing was done, it with its error, and those after it with RuntimeInconsistency. A
// request that is malformed is refused as a whole.
func (p *preparation) multi(d *decoder) ([]part, code) {
	orders, ok := readMulti(d)
	if !ok {
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
	path    string
	data    []byte
	version int32
}

func (o order) prepare(p *preparation) (part, code) {
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

// readMulti reads all operations before any is looked at: the record must be whole. What kind of create
// each is follows from its flags and not from its type, so a create2 is a create here, as in ZooKeeper.
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
			kind, ok := kindByFlags(op, o.create.flags)
			if !ok {
				return nil, false
			}
			o.op = kind
			if kind != OpCreateTTL {
				o.create.ttl = -1
			}
		case OpDelete, OpCheck:
			o.path, o.version = d.path(), d.int32()
		case OpSetData:
			o.path, o.data, o.version = d.path(), d.data(), d.int32()
		default:
			return nil, false
		}
		if d.err != nil {
			return nil, false
		}
		orders = append(orders, o)
	}
}

// kindByFlags says what a create in a multi makes. A time to live that came without its own record cannot
// be carried out.
func kindByFlags(op Op, flags int32) (Op, bool) {
	mode, _ := modeOf(flags) // unknown flags are refused later, part by part
	switch mode.life {
	case timed:
		return OpCreateTTL, op == OpCreateTTL
	case container:
		return OpCreateContainer, true
	default:
		return OpCreate, true
	}
}
