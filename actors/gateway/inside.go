package gateway

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/sharing"
	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
)

// inside has the requests that share holds: see WithCohort. Each is a call of package sharing, and the
// table is told of it what a lock actor of its own would tell. Its methods run on the gateway's
// goroutine. Its zero value has none.
type inside struct {
	of       *server
	calls    *sharing.Calls
	requests map[string]*inner
}

// inner is a request that shares holds.
type inner struct {
	id   string
	want turns.Want
	call turns.CallID
	*sharing.Notices
}

// news is what an inner request tells, on its way to the gateway.
type news struct {
	of     *inner
	notice any
}

func newInside(g *server) inside {
	return inside{of: g, calls: sharing.New(g.session, g.system), requests: map[string]*inner{}}
}

// shares reports whether a request shares holds. A writer does not, and no reader at its place: the
// session knows of a downgrade, and turns of a requester's do not.
func (in *inside) shares(want *messages.Acquire) bool {
	return in.calls != nil && !want.TellMore && want.Beside == "" && (want.Mode == messages.Exclusive || want.Mode == messages.Read)
}

// begin has a request wait for a hold.
func (in *inside) begin(id string, want messages.Acquire) {
	r := &inner{id: id, want: turns.Want{Acquire: want, Cohort: in.of.with.cohort}}
	r.Notices = sharing.NewNotices(want.Path, func(notice any) { in.of.system.Root.Send(in.of.self, &news{r, notice}) })
	in.requests[id] = r
	r.Waits()
	r.call = in.calls.Call(&r.want, 0, r.Notices)
}

// take passes on what an inner request tells.
func (in *inside) take(n *news) {
	id := n.of.id
	if in.requests[id] != n.of {
		return
	}
	if told, is := n.notice.(*messages.Behind); is {
		in.of.table.WaitsFor(id, told.Contender)
		return
	}
	in.of.table.Told(in.of.now(), id, n.notice)
	if to, _ := messages.EndOf(n.notice); to.Terminal() {
		delete(in.requests, id)
	}
}

// command takes a command of the table's for a request that may be inside.
func (in *inside) command(id string, command any) {
	r := in.requests[id]
	if r == nil {
		return
	}
	switch c := command.(type) {
	case *messages.Revoke:
		r.Revoke()
	case *messages.Release:
		in.calls.Withdraw(r.call, r.Leaves(messages.ReasonReleased))
	case *messages.Cancel:
		in.calls.Withdraw(r.call, r.Leaves(c.Reason))
	}
}

// endAfter gives a request up when what it was promised has run out: the gateway has stopped by then.
func (in *inside) endAfter(id string, left time.Duration) {
	if r := in.requests[id]; r != nil {
		time.AfterFunc(left, func() { in.calls.Withdraw(r.call, messages.ReasonOwnerGone) })
	}
}

// close keeps nothing any more.
func (in *inside) close() {
	if in.calls != nil {
		in.calls.Close()
	}
}
