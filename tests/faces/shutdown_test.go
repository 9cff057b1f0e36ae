package faces

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestCloseMakesNoDeadLetters: clients are closed while calls hold, wait, lead and follow queues. protoactor logs no dead
// letter, whether or not the ctx of the calls has ended just before.
func TestCloseMakesNoDeadLetters(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		for round := range 6 {
			log, logged := scene.NewLog()
			ctx, cancel := context.WithCancel(scene.Deadline(t))
			defer cancel()
			mine, other := zk.Open(t, logged), zk.Open(t, logged)
			scene.Locked(t, mine.Mutex("/shut").Lock)
			scene.Locked(t, mine.Mutex("/kept", locks.WithSticky(time.Minute)).Lock)
			scene.Elsewhere(ctx, other.Mutex("/shut").Lock)
			scene.Elsewhere(ctx, mine.Mutex("/kept", locks.WithCohort(2)).Lock)
			leads := make(chan struct{})
			go func() {
				_ = mine.Election("/leads").Run(ctx, "me", func(ctx context.Context, _ *locks.Leadership) error {
					close(leads)
					<-ctx.Done()
					return nil
				})
			}()
			<-leads
			leaders, err := other.Election("/leads").Observe(ctx)
			require.NoError(t, err)
			require.Equal(t, "me", (<-leaders).Value)
			members, err := mine.Group("/crew").Watch(ctx)
			require.NoError(t, err)
			<-members
			_, err = mine.Group("/crew").Join(ctx, "me")
			require.NoError(t, err)
			if round%2 == 0 {
				cancel()
			}
			require.NoError(t, mine.Close(scene.Deadline(t)))
			require.NoError(t, other.Close(scene.Deadline(t)))
			require.Zero(t, log.Count("DeadLetter"))
		}
	})
}
