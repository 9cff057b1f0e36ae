package conformance

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// send carries out what goes over a session's connection, and reads the answers. A ping follows
// in the same write: its reply says that nothing more is to come.
func (p *player) send(o operation) []entry {
	s := &p.slots[o.session]
	if s.wire == nil {
		return []entry{{session: o.session, what: "has no connection"}}
	}
	if o.name == "frame" {
		return p.sendFrame(o)
	}
	requests := []operation{o}
	if o.name == burst {
		requests = o.parts
	}
	var bytes []byte
	sent := make([]numberedOperation, len(requests))
	for i, r := range requests {
		body, err := p.mask.request(r)
		if err != nil {
			return []entry{{session: o.session, what: "cannot be sent: " + err.Error()}}
		}
		s.xid++
		s.watching = s.watching || r.watches()
		sent[i] = numberedOperation{r, int32(r.number(numbered, int64(s.xid)))}
		code := layouts[r.name].code
		if r.name == "unknown" {
			code = int32(r.number("code", int64(code)))
		}
		bytes = append(bytes, request(sent[i].xid, code, body)...)
	}
	if !mayHangUp(sent) {
		bytes = append(bytes, ping...)
	}
	s.wire.write(bytes)
	return p.await(o.session, sent)
}

// sendFrame sends what is no request, or if it is long enough a request of all zeros.
func (p *player) sendFrame(o operation) []entry {
	w := p.slots[o.session].wire
	length, send := o.number("length", -1), o.number("send", 0)
	out := binary.BigEndian.AppendUint32(nil, uint32(length))
	w.write(append(out, make([]byte, send)...))
	const headerLength = 8
	switch {
	case length > send:
		// Half a frame is no reason for a server to answer; the end of it would be.
		return p.awaitEnd(o.session)
	case length >= headerLength:
		return p.await(o.session, []numberedOperation{{operation{name: "unknown"}, 0}})
	default:
		w.write(ping)
		return p.await(o.session, nil)
	}
}

func mayHangUp(requests []numberedOperation) bool {
	return slices.ContainsFunc(requests, func(o numberedOperation) bool { return o.mayHangUp() })
}

// watches reports whether the session may get to hear of something later.
func (o operation) watches() bool {
	watch, _ := o.get("watch")
	return watch == "true" || o.name == "addWatch" || strings.HasPrefix(o.name, "setWatches") || slices.ContainsFunc(o.parts, operation.watches)
}

// mayHangUp reports whether the server may close the connection after its reply.
func (o operation) mayHangUp() bool {
	return o.hangsUp(failed)
}

// failed stands for any error.
const failed = -1

// hangsUp reports whether a server closes the connection after replying with an error, or 0.
func (o operation) hangsUp(err int32) bool {
	switch o.name {
	case "close", "unknown":
		return true
	case "auth", "check": // a check is for multis alone
		return err != 0
	}
	return false
}

// revive gives a session its connection back that it has lost, or begins another one if it has ended.
func (p *player) revive(o operation) []entry {
	s := &p.slots[o.session]
	var out []entry
	if s.wire == nil && s.id != 0 {
		out = p.reattach(operation{session: o.session})
	}
	if s.wire == nil {
		out = append(out, p.open(operation{session: o.session})...)
	}
	return out
}

// awaitEnd reads until the server hangs up.
func (p *player) awaitEnd(index int) []entry {
	s := &p.slots[index]
	for {
		if _, err := s.wire.read(); err != nil {
			s.wire.close()
			s.wire = nil
			return []entry{{session: index, what: ending(err)}}
		}
	}
}

// open begins a session, if the slot has no connection. The session that had the slot before
// and has not ended lives on.
func (p *player) open(o operation) []entry {
	if p.slots[o.session].wire != nil {
		return []entry{{session: o.session, what: "is open"}}
	}
	h, err := p.hello(o, hello{password: emptyPassword})
	if err != nil {
		return []entry{{session: o.session, what: err.Error()}}
	}
	p.slots[o.session] = slot{index: -1}
	return p.connect(o, h)
}

