package gateway

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
)

// route is the way of one request to its gateway, which was named or found. An actor that was found
// may only forward to a gateway, and to another one the next time. So once a gateway has accepted
// the request, the route leads directly to it.
//
// Package relay numbers the gateways that a request may be at. Named gateways have their index.
// With a finder there are two numbers, used in turn: the other number stands for the gateway that
// is found next.
type route struct {
	at   *Gateways
	path string

	index   int           // of the gateway that the request is at
	to      *actor.PID    // the actor that was found; nil before
	stays   bool          // to has accepted the request, or the writer of a downgrade
	again   bool          // the actor that was found before did not answer
	pinned  *actor.PID    // where the writer of a downgrade holds: it goes there instead of to the gateway that is found; nil for nowhere
	asking  bool          // the finder is at work
	pending *wire.Request // sent once the finder has answered
}

// found is a finder's answer.
type found struct {
	index int
	pid   *actor.PID
}

// IgnoreDeadLetterLogging keeps it out of the log: the request may have ended.
func (*found) IgnoreDeadLetterLogging() {}

// send sends to the gateway of this index. While it is being looked up, the newest sending is
// pending; earlier ones count as lost.
func (r *route) send(ctx actor.Context, index int, x *wire.Request) {
	if r.at.find == nil {
		r.index = index
		ctx.Request(r.at.pids[index], x)
		return
	}
	if index != r.index {
		r.index, r.to, r.stays, r.again = index, r.pinned, r.pinned != nil, true
	}
	if r.to != nil {
		ctx.Request(r.to, x)
		return
	}
	r.pending = x
	if r.asking {
		return
	}
	r.asking = true
	root, self := ctx.ActorSystem().Root, ctx.Self()
	r.at.find.look(r.path, r.again, func(pid *actor.PID) { root.Send(self, &found{index, pid}) })
}

// found takes the finder's answer, and sends the pending request.
func (r *route) found(ctx actor.Context, f *found) {
	r.asking = false
	x := r.pending
	r.pending = nil
	switch {
	case f.pid == nil: // the next sending has it looked for again
		r.again = true
	case f.index == r.index && r.to == nil:
		r.to = f.pid
	}
	if x != nil && (r.to != nil || f.index != r.index) {
		r.send(ctx, r.index, x)
	}
}

// stay notes the gateway that has accepted the request.
func (r *route) stay(gateway *actor.PID) {
	if r.at.find != nil && !r.stays && gateway != nil {
		r.to, r.stays = gateway, true
	}
}

// missed: a message was sent to an actor that does not exist. A gateway that has accepted the
// request is not given up for that: an earlier message may have missed, and package relay deals
// with a silent gateway.
func (r *route) missed() {
	if r.at.find != nil && !r.stays {
		r.to, r.again = nil, true
	}
}

// holdsBy is the location of the request, which holds.
func (r *route) holdsBy() location { return location{gateway: r.index, found: r.to} }

// pin gives the index of the gateway by which the owner holds. now is the index of the gateway that
// the request is at, or goes to next.
func (r *route) pin(at location, now int) int {
	if r.at.find == nil {
		return at.gateway
	}
	r.pinned = at.found
	switch {
	case at.found == nil || now != r.index: // it goes there next
		return now
	case r.to == nil:
		r.to, r.stays = at.found, true
		return now
	case r.to.Equal(at.found):
		return now
	}
	return (now + 1) % r.at.count()
}

// unpin lets the request go to a gateway that is found again.
func (r *route) unpin() { r.pinned = nil }
