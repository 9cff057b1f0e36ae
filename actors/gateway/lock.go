package gateway

import (
	"cmp"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/extensions"
	"github.com/google/uuid"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway/internal/relay"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/actors/internal/audience"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// NewLock makes the props of a lock actor that acquires over a gateway. Use it as the props of
// actors.NewLock. It takes the same options and commands, and sends the same notices. It tells the
// observers the changes of state of the gateway's lock actor. Options that name actors on other
// nodes are refused, actors.WithRemote or not: the owner runs on the node of its lock actor.
//
// It differs in this:
//
//   - Held.Epoch, Held.Term and the times in notices go by at.Clock(held.Epoch). Held.Session is
//     the gateway's session.
//   - When the gateway is silent, the request is recovering, and Suspended is told, as when a
//     session's connection is down. At its deadline the lock is lost.
//   - A listener is told that the predecessor is unknown while the gateway's servers are silent,
//     and when the request goes to another gateway.
//   - Acquire.Grace lasts longer where a lease that was promised before lasts longer: see package
//     relay's rule of time.
//   - A request that was given up or back while no gateway answers ends as Failed, with
//     messages.ReasonUnreachable, after a few seconds. The gateway gives the lock back by itself.
//   - messages.WatchContention and Check need Acquire.TellMore. They are void, as after any Suspended, when
//     the gateway is silent. A holder hears of the end of its node a message later than the gateway: see
//     package relay, Shared holds.
//   - A gateway that is closed, where no other one is named, is told as messages.ReasonUnreachable.
//     messages.ReasonSessionClosed says that at is closed.
//   - A downgrade (Acquire.Beside) goes to the gateway by which the writer holds, if at is the same for both.
//
// No gateway, or a nil one, is told as Failed, like other bad input. A nil at panics.
func NewLock(at *Gateways, want messages.Acquire, opts ...actors.LockOption) *actor.Props {
	if at == nil {
		panic("turnstile: gateway.NewLock: the gateways are nil")
	}
	return actor.PropsFromProducer(func() actor.Actor {
		return &requester{at: at, want: want, audience: audience.Local(opts), clock: zkconn.NewLeaseClock(nil)}
	})
}

// requester is the lock actor: a shell around relay.Requester.
type requester struct {
	at       *Gateways
	want     messages.Acquire
	audience audience.Audience
	clock    *zkconn.LeaseClock
	epoch    uint64
	term     uint64 // of the clock, while it holds
	relay    *relay.Requester
	route    route
	timer    *time.Timer
	pins     bool // it holds, and a downgrade goes where it does
	newest   messages.Transition
}

// Messages of a requester to itself, and of its Gateways to it.
type (
	wake     struct{}
	shutdown struct{}
)

func (q *requester) now() relay.Instant { return relay.Instant(q.clock.Elapsed()) }

// Receive takes one message. A panic ends this lock actor; its lock is the gateway's to give back
// then.
func (q *requester) Receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			q.clock.End()
			ctx.Stop(ctx.Self())
			mailbox.LogPanic(ctx.ActorSystem(), "lock actor panicked", r)
		}
	}()
	q.checkLease(ctx)
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		q.begin(ctx)
	case *wire.Reply:
		q.hear(ctx, msg)
	case *found:
		q.route.found(ctx, msg)
	case *actor.DeadLetterResponse:
		q.route.missed()
	case *wake:
		q.follow(ctx)
		q.perform(ctx, q.relay.Wake(q.now()))
	case *messages.Release, messages.Release:
		q.wish(ctx, relay.Release, messages.ReasonNone)
	case *messages.Cancel:
		q.wish(ctx, relay.Cancel, msg.Reason)
	case messages.Cancel:
		q.wish(ctx, relay.Cancel, msg.Reason)
	case *messages.Revoke, messages.Revoke:
		q.wish(ctx, relay.Revoke, messages.ReasonNone)
	case *messages.WatchContention, messages.WatchContention:
		q.perform(ctx, q.relay.Ask(q.now(), relay.WatchContention))
	case *messages.Check, messages.Check:
		q.perform(ctx, q.relay.Ask(q.now(), relay.Check))
	case *messages.Observe, messages.Observe:
		q.audience.Join(ctx, &messages.Transition{Grant: q.newest.Grant, To: q.newest.To, Session: q.newest.Session, At: time.Now()})
	case *shutdown:
		q.perform(ctx, q.relay.Close())
	case *actor.Terminated: // only the owner is watched
		if audience.OwnerEnded(msg) {
			q.wish(ctx, relay.Cancel, messages.ReasonOwnerGone)
		}
	case *actor.Stopping:
		q.stop(ctx)
	case *actor.Restarting: // it ends: its hold is over, and only its end tells its owner so
		q.stop(ctx)
		q.at.remove(q.epoch)
		ctx.Stop(ctx.Self())
	case *actor.Stopped:
		q.at.remove(q.epoch) // before a listener may panic
		q.audience.Stopped(ctx, msg)
	}
}

