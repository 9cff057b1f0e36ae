package coordinator

import "encoding/binary"

// Rename gives an operation of a request a name that says all that matters of it: whether it is the request's newest.
type Rename func(RequestID, uint64) byte

// encoder writes what tells states apart.
type encoder struct {
	b      []byte
	rename Rename
}

func (e *encoder) num(all ...uint64) {
	for _, n := range all {
		e.b = binary.AppendUvarint(e.b, n)
	}
}

func (e *encoder) text(all ...string) {
	for _, s := range all {
		e.num(uint64(len(s)))
		e.b = append(e.b, s...)
	}
}

// mark ends a list.
func (e *encoder) mark() { e.b = append(e.b, 0xfe) }

func (e *encoder) op(r RequestID, op uint64) { e.b = append(e.b, e.rename(r, op)) }

// about writes what a query is for: the name of its purpose, and for whom.
func (e *encoder) about(purpose string, r RequestID, op uint64, names ...string) {
	e.text(purpose)
	e.num(uint64(r))
	e.op(r, op)
	e.text(names...)
}

func (e *encoder) changes(all []change) {
	for _, ch := range all {
		e.num(uint64(ch.request))
		e.op(ch.request, ch.op)
		e.text(ch.node)
	}
	e.mark()
}

func flag(on bool) uint64 {
	if on {
		return 1
	}
	return 0
}
