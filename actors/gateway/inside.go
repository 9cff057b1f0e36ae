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
	state   messages.State
	grant   messages.Grant // of a call that holds
	revoked bool
	why     messages.Reason // for which it was withdrawn
}

// news is what an inner request hears, on its way to the gateway.
type news struct {
	of       *inner
	to       messages.State
	held     *messages.Held     // of a grant
	deadlock *messages.Deadlock // for which it is about to be refused
	why      messages.Reason
	detail   string
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
	r := &inner{inside: in, id: id, grant: messages.Grant{Path: want.Path}}
	r.want = turns.Want{Acquire: want, Cohort: in.of.with.cohort}
	in.requests[id] = r
	r.move(messages.StateCreating, messages.ReasonNone)
	r.move(messages.StateWatching, messages.ReasonNone)
	r.call = in.calls.Call(&r.want, 0, r)
}

func (r *inner) send(n news) {
	n.of = r
	r.of.system.Root.Send(r.of.self, &n)
}

// Granted tells that it holds.
func (r *inner) Granted(_ turns.CallID, hold *sharing.Hold, token messages.Token) func() {
	held := *hold.Held
	held.Token, held.Places = token, 0
	return func() { r.send(news{to: messages.StateHeld, held: &held}) }
}

// Refused tells that it has ended, and never held.
func (r *inner) Refused(why messages.Reason, detail string) {
	to := messages.StateFailed
	switch why {
	case messages.ReasonNotAcquired, messages.ReasonTimeout, messages.ReasonDeadlock:
		to = messages.StateCancelled
	}
	r.send(news{to: to, why: why, detail: detail})
}

// Deadlocked tells why it is about to be refused.
func (r *inner) Deadlocked(d messages.Deadlock) { r.send(news{deadlock: &d}) }

// Told tells how its hold stands.
func (r *inner) Told(state messages.State, _ time.Time, why messages.Reason, detail string) {
	r.send(news{to: state, why: why, detail: detail})
}

// take takes what an inner request has heard.
func (in *inside) take(n *news) {
	r := n.of
	if in.requests[r.id] != r || r.state == messages.StateReleasing && !n.to.Terminal() {
		return
	}
	waits := r.grant.Node == ""
	switch n.to {
	case messages.StateNone:
		r.tell(&messages.Deadlocked{Grant: r.grant, Deadlock: *n.deadlock})
	case messages.StateHeld:
		if n.held != nil {
			r.grant = n.held.Grant
			r.move(n.to, messages.ReasonNone)
			r.tell(n.held)
		} else {
			r.resume()
		}
	case messages.StateRecovering:
		r.move(n.to, messages.ReasonNone)
		r.tell(&messages.Suspended{Grant: r.grant})
	case messages.StateRevoking:
		if r.state == messages.StateRecovering {
			r.resume()
		} else {
			r.revoke()
		}
	case messages.StateReleased:
		why := cmp.Or(r.why, n.why)
		r.end(n.to, why, &messages.Released{Grant: r.grant, Reason: why})
	case messages.StateLost:
		if waits { // it was granted a hold whose lease was over by then: the requester asks anew
			r.end(messages.StateCancelled, messages.ReasonOwnerGone, &messages.Cancelled{Grant: r.grant, Reason: messages.ReasonOwnerGone})
			return
		}
		r.end(n.to, n.why, &messages.Lost{Grant: r.grant, Reason: n.why, Detail: n.detail})
	case messages.StateFailed:
		r.end(n.to, n.why, &messages.Failed{Grant: r.grant, Reason: n.why, Detail: n.detail})
	case messages.StateCancelled:
		r.end(n.to, n.why, &messages.Cancelled{Grant: r.grant, Reason: n.why, Detail: n.detail})
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
		if r.state == messages.StateHeld {
			r.revoke()
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
	if r.state == messages.StateReleasing {
		return
	}
	if why = cmp.Or(why, messages.ReasonCancelled); why == messages.ReasonReleased && r.grant.Node == "" {
		why = messages.ReasonCancelled
	}
	r.why = why
	r.move(messages.StateReleasing, why)
	if r.calls.Withdraw(r.call, why) {
		r.end(messages.StateCancelled, why, &messages.Cancelled{Grant: r.grant, Reason: why})
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

func (r *inner) revoke() {
	r.revoked = true
	r.move(messages.StateRevoking, messages.ReasonNone)
	r.tell(&messages.RevokeRequested{Grant: r.grant})
}

func (r *inner) resume() {
	to := messages.StateHeld
	if r.revoked {
		to = messages.StateRevoking
	}
	r.move(to, messages.ReasonNone)
	r.tell(&messages.Resumed{Grant: r.grant})
}

// end tells the end of a request.
func (r *inner) end(to messages.State, why messages.Reason, notice any) {
	delete(r.requests, r.id)
	r.move(to, why)
	r.tell(notice)
}

// move tells a change of state.
func (r *inner) move(to messages.State, why messages.Reason) {
	t := &messages.Transition{Grant: r.grant, From: r.state, To: to, Reason: why}
	r.state = to
	r.tell(t)
}

func (r *inner) tell(notice any) { r.of.table.Told(r.of.now(), r.id, notice) }

var _ sharing.Deadlocked = (*inner)(nil)