// reattach takes a session to a new connection. The server has to close the old one.
func (p *player) reattach(o operation) []entry {
	s := &p.slots[o.session]
	if s.id == 0 {
		return []entry{{session: o.session, what: "has no session"}}
	}
	h, err := p.hello(o, hello{id: s.id, password: s.pass})
	if err != nil {
		return []entry{{session: o.session, what: err.Error()}}
	}
	old := s.wire
	if drop, _ := o.get("drop"); drop == "true" && old != nil {
		old.drop()
		s.wire, old = nil, nil
	}
	if old == nil {
		return p.connect(o, h)
	}
	// A connection that is refused for the zxid that the client has seen leaves the old one alone.
	watching := s.watching
	entries := p.connect(o, h)
	current := s.wire
	s.wire = old
	old.write(ping)
	for _, e := range p.await(o.session, nil) {
		e.what = "on the old connection: " + e.what
		entries = append(entries, e)
	}
	if current != nil && s.wire != nil {
		entries = append(entries, entry{session: o.session, what: "has two connections"})
		old.close()
	}
	if current != nil {
		s.wire = current
	} else {
		s.watching = watching // the old connection goes on, and is told as before
	}
	return entries
}

// hello reads the arguments of a connect.
func (p *player) hello(o operation, h hello) (hello, error) {
	h.timeout = int32(o.number("timeout", lifetime))
	h.protocol = int32(o.number("protocol", 0))
	h.readOnly = "false"
	if v, ok := o.get("readonly"); ok {
		h.readOnly = v
	}
	if v, ok := o.get("zxid"); ok {
		zxid, err := p.mask.scope.zxid(v)
		if err != nil {
			return h, err
		}
		h.zxid = zxid
	}
	if id, _ := o.get("id"); id == "unknown" {
		h.id = rand.Int64()
	}
	h.cut, h.pad = int(o.number("cut", 0)), int(o.number("pad", 0))
	switch v, _ := o.get("password"); v {
	case "wrong":
		h.password = text{value: "wrong password.."}
	case "null":
		h.password = text{null: true}
	case "empty":
		h.password = text{}
	case "short":
		h.password.value = h.password.value[:len(h.password.value)/2]
	}
	return h, nil
}

// connect says hello on a new connection and puts it into the slot.
func (p *player) connect(o operation, h hello) []entry {
	s := &p.slots[o.session]
	s.wire, s.watching = nil, false
	w, answer, err := greet(p.addr, h)
	if err != nil {
		return []entry{{session: o.session, what: "refused: " + ending(err)}}
	}
	if h.id == 0 && answer.id != 0 {
		s.index = len(p.opened)
		s.id, s.pass = answer.id, answer.password
		p.mask.sessions[s.id] = s.index
		p.opened = append(p.opened, known{s.id, s.pass})
	}
	s.wire = w
	out := []entry{{session: o.session, what: "connected", fields: []shown{
		{"session", p.mask.owner(answer.id)},
		{"timeout", fmt.Sprint(answer.timeout)},
		{"password", p.password(s, answer)},
		{"protocol", fmt.Sprint(answer.protocol)},
		{"rest", fmt.Sprintf("%x", answer.rest)},
	}}}
	if answer.err != nil {
		out = append(out, entry{session: o.session, what: answer.err.Error()})
	}
	if answer.id == 0 {
		return append(out, p.awaitEnd(o.session)...)
	}
	w.write(ping)
	return append(out, p.await(o.session, nil)...)
}

// password says what can be said of a secret.
func (p *player) password(s *slot, answer welcome) string {
	switch {
	case answer.password == emptyPassword:
		return "zeros"
	case answer.password == s.pass:
		return fmt.Sprintf("its own, %d bytes", len(answer.password.value))
	default:
		return fmt.Sprintf("other, %d bytes", len(answer.password.value))
	}
}
