package rig

// request has the fields of a client's frame that the proxy reads.
type request struct {
	xid int32
	op  OpCode
	// parts are the single operations: of a multi those inside it, otherwise
	// the request itself.
	parts []operation
}

type operation struct {
	op      OpCode
	path    string
	hasPath bool
}

// parseRequest reads any frame after the first of a connection. Parts of a multi
// after one of unknown kind remain unseen.
func parseRequest(frame []byte) (request, error) {
	r := newReader(frame)
	q := request{xid: r.int32(), op: OpCode(r.int32())}
	if r.err != nil {
		return request{}, r.err
	}
	switch {
	case q.op == OpMulti || q.op == OpMultiRead:
		q.parts = readParts(r)
	case q.op.startsWithPath():
		q.parts = []operation{{op: q.op, path: r.string(), hasPath: true}}
	default:
		q.parts = []operation{{op: q.op}}
	}
	return q, r.err
}

func readParts(r *reader) []operation {
	var parts []operation
	for r.err == nil {
		op, done := OpCode(r.int32()), r.bool()
		r.int32() // an error code; means nothing in a request
		if done || r.err != nil {
			break
		}
		part := operation{op: op, path: r.string(), hasPath: true}
		if !skipRest(r, op) {
			break
		}
		parts = append(parts, part)
	}
	return parts
}

// skipRest reads what follows the path of a part of a multi. It returns false
// when it does not know how long that is.
func skipRest(r *reader, op OpCode) bool {
	switch op {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
		r.buffer() // data
		for range r.int32() {
			r.int32()  // permissions
			r.buffer() // scheme
			r.buffer() // identity
			if r.err != nil {
				return false
			}
		}
		r.int32() // flags
		if op == OpCreateTTL {
			r.int64()
		}
	case OpDelete, OpCheck:
		r.int32() // version
	case OpSetData:
		r.buffer()
		r.int32() // version
	case OpGetData, OpGetChildren:
		r.bool() // watch
	default:
		return false
	}
	return r.err == nil
}
