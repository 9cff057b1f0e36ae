package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/actors/term"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/retry"
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
// context. Each incarnation gets it, before anything else. The context ends when the lock is lost
// or revoked, when somebody asks for it, when the singleton is stopped, and when the child has
// failed too often; context.Cause says which ([ErrSingletonLost], [ErrSingletonAsked],
// [ErrSingletonStopped], [ErrSingletonFailing]). Then the child is stopped as by
// actor.Context.Stop, behind the message that it is at. So everything that takes long in Receive
// must end with the context.
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
// Another node can acquire a lost lock at once. That is after the lease's deadline, when
// Activation.Valid is false, by a clock that no pause of the process stops, and the context has
// ended, unless the process is paused. Two events end a lock before its deadline and do not wait for
// the child: an operator deletes the node, or the session actor is stopped. No holder is safe from
// these, so pass fencing tokens on. No new campaign begins here while the child has not ended.
//
// # Failures
//
// A panic of the child is its supervisor's, which is the singleton: give it a strategy by
// props.Configure(actor.WithSupervisor(strategy)); protoactor's own restarts a child ten times in
// ten seconds. A panic in Stopping or Stopped is logged, and the child ends. A child that ends by
// itself is spawned anew, under the same lock. [WithFailures] says how many restarts and ends give
// the lock to another node.
//
// After a loss the next campaign begins at once, unless that term was over within 100 ms. After a term
// that ended otherwise, and a campaign that failed for a reason that may pass, it begins after a pause.
// That grows from 100 ms to a session timeout, 10 s at most, while no term lasts that long, with
// jitter. A campaign that cannot succeed ends the singleton, for bad input, an ACL, or a session that is closed: its
// parent is told messages.Failed, from the singleton, and it stops.
//
// # Messages
//
// Messages to the singleton's address are forwarded to the child, with sender and headers, while the
// lease is valid. The clock is read again before the child takes a message, and before each
// continuation of actor.Context.ReenterAfter. A continuation whose lease is over, or whose child has
// ended, does not run. Timers, and futures that are piped, come as messages.
//
// A message that comes while no child runs on this node is answered as the actor system answers
// messages to an actor that has ended, by a DeadLetterEvent for the singleton's address and a
// DeadLetterResponse to the sender, or is kept: see [WithBuffer]. As with any actor, messages
// in the child's mailbox when it is stopped vanish without a dead letter. Other nodes may send to the
// singleton; where gateway.WithRecovery is set they cannot stop it. Addresses of other nodes'
// singletons are not found here: ask the lock path who holds (messages.ReadQueue).
//
// Do not give props a mailbox that blocks when it is full (actor.Bounded). The mailbox of a child that
// has panicked takes nothing until its supervisor has decided, which is the singleton, which would wait
// for the mailbox.
//
// # What decides
//
// Package term: paused, campaigning, active, stopping, lapsed, lost, releasing and ended are its phases.
// It is checked in every order of events; tests/singleton runs the real actors in virtual
// time, with a witness, in thousands of random histories.
//
// # What may be asked for
//
// want is a mutex: Mode Exclusive, without Try and Timeout. Anything else is
// told as messages.Failed, like options out of their range, and nothing is sent. from is a *Session,
// or gateways (package gateway). No from, or no props, panics.
func NewSingleton(from Provider, want messages.Acquire, props *actor.Props, opts ...SingletonOption) *actor.Props {
	if from == nil || props == nil {
		panic("turnstile: actors.NewSingleton: the source of locks is nil, or the props are")
	}
	_ = from.NewLock(want) // a nil session or nil gateways: it panics
	settings := singletonSettings{from: from, want: want, props: props, policy: term.Singleton, out: retry.Campaign.Longest}
	settings.policy.Failures, settings.policy.Within = 3, time.Minute
	for _, opt := range opts {
		opt(&settings)
	}
	made := func() actor.Actor { return newSingletonActor(settings) }
	return actor.PropsFromProducer(made, actor.WithMailbox(mailbox.Singleton))
}

