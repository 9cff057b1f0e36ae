package actors

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// session is the session actor. Its fields belong to the actor: only Receive and what it calls touch
// them. Goroutines get what they need as arguments and answer with done.
type session struct {
	*Session
	self *actor.PID
	log  *slog.Logger

	lease     *lease // of the current epoch
	leaseRun  uint64 // of that lease, the newest that the lock actors know of
	link      *zkconn.Conn
	connected bool
	ending    bool

	held             int          // contenders that hold: see setGranted
	grantedWhileDown bool         // one was granted whose order waits for the connection
	hurries          *zkconn.Conn // the connection that was told that something is held

	contenders map[string]*contender // by the lock actor's name
	births     uint64                // how many there have been
	parked     []parked              // orders that wait for the connection
	facts      *lru.Cache[string, facts]
	newest     map[queueKey]*contender // our node with the greatest sequence number
	claims     map[claim][]*contender
	contests   map[string]int          // by node: how many contenders there are
	shares     map[string]int          // by hold: how many contenders have it besides the first
	gathered   []change                // changes that wait to be committed
	underway   int                     // transactions of changes
	learning   map[string][]change     // by lock path that is being learnt of: who waits for that
	abroad     map[queueKey]int        // contenders that wait behind a node of another session
	joining    map[queueKey]*gathering // creates that wait for company
	turns      map[queueKey]*turn      // where a wait for another session has come to an end
	home       []queueKey              // where such a turn has
	unread     []reading               // own nodes that are to be read, in the order in which they were asked for
	nodes      map[string]ownNode      // by path
	resting    map[queueKey]*rest      // nodes that nobody holds and that may be used again
	listings   map[string]*listing
	watches    map[string][]watcher
	queries    *inspect.Dispatcher

	// run does blocking work on a goroutine of its own, and what the work returns on the actor: elsewhere,
	// but for tests of the actor alone.
	run func(work func(*zkconn.Conn) (then func()))

	beating, watchingLease bool
	beats, answered        uint64         // heartbeats sent, and the newest that came back, with whatever outcome
	looks                  uint64         // at the lease: only the newest timer counts
	beatRun                uint64         // heartbeats follow each other; a new connection begins anew
	running                sync.WaitGroup // goroutines of requests
	timers                 map[*time.Timer]struct{}
}

// knownPaths bounds what is remembered of lock paths that are not in use.
const knownPaths = 4096

func newSession(handle *Session) *session {
	known, err := lru.New[string, facts](knownPaths)
	if err != nil { // only for a size below one
		panic(err)
	}
	s := &session{
		Session:    handle,
		log:        handle.opts.log,
		contenders: map[string]*contender{},
		facts:      known,
		newest:     map[queueKey]*contender{},
		claims:     map[claim][]*contender{},
		shares:     map[string]int{},
		contests:   map[string]int{},
		learning:   map[string][]change{},
		abroad:     map[queueKey]int{},
		joining:    map[queueKey]*gathering{},
		turns:      map[queueKey]*turn{},
		nodes:      map[string]ownNode{},
		resting:    map[queueKey]*rest{},
		listings:   map[string]*listing{},
		watches:    map[string][]watcher{},
		timers:     map[*time.Timer]struct{}{},
	}
	s.run = s.elsewhere
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
		s.take(ctx, msg)
	case *done:
		if msg.epoch != s.lease.epoch {
			s.stale.Add(1) // the session that it belonged to is dead, and its nodes with it
			return
		}
		msg.then()
	case *tick:
		if msg.epoch == s.lease.epoch && !s.ending {
			msg.do()
		}
	case zkconn.Event:
		if msg.Epoch == s.lease.epoch && !s.ending {
			s.happened(msg)
		}
	case *leaving:
		s.abandoned(ctx.Sender())
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
	s.regroup()
	s.hurry()
}

// take carries out an order, or keeps it until there is a connection.
func (s *session) take(ctx actor.Context, o *order) {
	if s.ending {
		s.tell(ctx.Sender(), machine.Event{Kind: machine.Closed})
		return
	}
	if o.epoch != 0 && o.epoch != s.lease.epoch {
		s.stale.Add(1)
		return
	}
	c := s.enlist(ctx.Sender(), o.spec)
	if c.gone { // its end overtook this order
		return
	}
	c.givenBack = o.at
	if o.Ending { // its owner may ask anew, also while the order waits: that request queues behind what may be left
		c.ends = true
		s.unstake(c)
	}
	switch o.Do {
	case machine.Withdraw:
		s.withdraw(c, o)
	case machine.Settle:
		s.settle(c)
	default:
		if !s.connected {
			s.park(c, o)
			return
		}
		s.carryOut(c, o.Effect)
	}
}

// carryOut starts the request that an effect asks for.
func (s *session) carryOut(c *contender, e machine.Effect) {
	switch e.Do {
	case machine.Create:
		s.create(c, e.Op)
	case machine.List:
		s.list(c, e.Op)
	case machine.Watch:
		s.watchPredecessor(c, e)
	case machine.WatchOwn:
		s.watchOwn(c, e)
	case machine.Verify:
		s.verify(c, e.Op)
	case machine.Delete, machine.GiveBack:
		s.remove(c, e)
	default:
		s.log.Error("order that is no request", s.loggedOf(c, logkeys.Effect, e.String())...)
	}
}

// elsewhere does work on a goroutine, and what it returns on the actor. The work must touch nothing of
// the actor's.
func (s *session) elsewhere(work func(*zkconn.Conn) (then func())) {
	root, self, conn, epoch := s.system.Root, s.self, s.link, s.lease.epoch
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
func (s *session) after(d time.Duration, do func()) *time.Timer {
	root, self, epoch := s.system.Root, s.self, s.lease.epoch
	var timer *time.Timer
	fire := func() { delete(s.timers, timer); do() }
	timer = time.AfterFunc(d, func() { root.Send(self, &tick{epoch: epoch, do: fire}) })
	s.timers[timer] = struct{}{}
	return timer
}

// tell sends an event to a lock actor.
func (s *session) tell(lock *actor.PID, ev machine.Event) {
	s.system.Root.Send(lock, &news{event: ev, lease: s.lease})
}

// tellAll sends an event to every lock actor that has not ended.
func (s *session) tellAll(kind machine.Kind) { s.tellEach(machine.Event{Kind: kind}) }

func (s *session) tellEach(ev machine.Event) {
	for _, c := range s.inOrder() {
		if !c.gone {
			s.tell(c.lock, ev)
		}
	}
}
