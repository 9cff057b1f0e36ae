package actors

import (
	"cmp"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/singleton"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// NewSingleton makes the props of an actor that exists once among all that campaign for one lock
// path. Spawn it on every node on which the user's actor may run. It campaigns; while it holds the
// lock it runs the user's actor, of the given props, as its child.
//
//	pid := system.Root.Spawn(actors.NewSingleton(session, messages.Acquire{Path: "/singletons/billing"}, billing))
//
// # The child
//
// Its first message, behind *actor.Started, is an *[Activation], with the fencing token and a
// context. Each incarnation gets it, before anything else. The context ends when the lock is lost or
// revoked, when somebody asks for it, when the singleton is stopped, and when the child has failed
// too often; context.Cause says which ([ErrSingletonLost], [ErrSingletonAsked],
// [ErrSingletonStopped], [ErrSingletonFailing]). Then the child is stopped as by actor.Context.Stop,
// behind the message that it is at. So whatever takes long in Receive must end with the context.
//
// # One at a time
//
// The lock is given back when the child's Terminated has come, and not before: when the singleton
// was stopped, poisoned, restarted by its supervisor, or has panicked, when somebody asked for the
// lock, and when the child has failed too often. Nothing bounds that wait but the lease: a child that
// never ends keeps the lock for as long as the session lives. Acquire.Grace bounds it for one that
// was asked, an operator breaks it with messages.Break, and Session.Close waits no longer than a
// session timeout.
//
// A lock that is lost can be had by another node at once. That is after the lease's deadline, when
// the context has ended and Activation.Valid is false, by a clock that no pause of the process
// stops. What cannot be waited for ends a lock before its deadline, as it does under any holder: an
// operator who deletes the node, or a session actor that is stopped. Fencing tokens are for that. No
// new campaign begins here while the child has not ended.
//
// # Failures
//
// A panic of the child is its supervisor's, which is the singleton: give it a strategy by
// props.Configure(actor.WithSupervisor(strategy)); protoactor's own restarts a child ten times in
// ten seconds. A panic in Stopping or Stopped is logged, and the child ends. A child that ends by
// itself is spawned anew, under the same lock. [WithFailures] says how many restarts and ends give
// the lock to another node.
//
// After a loss, and after a campaign that failed for a reason that may pass, the next campaign begins
// after a pause that grows from 100 ms to 10 s while no term lasts that long, with jitter. A campaign
// that cannot succeed ends the singleton, for bad input, an ACL, or a session that is closed: its
// parent is told messages.Failed, from the singleton, and it stops.
//
// # Messages
//
// What is sent to the singleton's address is forwarded to the child, with sender and headers, while
// the lease is valid. The clock is read again before the child takes a message. What comes while the
// singleton is nobody's on this node is answered as the actor system answers messages to an actor
// that has ended, by a DeadLetterEvent for the singleton's address and a DeadLetterResponse to the
// sender, or is kept: see [WithBuffer]. As with any actor, what is in the child's mailbox when it is
// stopped vanishes without a dead letter. Addresses of other nodes' singletons are not found here:
// ask the lock path who holds (messages.ReadQueue).
//
// # What may be asked for
//
// want is a mutex: Mode Exclusive, without Try, Timeout, Sticky, Owner and Reentry. Anything else is
// told as messages.Failed, like options out of their range, and nothing is sent. from is a *Session,
// or gateways (package gateway). No from, or no props, panics.
func NewSingleton(from LockSource, want messages.Acquire, props *actor.Props, opts ...SingletonOption) *actor.Props {
	if from == nil || props == nil {
		panic("turnstile: actors.NewSingleton: the source of locks is nil, or the props are")
	}
	_ = from.NewLock(want) // a nil session or nil gateways: it panics
	settings := singletonSettings{failures: 3, within: time.Minute, out: longestPause}
	for _, opt := range opts {
		opt(&settings)
	}
	return actor.PropsFromProducer(func() actor.Actor { return newSingleton(from, want, props, settings) })
}

// LockSource is where a lock comes from: a *Session, or gateways (package gateway).
type LockSource interface {
	// NewLock makes the props of a lock actor.
	NewLock(want messages.Acquire, opts ...LockOption) *actor.Props
	// Clock is the lease clock of a grant: that of its messages.Held.Epoch.
	Clock(epoch uint64) *zkconn.LeaseClock
}

// NewLock is the function NewLock with this session.
func (s *Session) NewLock(want messages.Acquire, opts ...LockOption) *actor.Props {
	return NewLock(s, want, opts...)
}

// The pauses between campaigns: a tenth of a second keeps a singleton whose terms fail at once from
// loading the servers, ten seconds is as long as a default session lasts.
const (
	shortestPause = 100 * time.Millisecond
	longestPause  = 10 * time.Second
)

// SingletonOption changes how a singleton works.
type SingletonOption func(*singletonSettings)

type singletonSettings struct {
	failures    int
	within, out time.Duration
	buffer      int
	lockOptions []LockOption
}

// WithFailures says how many failures of the child, restarts by its supervisor and ends of its own,
// within so long give the lock to another node: the child is stopped, the lock is given back, and
// this node campaigns again after out. Without it they are 3 in a minute, and out is 10 s.
//
// Fewer than one failure, or a time of zero or less, is bad input.
func WithFailures(count int, within, out time.Duration) SingletonOption {
	return func(s *singletonSettings) { s.failures, s.within, s.out = count, within, out }
}

// WithBuffer keeps up to so many messages that come while the singleton is nobody's on this node.
// The next child gets them in order, before anything that comes later. Those above the bound, and
// all that are left when the singleton stops, become dead letters. Without it none is kept.
//
// A negative bound is bad input.
func WithBuffer(messages int) SingletonOption {
	return func(s *singletonSettings) { s.buffer = messages }
}

// WithLockOptions gives options to the lock actor of each campaign: WithObserver names actors that
// follow them all. WithOwner and WithListener are the singleton's own, and have no effect.
func WithLockOptions(opts ...LockOption) SingletonOption {
	return func(s *singletonSettings) { s.lockOptions = append(s.lockOptions, opts...) }
}

// check finds what is wrong with what a singleton is asked to do. The error wraps ErrBadAcquire, or
// is that of CheckAcquire.
func (s *singletonSettings) check(want messages.Acquire) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: a singleton: %s", ErrBadAcquire, fmt.Sprintf(format, args...))
	}
	var err error
	switch {
	case want.Mode != messages.Exclusive:
		err = wrong("mode %v: only a mutex makes an actor single", want.Mode)
	case want.Try || want.Timeout != 0:
		err = wrong("try, or a timeout: it waits for its turn for as long as it runs")
	case want.Sticky != 0:
		err = wrong("sticky for %v: a node that has resigned would keep the lock", want.Sticky)
	case want.Owner != "" || want.Reentry:
		err = wrong("an owner, or reentry: its hold is its own, and is not shared")
	case s.failures < 1 || s.within <= 0 || s.out <= 0:
		err = wrong("%d failures in %v, then out for %v: each must be more than zero", s.failures, s.within, s.out)
	case s.buffer < 0:
		err = wrong("a buffer of %d messages: it is negative", s.buffer)
	}
	return cmp.Or(CheckAcquire(want), err)
}

// passes tells whether a campaign may succeed after one that ended so.
func passes(notice any) (reason messages.Reason, detail string, again bool) {
	switch n := notice.(type) {
	case *messages.Failed:
		reason, detail = n.Reason, n.Detail
		switch reason {
		case messages.ReasonUnreachable, messages.ReasonGatewayFull, messages.ReasonStopped, messages.ReasonHoldGone:
			again = true
		}
	case *messages.Lost:
		reason, detail, again = n.Reason, n.Detail, n.Reason != messages.ReasonSessionClosed
	case *messages.Cancelled:
		reason, again = n.Reason, n.Reason != messages.ReasonSessionClosed
	default: // given back, taken by force, or stopped from outside
		again = true
	}
	return reason, detail, again
}

// newMachine makes the decisions of one incarnation.
func (s *singletonSettings) newMachine() singleton.Machine {
	return singleton.Machine{Failures: s.failures, Within: s.within}
}