func (q *requester) begin(ctx actor.Context) {
	answerAfterwards(ctx.ActorSystem())
	by := messages.IDOf(cmp.Or(ctx.Parent(), ctx.Self())).Key(ctx.ActorSystem().ID)
	want := q.want
	if want.Caller == "" && want.Owner == "" {
		want.Caller = queue.Caller(by)
	}
	want.Owner = cmp.Or(want.Owner, by)
	q.route = route{at: q.at, path: want.Path}
	q.relay = relay.NewRequester(uuid.NewString(), q.at.count(), want)
	q.relay.Prefer(q.start())
	q.newest.Grant = messages.Grant{Path: want.Path, Actor: messages.IDOf(ctx.Self())}
	epoch, open := q.at.add(ctx.Self(), q.clock)
	q.epoch = epoch
	err := cmp.Or(q.audience.Begin(ctx), actors.CheckAcquire(want), q.at.check(), checkReclaim(want),
		checkText(wire.FromAcquire(want)))
	switch {
	case err != nil:
		q.perform(ctx, q.relay.Refuse(err.Error()))
	case !open:
		q.perform(ctx, q.relay.Close())
	default:
		q.perform(ctx, q.relay.Begin(q.now()))
	}
}

// start gives the gateway to begin with: the one by which the writer of a downgrade holds, or else the
// one in use.
func (q *requester) start() int {
	if at, holds := q.holder(); holds {
		return q.route.pin(at, 0)
	}
	return q.at.begin()
}

// holder gives the gateway by which the writer of a downgrade holds.
func (q *requester) holder() (at location, holds bool) {
	if q.want.Beside == "" {
		return location{}, false
	}
	return q.at.holder(heldNode{q.want.Path, q.want.Beside})
}

// follow keeps a downgrade where the writer holds.
func (q *requester) follow(ctx actor.Context) {
	if at, holds := q.holder(); holds {
		q.perform(ctx, q.relay.Pin(q.now(), q.route.pin(at, q.relay.Gateway())))
	} else {
		q.relay.Unpin()
		q.route.unpin()
	}
}

func (q *requester) hear(ctx actor.Context, x *wire.Reply) {
	p, wrong := readReply(x)
	if wrong != "" && x.GetId() == q.relay.ID() {
		q.perform(ctx, q.relay.Garbled(wrong))
		return
	}
	if wrong == "" {
		q.follow(ctx)
		if p.Acceptance == relay.Known && p.ID == q.relay.ID() {
			q.route.stay(ctx.Sender())
		}
		before := q.relay.Accepted()
		q.perform(ctx, q.relay.Reply(q.now(), p))
		q.at.timeout.Store(int64(q.relay.SessionTimeout()))
		if !before && q.relay.Accepted() {
			q.at.accept(q.relay.Gateway())
		}
	}
}

func (q *requester) wish(ctx actor.Context, w relay.Wish, why messages.Reason) {
	q.perform(ctx, q.relay.Wish(q.now(), w, why))
}

// checkLease ends a hold whose lease clock has a gap. The clock may have run out between the moment that
// the relay was told as now and the extension that followed: then a new term has begun, in which the
// owner's lease is not valid.
func (q *requester) checkLease(ctx actor.Context) {
	if q.relay != nil && q.relay.Holding() && !q.clock.Unbroken(q.term) {
		q.perform(ctx, q.relay.LeaseOver(q.now()))
	}
}

// stop is the end of this actor, wherever it comes from.
func (q *requester) stop(ctx actor.Context) {
	q.perform(ctx, q.relay.Stop(q.now()))
	if q.timer != nil {
		q.timer.Stop()
	}
	q.clock.End()
	q.audience.Watched(ctx, func(pid *actor.PID) { mailbox.Unwatch(ctx, pid) })
}

