package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/google/uuid"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Open gives a client whose locks come from gateways, once one of them has answered. Mutex,
// RWMutex, Semaphore, Contest, Election.Campaign and All work as over a session, and so do leases:
// Valid and Deadline go by a clock of this node. Queue, Election.Leader, Revoke, Break and
// SetPermits work, too.
//
// Client.Locks, Client.Deadlocks, Client.Ready, Group.Watch, Election.Observe and Lease.Txn need a
// session: their errors wrap locks.ErrNeedsSession. A lock WithDeadlockDetection works, because the
// gateway looks. Client.Session is nil. Of the options it takes locks.WithTracerProvider and
// locks.WithUnreleased; the others are refused with locks.ErrBadAcquire.
//
// The system's remote must run; Close leaves both running. Close gives up all requests and locks,
// and does not wait for the gateways to hear of it. A gateway that does not hear of it gives a lock
// back when its lease has run out. at is closed with the client, and serves one client only.
//
// Errors wrap the error of ctx when no gateway has answered before it ended, and
// actors.ErrBadAcquire where no gateway is named.
func Open(ctx context.Context, system *actor.ActorSystem, at *Gateways, opts ...locks.Option) (*locks.Client, error) {
	if err := at.check(); err != nil {
		return nil, err
	}
	if err := at.hello(ctx, system); err != nil {
		return nil, err
	}
	return locks.NewClient(system, &source{at, system}, opts...)
}

// source is the part of gateways that package locks needs.
type source struct {
	*Gateways
	system *actor.ActorSystem
}

var _ locks.Source = (*source)(nil)

// SpawnLock spawns a lock actor whose lock comes from these gateways.
func (s *source) SpawnLock(want *messages.Acquire, to actors.Listener, observers []*actor.PID) *actor.PID {
	return s.system.Root.Spawn(NewLock(s.Gateways, *want, actors.WithListener(to), actors.WithObserver(observers...)))
}

// PID is nil: nobody follows queues for others.
func (s *source) PID() *actor.PID { return nil }

// Explain gives the error back: the states and reasons of requests have all that is known of a
// gateway.
func (s *source) Explain(err error) error { return err }

// Absolute gives a path as the servers of the gateways know it.
func (s *source) Absolute(path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chroot + path
}

// Servers lists the servers of the gateways.
func (s *source) Servers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.servers)
}

// Ask carries out a query, by the first gateway that answers.
func (s *source) Ask(ctx context.Context, query any) (any, error) {
	crosses := wire.FromQuery(uuid.NewString(), query)
	switch {
	case !inspect.IsQuery(query):
		return nil, inspect.Check(query)
	case crosses == nil:
		return nil, fmt.Errorf("%T: %w", query, locks.ErrNeedsSession)
	}
	if err := checkText(crosses); err != nil {
		return nil, err
	}
	answer, err := s.ask(ctx, s.system, crosses)
	switch {
	case errors.Is(err, actors.ErrSessionClosed):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("turnstile: %T: no gateway answers: %w", query, context.Cause(ctx))
	}
	why := answer.Refusal()
	if why.Reason == messages.ReasonSessionClosed { // the gateway's, and not ours
		return nil, fmt.Errorf("turnstile: %T: the session of the gateway is closed: %w", query, zkconn.ErrUnavailable)
	}
	if got := answer.Messages(); got != nil {
		return got, nil
	}
	return nil, fmt.Errorf("turnstile: the gateway refuses: %s: %w", zkconn.Shown(why.Detail), errRefused)
}

// errRefused: the gateway does not carry the query out.
var errRefused = errors.New("it was not carried out")

// Close ends all requests, and waits until their actors have ended.
func (s *source) Close(ctx context.Context) error {
	remaining, ended := s.close()
	for _, pid := range remaining {
		s.system.Root.Send(pid, &shutdown{})
	}
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("turnstile: closing: %w", ctx.Err())
	}
}

// NewSingleton makes the props of an actor that exists once in the cluster, on nodes without a
// session: it is actors.NewSingleton, whose lock comes from a gateway. Its documentation applies
// here, with the lease of the gateway's promises: when the gateway is gone the lock is lost in
// time, and the next campaign goes to another one, where several are named. A node with a session
// and one without may campaign for one lock path.
//
// A client over the same gateways that is closed does not wait for the child: the lock is lost at
// once, and the context ends.
func NewSingleton(at *Gateways, want messages.Acquire, props *actor.Props,
	opts ...actors.SingletonOption) *actor.Props {
	return actors.NewSingleton(at, want, props, opts...)
}

var _ actors.Provider = (*Gateways)(nil)

// NewLock is the function NewLock with these gateways.
func (g *Gateways) NewLock(want messages.Acquire, opts ...actors.LockOption) *actor.Props {
	return NewLock(g, want, opts...)
}
