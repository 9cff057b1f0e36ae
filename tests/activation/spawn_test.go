package activation

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/activation"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/bubble"
)

// failing is a source of locks whose first lock actors cannot be spawned.
type failing struct {
	*mute
	failures int
}

func (f *failing) NewLock(want messages.Acquire, opts ...actors.LockOption) *actor.Props {
	props := f.mute.NewLock(want, opts...)
	return props.Configure(actor.WithSpawnFunc(func(
		system *actor.ActorSystem, id string, props *actor.Props, parent actor.SpawnerContext,
	) (*actor.PID, error) {
		if f.failures > 0 {
			f.failures--
			panic("no room for a lock actor")
		}
		return actor.DefaultSpawner(system, id, props, parent)
	}))
}

// TestSpawnFails: where the lock actor cannot be spawned, the supervisor restarts the actor, which asks again.
func TestSpawnFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, j := &node{name: "n", system: bubble.System(t)}, &journal{}
		pid := n.system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &account{j, "n"} },
			activation.Single(&failing{newMute(time.Hour), 1}, activation.At(messages.Acquire{Path: path}))))
		n.send(pid, work{n: 1})
		synctest.Wait()
		require.Equal(t, []string{"Started", "1"}, j.served("n"))
	})
}

// TestSpawnFailsForGood: an actor whose lock actor cannot be spawned at all ends as its supervisor says.
func TestSpawnFailsForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, j := &node{name: "n", system: bubble.System(t)}, &journal{}
		stops := actor.NewOneForOneStrategy(0, 0, func(any) actor.Directive { return actor.StopDirective })
		props := actor.PropsFromProducer(func() actor.Actor { return &account{j, "n"} },
			activation.Single(&failing{newMute(time.Hour), 1}, activation.At(messages.Acquire{Path: path})))
		parent := n.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			switch ctx.Message().(type) {
			case *actor.Started:
				ctx.Spawn(props)
			case *actor.Terminated:
				ctx.Stop(ctx.Self())
			}
		}, actor.WithSupervisor(stops)))
		synctest.Wait()
		require.False(t, n.alive(parent), "its child has ended")
		require.Empty(t, j.served("n"))
	})
}
