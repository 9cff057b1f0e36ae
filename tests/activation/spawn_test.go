package activation

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
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

// TestSpawnFails: where the lock actor cannot be spawned, the supervisor restarts the actor, which asks again, or ends it.
func TestSpawnFails(t *testing.T) {
	for served, decides := range map[string]actor.Directive{"Started 1": actor.RestartDirective, "": actor.StopDirective} {
		synctest.Test(t, func(t *testing.T) {
			n, j := &node{name: "n", system: scene.System(t), from: &failing{newMute(time.Hour), 1}}, &journal{}
			strategy := actor.NewOneForOneStrategy(1, time.Minute, func(any) actor.Directive { return decides })
			child := make(chan *actor.PID, 1)
			n.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
				if _, starts := ctx.Message().(*actor.Started); starts {
					pid := ctx.Spawn(n.props(j, messages.Acquire{Path: path}))
					ctx.Send(pid, work{n: 1})
					child <- pid
				}
			}, actor.WithSupervisor(strategy)))
			synctest.Wait()
			require.Equal(t, served, strings.Join(j.served("n"), " "))
			require.Equal(t, served != "", n.alive(<-child))
		})
	}
}
