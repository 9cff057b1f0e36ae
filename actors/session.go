package actors

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// session is the session actor: the shell of a coordinator. It tells it what happens, and does what that
// decides. Its fields belong to the actor: only Receive and what it calls touch them. Goroutines get what
// they need as arguments and answer with messages.
type session struct {
	*Session
	self *actor.PID
	log  *slog.Logger

	info    *sessionInfo // of the current epoch
	link    *zkconn.Conn // likewise
	ending  bool
	decides *coordinator.Coordinator
	locks   map[coordinator.RequestID]*actor.PID // lock actors that have not ended
	timers  map[uint64]*time.Timer               // the coordinator's
	pauses  map[*time.Timer]struct{}             // the dispatcher's
	queries *inspect.Dispatcher
	running sync.WaitGroup // goroutines of requests
}

func newSession(handle *Session) *session {
	s := &session{
		Session: handle,
		log:     handle.opts.log,
		decides: coordinator.New(handle.opts.without.switches(), handle.cfg.SessionTimeout()),
		locks:   map[coordinator.RequestID]*actor.PID{},
		timers:  map[uint64]*time.Timer{},
		pauses:  map[*time.Timer]struct{}{},
	}
	s.queries = s.newDispatcher()
	return s
}

// Receive takes one message. A panic ends the session: an actor that lost its state must not go on.
func (s *session) Receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			s.system.Root.Stop(s.self)
			logPanic(s.log, "session actor panicked", r)
			s.fail(fmt.Errorf("%w: panic: %v", ErrSessionClosed, r))
		}
	}()
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		s.self = ctx.Self()
		s.open(1)
	case *order:
		s.take(ctx.Sender(), msg)
	case *answered:
		s.answer(msg)
	case *done:
		if s.of(msg.epoch) {
			msg.then()
		}
	case *tick:
		if msg.epoch == s.info.epoch && !s.ending {
			s.apply(coordinator.Fired{Timer: msg.timer})
		}
	case zkconn.Event:
		if msg.Epoch == s.info.epoch && !s.ending {
			s.happened(msg)
		}
	case leaving:
		delete(s.locks, msg.request)
		if !s.ending {
			s.apply(coordinator.Ended{Request: msg.request})
		}
	case *actor.Terminated:
		s.queries.Unfollow(Address(s.system, msg.Who), "")
	case *messages.Follow:
		s.follow(ctx, msg.Path)
	case *messages.Unfollow:
		s.queries.Unfollow(Address(s.system, ctx.Sender()), msg.Path)
	case *asked:
		s.queries.Ask(msg, msg.query, func(answer any) { msg.answer <- answer })
	case *withdrawn:
		s.queries.Withdraw(msg.asked)
	case *shutdown:
		s.fail(ErrSessionClosed)
	case *actor.Stopping:
		s.end(ErrSessionClosed)
	case *actor.Stopped:
		s.closeDown()
	default:
		s.queries.Ask(Address(s.system, ctx.Sender()), msg, s.replyTo(ctx.Sender()))
	}
}

// take carries out an order.
func (s *session) take(lock *actor.PID, o *order) {
	s.locks[o.Request] = lock
	if s.ending {
		s.system.Root.Send(lock, &news{Event: machine.Event{Kind: machine.Closed}, Session: s.info})
		return
	}
	s.apply(&o.Order)
}

// of tells whether something belongs to the current epoch: else the session that it belonged to is dead, and
// its nodes with it.
func (s *session) of(epoch uint64) bool {
	if epoch != s.info.epoch {
		s.stale.Add(1)
	}
	return epoch == s.info.epoch
}

// apply tells the coordinator something, and does what it decides.
func (s *session) apply(in coordinator.Input) { s.applyAfter(in, 0) }

