package refusals

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestNoParentsForARequestThatWasGivenUp: a lock path has many levels, and the ctx of the Lock ends while they are made. The
// others are not made any more, and the request ends.
func TestNoParentsForARequestThatWasGivenUp(t *testing.T) {
	for name, lock := range map[string]func(*locks.Client, context.Context, string) error{
		"mutex": func(c *locks.Client, ctx context.Context, path string) error {
			_, err := c.Mutex(path).Lock(ctx)
			return err
		},
		"contest": func(c *locks.Client, ctx context.Context, path string) error {
			_, err := c.Contest(path).Lock(ctx)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const levels, made = 200, 20
				server := scene.Virtual(t)
				client := scene.Client(t, server)
				kept, err := server.Inject(embedded.Fault{Op: embedded.OpCreateContainer, Path: strings.Repeat("/a", made),
					Skip: 1, Action: embedded.HoldReplies}) // the first comes on the way up
				require.NoError(t, err)
				ctx, giveUp := context.WithCancel(t.Context())
				told := make(chan error, 1)
				go func() { told <- lock(client, ctx, strings.Repeat("/a", levels)) }()
				require.NoError(t, kept.Wait(t.Context()))
				giveUp()
				require.ErrorIs(t, <-told, context.Canceled)
				synctest.Wait()
				kept.Release()
				synctest.Wait()
				require.Zero(t, client.State().NodeBytes, "the request has ended")
				look := scene.Dial(t, server.Connect(), zkconn.WithDialer(server.DialContext))
				for _, level := range []int{made, made + 1} {
					_, exists, err := look.Exists(strings.Repeat("/a", level))
					require.NoError(t, err)
					require.Equal(t, level == made, exists, "level %d", level)
				}
			})
		})
	}
}
