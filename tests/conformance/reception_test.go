package conformance

import (
	"fmt"
	"slices"
)

// numberedOperation is a request that was sent.
type numberedOperation struct {
	operation
	xid int32
}

// reception is the reading of the replies and events that a session gets after an operation.
type reception struct {
	player   *player
	session  int
	requests []numberedOperation // still to be answered
	pinged   bool
	ended    bool // the server said something after which it hangs up
	entries  []entry
}

func (r *reception) ping(w *wire) {
	r.pinged = true
	w.patient = true
	w.write(ping)
}

func (r *reception) note(what string, fields ...shown) {
	r.entries = append(r.entries, entry{session: r.session, what: what, fields: fields})
}

// take understands one frame, and says whether it was the pong.
func (r *reception) take(body []byte) bool {
	m := &r.player.mask
	d := &decoder{bytes: body}
	h := d.header()
	switch {
	case d.err != nil:
		r.note(fmt.Sprintf("frame %x", body))
	case h.xid == eventXid:
		var fields []shown
		if h.zxid != -1 || h.err != 0 {
			fields = []shown{{"zxid", m.zxid(h.zxid)}, {"err", fmt.Sprint(h.err)}}
		}
		r.note("event", append(fields, m.event(d)...)...)
	case h.xid == pingXid && r.nextPing() < 0:
		r.unanswered(len(r.requests))
		fields := []shown{{"zxid", m.zxid(h.zxid)}}
		if h.err != 0 || len(d.bytes) != 0 {
			fields = append(fields, shown{"odd", fmt.Sprintf("%d/%x", h.err, d.bytes)})
		}
		r.note("pong", fields...)
		return true
	case r.ended:
		// Behind the last reply anything may come, or nothing.
	default:
		r.reply(h, d)
	}
	return false
}

// nextPing finds the ping among the requests that are still to be answered. Its reply does not say which
// request it belongs to.
func (r *reception) nextPing() int {
	return slices.IndexFunc(r.requests, func(o numberedOperation) bool { return o.name == "ping" })
}

// reply notes the answer to a request, and which requests before it had no answer.
func (r *reception) reply(h header, d *decoder) {
	fields := []shown{{"err", fmt.Sprint(h.err)}, {"zxid", r.player.mask.zxid(h.zxid)}}
	at := slices.IndexFunc(r.requests, func(o numberedOperation) bool { return o.xid == h.xid })
	if h.xid == pingXid {
		at = r.nextPing()
	}
	if at < 0 {
		r.note("reply", append(fields, shown{"xid", fmt.Sprint(h.xid)}, shown{"body", fmt.Sprintf("%x", d.bytes)})...)
		return
	}
	r.unanswered(at)
	o := r.requests[0]
	r.requests = r.requests[1:]
	r.note("reply", append(fields, r.player.mask.reply(o.operation, h.err, d)...)...)
	r.ended = r.ended || o.hangsUp(h.err)
}

func (r *reception) unanswered(n int) {
	for _, o := range r.requests[:n] {
		r.note("no reply to " + o.name)
	}
	r.requests = r.requests[n:]
}
