package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// farewell is for how long a node that ends goes on sending what it has to say: nothing tells when it is sent.
const farewell = 200 * time.Millisecond

// gatewayName is the gateway's name on its node.
const gatewayName = "locks"

// queued is the number of messages to one node that have room at first. By default there is room
// for a million, 16 MB for each node.
const queued = 1000

// newNode makes an actor system with a remote on a port of its own.
func newNode() *actor.ActorSystem {
	silent := func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	system := actor.NewActorSystem(actor.WithLoggerFactory(silent))
	remote.NewRemote(system, remote.Configure("127.0.0.1", 0, remote.WithEndpointWriterQueueSize(queued))).Start()
	return system
}

// beGateway is the process of the gateway. It says its address, and what it takes up before and while it is used.
func beGateway(ctx context.Context, spec childSpec, to *parent) error {
	system := newNode()
	client, err := locks.Open(ctx, spec.Connect,
		append(unbounded(), locks.WithSessionTimeout(spec.Timeout), locks.WithActorSystem(system))...)
	if err != nil {
		return err
	}
	if _, err := gateway.Spawn(system, client.Session(), gatewayName); err != nil {
		return err
	}
	if err := errors.Join(to.tell(system.Address()), to.tell(occupation())); err != nil {
		return err
	}
	err = errors.Join(to.await(), to.tell(occupation()), to.await())
	(&turnstileSession{client: client}).close()
	return err
}

// beNode is a node without a session, with requesters.
func beNode(ctx context.Context, spec childSpec, _ *parent) error {
	system := newNode()
	client, err := gateway.Open(ctx, system, gateway.At(actor.NewPID(spec.Gateway, gatewayName)))
	if err != nil {
		return err
	}
	var how []locks.LockOption
	if spec.Cohort > 0 {
		how = append(how, locks.WithCohort(spec.Cohort))
	}
	err = spec.request(ctx, func(int) *turnstileSession { return &turnstileSession{client, how} })
	(&turnstileSession{client: client}).close()
	rig.Rest(ctx, farewell)
	return err
}

// beSessions is a node whose workers have a session each.
func beSessions(ctx context.Context, spec childSpec, to *parent) error {
	open, end := idlerOf(childSpec{Peer: ours, Timeout: spec.Timeout})
	defer end()
	if err := to.tell(occupation()); err != nil {
		return err
	}
	connects := strings.Split(spec.Connect, ",")
	sessions, errs := make([]*turnstileSession, spec.N), make([]error, openers)
	atOnce(func(opener, i int) {
		s, err := open(ctx, connects[i%len(connects)], spec.Timeout)
		if err != nil {
			errs[opener] = err
			return
		}
		sessions[i] = s.(*turnstileSession)
	}, spec.N)
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("bench: open sessions: %w", err)
	}
	asked := make(chan error, 1)
	go func() { asked <- errors.Join(to.await(), to.tell(occupation())) }()
	err := spec.request(ctx, func(i int) *turnstileSession { return sessions[i] })
	atOnce(func(_, i int) { sessions[i].close() }, spec.N)
	return errors.Join(err, <-asked, to.await())
}

// request has the requesters of a node lock and unlock until they are to stop.
func (s childSpec) request(ctx context.Context, by func(i int) *turnstileSession) error {
	b, err := openBoard(s.Guard, s.Paths)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var working sync.WaitGroup
	for i := range s.N {
		me := s.Process + i*gatewayNodes // so that each node has some for each lock
		working.Go(func() {
			if err := s.requester(ctx, b, by(i), me); err != nil && !errors.Is(err, errStop) {
				stop(err)
			}
		})
	}
	for b.load(boardStop) == 0 && ctx.Err() == nil {
		rig.Rest(ctx, 10*pollEvery)
	}
	stop(errStop)
	working.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, errStop) {
		return cause
	}
	return nil
}

// errStop: what was to be measured was measured.
var errStop = errors.New("bench: stop")

// requester is one of them.
func (s childSpec) requester(ctx context.Context, b *board, session *turnstileSession, me int) error {
	lock := me % s.Paths
	path := trial{path: s.Path}.own(lock)
	for first := true; ctx.Err() == nil; first = false {
		unlock, err := session.lock(ctx, path)
		if err != nil {
			return stopped(ctx, fmt.Errorf("lock: %w", err))
		}
		b.enter(lock, int64(me+1))
		if first {
			b.arrive()
		}
		runtime.Gosched() // so that a second holder is seen
		b.leave(lock, int64(me+1))
		if err := unlock(ctx); err != nil {
			return stopped(ctx, fmt.Errorf("unlock: %w", err))
		}
	}
	return errStop
}

// stopped gives errStop for an error after the end.
func stopped(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errStop) {
		return errStop
	}
	return err
}