// Causes of the end of the context of an Activation, to test with errors.Is.
var (
	// ErrSingletonLost: the lock is not ours any more; the text says why.
	ErrSingletonLost = errors.New("turnstile: the singleton has lost its lock")
	// ErrSingletonAsked: somebody has asked for the lock.
	ErrSingletonAsked = errors.New("turnstile: the lock of the singleton was asked for")
	// ErrSingletonFailing: its actor has failed too often here.
	ErrSingletonFailing = errors.New("turnstile: the singleton has failed too often on this node")
	// ErrSingletonStopped: it was stopped, or its session is about to close.
	ErrSingletonStopped = errors.New("turnstile: the singleton was stopped")
)

// Activation is the first message of each incarnation of a singleton's actor. Its Grant says which
// lock is held, and has the fencing token. It does not pass the receiver middleware of the props.
type Activation struct {
	messages.Grant
	// Context ends with the term, before any other node can have the lock. In a process that is paused
	// nothing ends it in time: there Valid tells.
	Context context.Context
	// Singleton is the address to which others send.
	Singleton *actor.PID
	lease     *term.Lease
}

// Valid reports whether the lock is certain to be ours now. It reads the clock, and so is right
// also in a process that was paused and has not heard yet that it lost the lock. It stays true
// while the actor is being stopped in order, when Context has ended, so that the actor can save its
// state. Once false it stays false.
func (a *Activation) Valid() bool { return a.lease.Valid() }

// Deadline is the end of the lease unless it is renewed. It moves on with each renewal.
func (a *Activation) Deadline() time.Time { return a.lease.Clock.Deadline() }

// SingletonOption changes how a singleton works.
type SingletonOption func(*singletonSettings)

const maxFailures = 1000

type singletonSettings struct {
	from        Provider
	want        messages.Acquire
	props       *actor.Props
	policy      term.Policy
	out         time.Duration // for which this node stays out after too many failures
	buffer      int
	lockOptions []LockOption
}

// WithFailures says how many failures of the child, restarts by its supervisor and ends of its own,
// within so long give the lock to another node: the child is stopped, the lock is given back, and
// this node campaigns again after out. Without it they are 3 in a minute, and out is 10 s.
//
// Fewer than one failure, more than 1 000, or a time of zero or less, is bad input.
func WithFailures(count int, within, out time.Duration) SingletonOption {
	return func(s *singletonSettings) { s.policy.Failures, s.policy.Within, s.out = count, within, out }
}

// WithBuffer keeps up to so many messages that come while no child runs on this node. The next
// child gets them in order, before anything that comes later. Those above the bound, and all that
// are left when the singleton stops, become dead letters. Without it no message is kept.
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

// check checks the request and the options of a singleton. The error wraps ErrBadAcquire, or is an
// error of CheckAcquire.
func (s *singletonSettings) check() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: a singleton: %s", ErrBadAcquire, fmt.Sprintf(format, args...))
	}
	var err error
	switch want, policy := s.want, s.policy; {
	case want.Mode != messages.Exclusive:
		err = wrong("mode %v: only a mutex makes an actor single", want.Mode)
	case want.Try || want.Timeout != 0:
		err = wrong("try, or a timeout: it waits for its turn for as long as it runs")
	case policy.Failures < 1 || policy.Within <= 0 || s.out <= 0:
		err = wrong("%d failures in %v, then out for %v: each must be more than zero", policy.Failures, policy.Within, s.out)
	case policy.Failures > maxFailures: // a child that cannot be spawned fails that often in one go
		err = wrong("%d failures: at most %d", policy.Failures, maxFailures)
	case s.buffer < 0:
		err = wrong("a buffer of %d messages: it is negative", s.buffer)
	}
	return cmp.Or(CheckAcquire(s.want), err)
}
