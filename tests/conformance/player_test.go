package conformance

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// slots is the number of sessions that a sequence has at a time.
const slots = 4

// player carries out a sequence on one server.
type player struct {
	addr   string
	mask   mask
	slots  [slots]slot
	opened []known // every session there was
}

// slot is the place of a session. It may have lost its connection, or have ended.
type slot struct {
	wire  *wire // nil without a connection
	id    int64
	pass  text
	xid   int32
	index int // in opened
	// watching says that it has asked to be told of something on this connection.
	watching bool
}

type known struct {
	id   int64
	pass text
}

// play carries out the operations one after the other under a root of their own, and
// returns what the server answered. Run numbers must not be used twice on a server.
func play(addr string, run int64, operations []operation) (transcript, error) {
	root := fmt.Sprintf("/conformance-%08d", run) // as long as any, since frames may not be too long
	c, err := newCaretaker(addr, root)
	if err != nil {
		return nil, err
	}
	defer c.leave()
	p := &player{addr: addr, mask: mask{scope: scope{root: root}, sessions: map[int64]int{}, started: time.Now()}}
	if err := c.prepare(&p.mask); err != nil {
		return nil, err
	}
	var out transcript
	for i := range slots - 1 {
		out = append(out, p.do(operation{name: "open", session: i}))
	}
	for _, o := range operations {
		out = append(out, p.do(o))
	}
	tree, err := c.tree()
	if err != nil {
		return nil, err
	}
	survey, err := c.survey(&p.mask, tree)
	if err != nil {
		return nil, err
	}
	out = append(out, survey)
	p.leave()
	return out, c.clear(tree)
}

// leave ends every session, so that nothing of this sequence happens during the next.
func (p *player) leave() {
	for i := range p.slots {
		if w := p.slots[i].wire; w != nil {
			w.write(request(1, layouts["close"].code, nil))
		}
	}
	for i := range p.slots {
		if w := p.slots[i].wire; w != nil {
			for err := error(nil); err == nil; {
				_, err = w.read()
			}
			w.close()
			p.opened = slices.DeleteFunc(p.opened, func(k known) bool { return k.id == p.slots[i].id })
		}
	}
	for _, k := range p.opened {
		end(p.addr, k.id, k.pass)
	}
}

// do carries out one operation, and collects what came of it everywhere.
func (p *player) do(o operation) step {
	s := step{operation: o.String()}
	switch o.name {
	case "open":
		s.entries = p.open(o)
	case "reattach":
		s.entries = p.reattach(o)
	case "expire":
		s.entries = p.expire(o)
	default:
		s.entries = append(p.revive(o), p.send(o)...)
	}
	if !reads[o.name] {
		s.entries = append(s.entries, p.barrier(o.session)...)
	}
	if endsSession(o) {
		sortEvents(s.entries)
	}
	return s
}

// reads are the operations that only the client that asks hears of. Should a server tell others of
// them all the same, it shows after the next operation.
var reads = map[string]bool{
	"exists": true, "getData": true, "getChildren": true, "getChildren2": true, "getACL": true,
	"getEphemerals": true, "childrenNumber": true, "multiRead": true, "whoAmI": true, "ping": true, "sync": true,
	"addWatch": true, "checkWatches": true, "removeWatches": true, "setWatches": true, "setWatches2": true,
}

// barrier asks every other session that watches something for a sign of life. The events of the
// operation come before it: they are sent before the reply that they belong to.
func (p *player) barrier(except int) []entry {
	var asked []int
	for i, s := range p.slots {
		if s.wire != nil && s.watching && i != except {
			s.wire.write(ping)
			asked = append(asked, i)
		}
	}
	var out []entry
	for _, i := range asked {
		out = append(out, p.await(i, nil)...)
	}
	return out
}

// await reads until the ping's reply. The replies that come before it belong to the requests.
//
// After a reply with which a server hangs up it reads on for the end of the connection, and asks for
// a sign of life only if that does not come. Requests that were sent behind it may be answered
// or not: a real server writes what it happens to have when it comes to close.
func (p *player) await(index int, requests []numberedOperation) []entry {
	s := &p.slots[index]
	r := reception{player: p, session: index, requests: requests, pinged: !mayHangUp(requests)}
	for {
		body, err := s.wire.read()
		if r.ended && errors.Is(err, os.ErrDeadlineExceeded) && !r.pinged {
			r.ping(s.wire)
			continue
		}
		if err != nil {
			s.wire.close()
			s.wire = nil
			return append(r.entries, entry{session: index, what: ending(err)})
		}
		if r.take(body) {
			s.wire.patient = true
			return r.entries
		}
		switch {
		case r.ended && !r.pinged:
			s.wire.patient = false
		case len(r.requests) == 0 && !r.pinged:
			r.ping(s.wire)
		}
	}
}

// endsSession reports whether ephemeral nodes may go: a real server deletes those of a session in
// the order of its hash table, so the order of the events says nothing.
func endsSession(o operation) bool {
	return o.name == "close" || o.name == "expire" || slices.ContainsFunc(o.parts, endsSession)
}

// sortEvents sorts each session's events that have no reply between them.
func sortEvents(entries []entry) {
	for i := 0; i < len(entries); {
		j := i
		for j < len(entries) && entries[j].what == "event" && entries[j].session == entries[i].session {
			j++
		}
		slices.SortFunc(entries[i:j], func(a, b entry) int { return strings.Compare(a.String(), b.String()) })
		i = max(j, i+1)
	}
}
