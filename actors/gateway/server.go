package gateway

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway/internal/relay"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/actors/internal/audience"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/messages"
)

// ErrSessionFile: the session has a session file, and so cannot have a gateway. A process that is
// started again after a crash closes its predecessor's session at once, while the predecessor's
// promises to other nodes have not run out.
var ErrSessionFile = errors.New("turnstile: a session with a session file cannot have a gateway")

// server is the gateway actor: a shell around relay.Table. Its lock actors are not its children,
// for those would be stopped with it, and promises must be kept.
type server struct {
	session *actors.Session
	with    options
	system  *actor.ActorSystem
	self    *actor.PID
	table   *relay.Table
	begun   time.Time
	locks   map[string]*actor.PID // by the ids of requests
	ids     map[string]string     // the other way round, by the ids of the lock actors
	queries *queries
	inside  inside // zero without WithCohort

	flushing   bool
	sweepTimer *time.Timer
	drained    []chan struct{}
	stopped    chan struct{}
	until      atomic.Pointer[time.Time] // when the last promise runs out; set before stopped is closed
	forget     func()
}

// Messages of the gateway to itself.
type (
	flush     struct{}
	sweep     struct{}
	lockEnded struct{ who *actor.PID }
	drain     struct{ done chan struct{} }
	troubled  struct{ id, text string }
	waitsFor  struct {
		id          string
		predecessor messages.Contender
	}
)

// ear passes the trouble and the predecessor of a request from its lock actor to the gateway, which
// gets all else as an observer.
type ear struct {
	id, path string
	of       *server
}

func (e *ear) Moved(messages.State, string) {}
func (e *ear) Hear(*actor.PID, any)         {}
func (e *ear) Troubled(text string)         { e.of.system.Root.Send(e.of.self, &troubled{e.id, text}) }
func (e *ear) WaitsFor(p audience.Predecessor) {
	e.of.system.Root.Send(e.of.self, &waitsFor{e.id, p.Contender(e.path)})
}

func newGateway(session *actors.Session, with options) *server {
	return &server{session: session, queries: &queries{session: session}, with: with, begun: time.Now(),
		locks: map[string]*actor.PID{}, ids: map[string]string{}, stopped: make(chan struct{})}
}

func (g *server) now() relay.Instant { return relay.Instant(time.Since(g.begun)) + 1 }

// Left is for how long the lease of a grant still runs.
func (g *server) Left(epoch, term uint64) time.Duration {
	clock := g.session.Clock(epoch)
	left := time.Until(clock.Deadline())
	if !clock.Unbroken(term) {
		return 0
	}
	return left
}

// Receive takes one message. A panic ends the gateway; its promises are kept.
func (g *server) Receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			ctx.Stop(ctx.Self())
			mailbox.LogPanic(g.system, "gateway panicked", r)
		}
	}()
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		g.start(ctx)
	case *wire.Request:
		g.request(ctx, msg)
	case *wire.Query:
		g.queries.answer(ctx, msg)
	case *messages.Transition, *messages.Waiting, *messages.Held, *messages.Watched, *messages.Contended,
		*messages.Checked, *messages.Suspended, *messages.Resumed, *messages.RevokeRequested, *messages.Revoked, *messages.Deadlocked, *messages.Released, *messages.Lost,
		*messages.Cancelled, *messages.Failed:
		g.told(ctx, msg)
	case *actor.Terminated:
		ctx.Send(ctx.Self(), &lockEnded{msg.Who}) // it overtakes the last notices, this does not
	case *lockEnded:
		g.lockEnded(msg.who)
	case *news:
		g.inside.take(msg)
		g.flushSoon(ctx)
	case *troubled:
		g.table.Troubled(msg.id, msg.text)
		g.flushSoon(ctx)
	case *waitsFor:
		g.table.WaitsFor(msg.id, msg.predecessor)
		g.flushSoon(ctx)
	case *flush:
		g.flushing = false
		g.perform(ctx, g.table.Flush(g.now(), g))
	case *sweep:
		g.sweep(ctx)
	case *queryDone:
		g.queries.done()
	case *drain:
		g.drain(ctx, msg)
	case *actor.Stopping:
		g.stop()
	case *actor.Stopped:
		close(g.stopped)
	case *actor.Restarting: // the next incarnation has another name, and none of these requests
		g.stop()
		close(g.stopped)
	}
}

func (g *server) start(ctx actor.Context) {
	g.system, g.self = ctx.ActorSystem(), ctx.Self()
	g.table = relay.NewTable(1+rand.Uint64N(math.MaxUint64), g.session.Timeout(), g.with.limits)
	if g.with.cohort > 1 {
		g.inside = newInside(g)
	}
	g.forget = g.session.BeforeClose(g.last)
	g.startSweepTimer()
}

// last waits until nothing is promised any more. The session calls it before it closes.
func (g *server) last() {
	done := make(chan struct{})
	g.system.Root.Send(g.self, &drain{done})
	select {
	case <-done: // or by the next one, after a restart
	case <-g.stopped:
	}
	if until := g.until.Load(); until != nil {
		time.Sleep(time.Until(*until))
	}
}

