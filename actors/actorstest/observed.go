package actorstest

import (
	"context"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// ObservedProvider is a Provider that records what its lock actors go through. Give it to the code under
// test in place of the session. Its methods may be called from any goroutine.
type ObservedProvider struct {
	actors.Provider
	recorders spawned[*Recorder]
}

// Observed observes the lock actors of a session, of gateways or of a [Fake].
//
//	observed := actorstest.Observed(kit.Session)
//	kit.System.Root.Spawn(newClerk(observed))              // which spawns lock actors
//	recorder, err := observed.Await(ctx, "/orders/42")
func Observed(from actors.Provider) *ObservedProvider { return &ObservedProvider{Provider: from} }

// NewLock implements actors.Provider. Each lock actor that is spawned with the props gets a recorder
// of its own. Configure does not change them.
func (o *ObservedProvider) NewLock(want messages.Acquire, opts ...actors.LockOption) *actor.Props {
	spawn := func(system *actor.ActorSystem, id string, _ *actor.Props, parent actor.SpawnerContext) (*actor.PID, error) {
		recorder := NewRecorder(system)
		observer := actors.WithObserver(recorder.PID())
		pid, err := actor.DefaultSpawner(system, id, o.Provider.NewLock(want, append(slices.Clip(opts), observer)...), parent)
		if err != nil {
			recorder.Close()
			return pid, err
		}
		o.recorders.add(want.Path, recorder)
		return pid, nil
	}
	return o.Provider.NewLock(want, opts...).Configure(actor.WithSpawnFunc(spawn))
}

// Await waits for the next lock actor that is spawned for a lock path, and gives its recorder. The
// first call gives that of the first, also of one that has ended, and so on. It waits as
// [Recorder.Await] does.
func (o *ObservedProvider) Await(ctx context.Context, path string) (*Recorder, error) {
	return o.recorders.await(ctx, path)
}

// Timeout is the session timeout, by which a singleton paces its campaigns.
func (o *ObservedProvider) Timeout() time.Duration {
	if timed, is := o.Provider.(interface{ Timeout() time.Duration }); is {
		return timed.Timeout()
	}
	return 0
}

// BeforeClose is that of the session; singletons and activated actors stop by it. It does nothing
// for another Provider.
func (o *ObservedProvider) BeforeClose(do func()) (forget func()) {
	if session, is := o.Provider.(interface{ BeforeClose(func()) func() }); is {
		return session.BeforeClose(do)
	}
	return func() {}
}
