package gateway

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
)

// route is the way of one request to its gateway: to one that is named, or to one that is found. What
// is found may only forward to a gateway, and another one the next time. So once a gateway has accepted
// the request, the way leads to that one directly.
type route struct {
	at    *Gateways
	path  string
	begun int // with which of those that are named

	place  int        // that the request is at, as package relay numbers them
	to     *actor.PID // nil until it is found
	stays  bool       // to has accepted the request
	again  bool       // what was found before did not answer
	asking bool       // the finder is at work
	waits  *wire.Request
}

// found is what a finder has found.
type found struct {
	place int
	pid   *actor.PID
}

// IgnoreDeadLetterLogging keeps it out of the log: the request may have ended.
func (*found) IgnoreDeadLetterLogging() {}

// send sends to a gateway, by its place. While that is being found the newest request waits for it;
// others count as lost.
func (r *route) send(ctx actor.Context, place int, x *wire.Request) {
	if r.at.find == nil {
		r.place = place
		ctx.Request(r.at.pids[r.named()], x)
		return
	}
	if place != r.place {
		r.place, r.to, r.stays, r.again = place, nil, false, true
	}
	if r.to != nil {
		ctx.Request(r.to, x)
		return
	}
	r.waits = x
	if r.asking {
		return
	}
	r.asking = true
	find, path, again := r.at.find, r.path, r.again
	root, self := ctx.ActorSystem().Root, ctx.Self()
	go func() { root.Send(self, &found{place, find(path, again)}) }()
}

// found takes what a finder has found, and sends what waits for it.
func (r *route) found(ctx actor.Context, f *found) {
	r.asking = false
	x := r.waits
	r.waits = nil
	switch {
	case f.pid == nil: // the next sending has it looked for again
		r.again = true
	case f.place == r.place && r.to == nil:
		r.to = f.pid
	}
	if x != nil && (r.to != nil || f.place != r.place) {
		r.send(ctx, r.place, x)
	}
}

// named is which of the gateways that are named the request is at.
func (r *route) named() int { return (r.begun + r.place) % len(r.at.pids) }

// stay notes who has accepted the request.
func (r *route) stay(gateway *actor.PID) {
	switch {
	case r.at.find == nil:
		r.at.answered(r.named())
	case !r.stays && gateway != nil:
		r.to, r.stays = gateway, true
	}
}

// missed takes it that nobody is where a message was sent. A gateway that has accepted the request is
// not given up for that: the word may be of an earlier message, and package relay knows what its
// silence means.
func (r *route) missed() {
	if r.at.find != nil && !r.stays {
		r.to, r.again = nil, true
	}
}