// applyAfter is apply for the answer to a query that took some time.
func (s *session) applyAfter(in coordinator.Input, took time.Duration) {
	run, valid := s.info.look()
	at := coordinator.At{Moment: coordinator.Moment(s.figures.Now()), Took: took,
		Lease: coordinator.Lease{Run: run, Valid: valid, Left: time.Until(s.info.clock.Deadline())}}
	before := s.decides.Stale()
	for _, out := range s.decides.Apply(in, at) {
		s.carryOut(out)
	}
	s.stale.Add(s.decides.Stale() - before)
}

// carryOut does one thing that the coordinator has decided.
func (s *session) carryOut(out coordinator.Output) {
	switch out := out.(type) {
	case *coordinator.Tell:
		if lock := s.locks[out.To]; lock != nil {
			out.Session = s.info
			s.system.Root.Send(lock, (*news)(out))
		}
	case *coordinator.Ask:
		s.ask(out)
	case coordinator.StartTimer:
		s.startTimer(out)
	case coordinator.StopTimer:
		s.timers[out.Timer].Stop()
		delete(s.timers, out.Timer)
	case coordinator.NewEpoch:
		s.endEpoch(out.Epoch)
	case coordinator.Hurry:
		s.link.Hurry(out.Urgent)
	case *coordinator.Note:
		s.note(out)
	}
}

// ask carries out a query on a goroutine.
func (s *session) ask(ask *coordinator.Ask) {
	s.countBatch(ask.Query)
	root, self, epoch := s.system.Root, s.self, s.info.epoch
	on := carrier{conn: s.link, parentWrites: s.opts.without&OneRoundTrip == 0}
	s.running.Add(1)
	s.workers.do(func() {
		a := &answered{epoch: epoch}
		a.ID = ask.ID
		begun := time.Now()
		defer s.running.Done()
		defer func() {
			a.panicked = recover() // it is the actor's to fail, not the program's
			a.took = time.Since(begun)
			root.Send(self, a)
		}()
		a.Answer = on.carryOut(ask.Query)
	})
}

// answer takes the answer to a query.
func (s *session) answer(a *answered) {
	switch {
	case a.panicked != nil:
		panic(a.panicked)
	case s.of(a.epoch) && !s.ending:
		s.applyAfter(&a.Reply, a.took)
	}
}

// countBatch counts the operations of a transaction.
func (s *session) countBatch(query coordinator.Query) {
	switch q := query.(type) {
	case *coordinator.Create:
		s.figures.Batch(1)
	case *coordinator.Commit:
		s.figures.Batch(len(q.Creates) + len(q.Deletes))
	}
}

// startTimer starts a timer of the coordinator's.
func (s *session) startTimer(t coordinator.StartTimer) {
	root, self, due := s.system.Root, s.self, &tick{epoch: s.info.epoch, timer: t.Timer}
	s.timers[t.Timer] = time.AfterFunc(t.After, func() { root.Send(self, due) })
}

// elsewhere does the dispatcher's work on a goroutine, and what it returns on the actor. The work must touch
// nothing of the actor's.
func (s *session) elsewhere(work func(*zkconn.Conn) (then func())) {
	root, self, conn, epoch := s.system.Root, s.self, s.link, s.info.epoch
	s.running.Add(1)
	s.workers.do(func() {
		then := func() {}
		defer s.running.Done()
		defer func() {
			if r := recover(); r != nil { // it is the actor's to fail, not the program's
				then = func() { panic(r) }
			}
			root.Send(self, &done{epoch: epoch, then: then})
		}()
		then = work(conn)
	})
}

// after does something on the actor once d has passed, unless the epoch is over by then.
func (s *session) after(d time.Duration, do func()) {
	root, self, epoch := s.system.Root, s.self, s.info.epoch
	var timer *time.Timer
	fire := func() { delete(s.pauses, timer); do() }
	timer = time.AfterFunc(d, func() { root.Send(self, &done{epoch: epoch, then: fire}) })
	s.pauses[timer] = struct{}{}
}

// closedTo tells a lock actor that the session has ended.
func closedTo(root *actor.RootContext, lock *actor.PID) {
	root.Send(lock, &alarm{machine.Event{Kind: machine.Closed}})
}
