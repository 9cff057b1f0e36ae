package gateway

import (
	"cmp"
	"time"

	"github.com/turnstile-locks/turnstile/actors/sharing"
	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
)

// inside has the requests that share holds: see WithCohort. Each is a call of package sharing, and the
// table is told of it what a lock actor of its own would tell. Its methods run on the gateway's
// goroutine. They do nothing for a gateway without, nil.
type inside struct {
	of       *server
	calls    *sharing.Calls
	requests map[string]*inner
}

// inner is a request that shares holds. The methods of sharing.Call run anywhere.
type inner struct {
	*inside
	id      string
	want    turns.Want
	call    turns.CallID
	notices sharing.Notices
}

// news is what an inner request hears, on its way to the gateway.
type news struct {
	of   *inner
	tell func(*sharing.Notices)
}

func newInside(g *server) *inside {
	return &inside{of: g, calls: sharing.New(g.session, g.system), requests: map[string]*inner{}}
}

// shares reports whether a request shares holds. A writer does not, and no reader at its place: the
// session knows of a downgrade, and turns of a requester's do not.
func (in *inside) shares(want *messages.Acquire) bool {
	return in != nil && !want.TellMore && want.Beside == "" && (want.Mode == messages.Exclusive || want.Mode == messages.Read)
}

// begin has a request wait for a hold.
func (in *inside) begin(id string, want messages.Acquire) {
	r := &inner{inside: in, id: id, want: turns.Want{Acquire: want, Cohort: in.of.with.cohort}}
	r.notices = sharing.Notices{Grant: messages.Grant{Path: want.Path}, Send: func(notice any) { in.of.table.Told(in.of.now(), id, notice) }}
	in.requests[id] = r
	r.notices.Moves("Begin", messages.ReasonNone, messages.StateCreating, messages.StateWatching)
	r.call = in.calls.Call(&r.want, 0, r)
}

func (r *inner) hears(tell func(*sharing.Notices)) { r.of.system.Root.Send(r.of.self, &news{r, tell}) }

// Granted: it holds.
func (r *inner) Granted(_ turns.CallID, hold *sharing.Hold, token messages.Token) func() {
	return func() { r.hears(func(n *sharing.Notices) { n.Granted(hold, token) }) }
}

// Refused: it has ended, and never held.
func (r *inner) Refused(why messages.Reason, detail string) {
	r.hears(func(n *sharing.Notices) { n.Refused(why, detail) })
}

// Deadlocked: it is about to be refused.
func (r *inner) Deadlocked(d messages.Deadlock) {
	r.hears(func(n *sharing.Notices) { n.Deadlocked(d) })
}

// Told takes how its hold stands. A hold whose lease was over when it was granted was none: the
// requester asks anew.
func (r *inner) Told(state messages.State, until time.Time, why messages.Reason, detail string) {
	r.hears(func(n *sharing.Notices) {
		if state == messages.StateLost && n.Grant.Node == "" {
			n.Withdrawn(messages.ReasonOwnerGone)
			return
		}
		n.Told(state, until, why, detail)
	})
}

// tell tells the table, unless the request has ended.
func (r *inner) tell(do func(*sharing.Notices)) {
	if r.requests[r.id] != r {
		return
	}
	if do(&r.notices); r.notices.State.Terminal() {
		delete(r.requests, r.id)
	}
}

// command takes a command of the table's, and reports whether it is for a request inside.
func (in *inside) command(id string, command any) bool {
	if in == nil || in.requests[id] == nil {
		return false
	}
	r := in.requests[id]
	switch c := command.(type) {
	case *messages.Revoke:
		if r.notices.State == messages.StateHeld {
			r.notices.Told(messages.StateRevoking, time.Time{}, messages.ReasonNone, "")
		}
	case *messages.Release:
		r.withdraw(messages.ReasonReleased)
	case *messages.Cancel:
		r.withdraw(c.Reason)
	}
	return true
}

// withdraw gives a request up, or its hold back.
func (r *inner) withdraw(why messages.Reason) {
	n := &r.notices
	if n.State == messages.StateReleasing {
		return
	}
	if why = cmp.Or(why, messages.ReasonCancelled); why == messages.ReasonReleased && n.Grant.Node == "" {
		why = messages.ReasonCancelled
	}
	n.Leaves(why)
	if r.calls.Withdraw(r.call, why) {
		r.tell(func(n *sharing.Notices) { n.Withdrawn(why) })
	}
}

// endAfter gives a request up when what it was promised has run out: the gateway has stopped by then.
func (in *inside) endAfter(id string, left time.Duration) {
	if in == nil || in.requests[id] == nil {
		return
	}
	call := in.requests[id].call
	time.AfterFunc(left, func() { in.calls.Withdraw(call, messages.ReasonOwnerGone) })
}

// close keeps nothing any more.
func (in *inside) close() {
	if in != nil {
		in.calls.Close()
	}
}

var _ sharing.Deadlocked = (*inner)(nil)