// perform carries out the outputs, and sets the timer.
func (q *requester) perform(ctx actor.Context, out []relay.Output) {
	q.letGo() // first: an owner that hears of the end may ask for the lock at once, and must not follow this request
	ending := false
	for _, o := range out {
		switch o := o.(type) {
		case relay.Send:
			q.route.send(ctx, o.Gateway, writeRequest(o.Request))
		case relay.Dismiss:
			ctx.Request(ctx.Sender(), writeRequest(o.Request))
		case relay.Trouble:
			q.audience.Troubled(o.Text)
		case relay.WaitFor:
			q.audience.WaitsFor(ctx, q.newest.Grant, predecessorOf(o.Predecessor), true)
		case relay.Extend:
			q.clock.ExtendTo(time.Duration(o.Until))
		case relay.EndLease:
			q.clock.End()
		case relay.Say:
			q.say(ctx, o)
		case relay.End:
			ending = true
		}
	}
	q.letGo()
	if ending {
		ctx.Stop(ctx.Self())
		return
	}
	q.startTimer(ctx)
	q.checkLease(ctx)
}

// predecessor is the contender that a request waits for, as a gateway has told it.
type predecessor messages.Contender

// predecessorOf gives the predecessor; nil where none is known.
func predecessorOf(c messages.Contender) audience.Predecessor {
	if !c.HasNode() {
		return nil
	}
	return (*predecessor)(&c)
}

// Contender describes it. Its path is that of the request.
func (p *predecessor) Contender(string) messages.Contender { return messages.Contender(*p) }

// letGo stops downgrades from following this request, once it holds no more.
func (q *requester) letGo() {
	if q.pins && !q.relay.Holding() {
		q.pins = false
		q.at.letGo(q.epoch)
	}
}

// startTimer has the request woken when something is due.
func (q *requester) startTimer(ctx actor.Context) {
	root, self, left := ctx.ActorSystem().Root, ctx.Self(), time.Duration(q.relay.Due()-q.now())
	if q.timer != nil {
		q.timer.Stop()
	}
	q.timer = time.AfterFunc(left, func() { root.Send(self, &wake{}) })
}

// say completes a notice with the actor, the times and the term of this end, and tells it.
func (q *requester) say(ctx actor.Context, s relay.Say) {
	if grant := wire.GrantIn(s.Notice); grant != nil {
		grant.Actor = messages.IDOf(ctx.Self())
	}
	switch n := s.Notice.(type) {
	case *messages.Transition:
		n.At = time.Now()
		q.newest = *n
		q.audience.Record(ctx, n)
		return
	case *messages.Held:
		n.Epoch, n.Until = q.epoch, q.clock.Deadline()
		q.term, _ = q.clock.Term()
		n.Term = q.term
		q.at.hold(q.epoch, heldNode{q.want.Path, n.Node}, q.route.holdsBy())
		q.pins = true
	case *messages.Suspended:
		n.Until = q.clock.Deadline()
	case *messages.Resumed:
		n.Until = q.clock.Deadline()
	case *messages.RevokeRequested:
		if s.Deadline != 0 {
			n.Deadline = time.Now().Add(time.Duration(s.Deadline - q.now()))
		}
	}
	q.audience.Tell(ctx, s.Notice)
}

// afterwards has an actor system answer the replies of gateways that come for requesters which have ended: see
// relay.Afterwards. Such a reply finds no actor, so nothing has to be remembered of requests that are over. There is one
// in each system, for as long as that lives.
type afterwards struct{}

var (
	afterwardsID = extensions.NextExtensionID()
	registering  sync.Mutex
)

func (afterwards) ExtensionID() extensions.ExtensionID { return afterwardsID }

// answerAfterwards registers afterwards with a system, once.
func answerAfterwards(system *actor.ActorSystem) {
	registering.Lock()
	defer registering.Unlock()
	if system.Extensions.Get(afterwardsID) != nil {
		return
	}
	system.Extensions.Register(afterwards{})
	system.EventStream.Subscribe(func(event any) {
		missed, _ := event.(*actor.DeadLetterEvent)
		if missed == nil || missed.Sender == nil {
			return
		}
		reply, _ := missed.Message.(*wire.Reply)
		if reply == nil {
			return
		}
		p, wrong := readReply(reply)
		if wrong != "" { // the rest of the reply does not matter any more
			p = relay.Reply{ID: reply.GetId(), Gateway: reply.GetGateway(), Number: reply.GetNumber()}
		}
		for _, o := range relay.Afterwards(p) {
			system.Root.RequestWithCustomSender(missed.Sender, writeRequest(o.(relay.Dismiss).Request), missed.PID)
		}
	})
}