// startSweepTimer starts the timer of the next sweep. There are some 16 sweeps in a session
// timeout.
func (g *server) startSweepTimer() {
	root, self := g.system.Root, g.self
	g.sweepTimer = time.AfterFunc(max(g.session.Timeout()/16, time.Millisecond), func() { root.Send(self, &sweep{}) })
}

func (g *server) sweep(ctx actor.Context) {
	g.perform(ctx, g.table.Sweep(g.now()))
	connection, _ := g.session.Connection()
	g.table.Servers(connection.Ready())
	g.perform(ctx, g.table.Flush(g.now(), g))
	g.endDraining(ctx)
	if g.session.Err() != nil && g.ended(ctx) {
		return
	}
	g.startSweepTimer()
}

// ended: the session has ended for good; the gateway stops once all requesters know, or
// are silent.
func (g *server) ended(ctx actor.Context) bool {
	g.perform(ctx, g.table.Close())
	if g.table.Size() > 0 {
		return false
	}
	ctx.Stop(ctx.Self())
	return true
}

// request takes a sending of a requester.
func (g *server) request(ctx actor.Context, x *wire.Request) {
	if ctx.Sender() == nil {
		return
	}
	r, wrong := readRequest(x)
	if g.session.HasFile() {
		wrong = ErrSessionFile.Error()
	}
	switch {
	case wrong == "":
		g.perform(ctx, g.table.Request(g.now(), g, messages.IDOf(ctx.Sender()), r))
	case !x.GetOver():
		ctx.Request(ctx.Sender(), writeReply(relay.Refuse(clip(x.GetId()), x.GetNumber(), wrong)))
	}
}

// told takes a notice of a lock actor.
func (g *server) told(ctx actor.Context, notice any) {
	grant := wire.GrantIn(notice)
	id, known := g.ids[grant.Actor.ID]
	if !known {
		return
	}
	g.table.Told(g.now(), id, notice)
	g.flushSoon(ctx)
}

// lockEnded takes the end of a lock actor.
func (g *server) lockEnded(who *actor.PID) {
	id, known := g.ids[who.GetId()]
	if !known {
		return
	}
	g.table.Ended(g.now(), id)
	delete(g.ids, who.GetId())
	delete(g.locks, id)
	g.system.Root.Send(g.self, &flush{})
}

// flushSoon flushes the table behind the messages that are in the mailbox now: a lock actor sends
// several notices at a time.
func (g *server) flushSoon(ctx actor.Context) {
	if !g.flushing {
		g.flushing = true
		ctx.Send(ctx.Self(), &flush{})
	}
}

// askedBy names the node that asks. The nodes of one requester may weigh a quarter of the session's
// bound: see actors.WithMaxNodeBytes.
func askedBy(node string) actors.LockOption {
	return func(a *audience.Audience) { a.Requester = node }
}

func (g *server) perform(ctx actor.Context, out []relay.Output) {
	for _, o := range out {
		switch o := o.(type) {
		case relay.Spawn:
			if g.inside.shares(&o.Want) {
				g.inside.begin(o.ID, o.Want)
				continue
			}
			lock := g.system.Root.Spawn(actors.NewLock(g.session, o.Want, actors.WithObserver(ctx.Self()),
				askedBy(o.From), actors.WithListener(&ear{o.ID, o.Want.Path, g})))
			g.locks[o.ID], g.ids[lock.GetId()] = lock, o.ID
			ctx.Watch(lock)
		case relay.Tell:
			if lock := g.locks[o.ID]; lock != nil {
				ctx.Send(lock, o.Command)
			} else {
				g.inside.command(o.ID, o.Command)
			}
		case relay.Answer:
			ctx.Request(actor.NewPID(o.To.Address, o.To.ID), writeReply(o.Reply))
		}
	}
}

func (g *server) drain(ctx actor.Context, msg *drain) {
	g.drained = append(g.drained, msg.done)
	g.perform(ctx, g.table.Close())
	g.endDraining(ctx)
}

func (g *server) endDraining(ctx actor.Context) {
	if len(g.drained) == 0 || !g.table.Closed(g.now()) {
		return
	}
	for _, done := range g.drained {
		close(done)
	}
	g.drained = nil
	ctx.Stop(ctx.Self())
}

// stop leaves the lock actors running, and cancels each when its promise has run out.
func (g *server) stop() {
	g.sweepTimer.Stop()
	root, last := g.system.Root, time.Duration(0)
	for id, left := range g.table.Promised(g.now()) {
		last = max(last, left)
		lock := g.locks[id]
		time.AfterFunc(left, func() {
			if lock != nil {
				root.Send(lock, &messages.Cancel{Reason: messages.ReasonOwnerGone})
			}
		})
		g.inside.endAfter(id, left)
	}
	g.inside.close()
	until := time.Now().Add(last)
	g.until.Store(&until)
	time.AfterFunc(last, g.forget)
}
