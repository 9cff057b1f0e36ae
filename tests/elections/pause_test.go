package elections

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestLoneCandidateLeadsAgain: the servers end a lone candidate's session a second into each of its terms. The lead is not
// left vacant for longer each time: the network has lost it, and nobody else campaigns.
func TestLoneCandidateLeadsAgain(t *testing.T) {
	const session, terms = 2 * time.Second, 12
	for name, run := range map[string]func(t *testing.T, client *locks.Client, began chan<- context.Context){
		"Run": func(t *testing.T, client *locks.Client, began chan<- context.Context) {
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				ended <- client.Election("/lone").Run(ctx, "x", func(ctx context.Context, _ *locks.Leadership) error {
					began <- ctx
					<-ctx.Done()
					return ctx.Err()
				})
			}()
			t.Cleanup(func() {
				stop()
				require.ErrorIs(t, <-ended, context.Canceled)
			})
		},
		"singleton": func(t *testing.T, client *locks.Client, began chan<- context.Context) {
			props := actor.PropsFromFunc(func(c actor.Context) {
				if activation, is := c.Message().(*actors.Activation); is {
					began <- activation.Context
				}
			})
			root := client.System().Root
			pid := root.Spawn(actors.NewSingleton(client.Session(), messages.Acquire{Path: "/lone"}, props))
			t.Cleanup(func() { require.NoError(t, root.StopFuture(pid).Wait()) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := scene.Virtual(t)
				client, err := locks.Open(t.Context(), server.Connect(), locks.WithDialer(server.DialContext),
					locks.WithSessionTimeout(session))
				require.NoError(t, err)
				scene.CloseLater(t, client)
				began := make(chan context.Context, terms)
				run(t, client, began)
				term := <-began
				for range terms {
					time.Sleep(time.Second)
					require.NoError(t, server.Expire(client.State().ID))
					<-term.Done()
					vacant := time.Now()
					term = <-began
					require.Less(t, time.Since(vacant), 200*time.Millisecond)
				}
			})
		})
	}
}

// TestPausesOfACandidateAreBounded: a candidate whose terms end at once, by itself or because somebody asks, pauses for
// longer each time, and for no longer than a session timeout. Over a gateway that is the timeout of the gateway's session.
func TestPausesOfACandidateAreBounded(t *testing.T) {
	const session, watched = 2 * time.Second, 2 * time.Minute
	for name, run := range map[string]func(t *testing.T, client *locks.Client, from actors.Provider, began chan<- time.Time){
		"Run": func(t *testing.T, client *locks.Client, _ actors.Provider, began chan<- time.Time) {
			ctx, cancel := context.WithTimeout(t.Context(), watched)
			defer cancel()
			err := client.Election("/lone").Run(ctx, "x", func(context.Context, *locks.Leadership) error {
				began <- time.Now()
				return locks.ErrAgain
			})
			require.ErrorIs(t, err, context.DeadlineExceeded)
		},
		"singleton": func(t *testing.T, client *locks.Client, from actors.Provider, began chan<- time.Time) {
			root := client.System().Root
			props := actor.PropsFromFunc(func(c actor.Context) {
				if _, is := c.Message().(*actors.Activation); is {
					began <- time.Now()
					go func() { _, _ = client.Revoke(context.Background(), "/lone") }()
				}
			})
			pid := root.Spawn(actors.NewSingleton(from, messages.Acquire{Path: "/lone"}, props))
			time.Sleep(watched)
			require.NoError(t, root.StopFuture(pid).Wait())
		},
	} {
		for _, over := range []string{"session", "gateway"} {
			t.Run(name+", "+over, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := scene.Virtual(t)
					client, err := locks.Open(t.Context(), server.Connect(), locks.WithDialer(server.DialContext),
						locks.WithSessionTimeout(session))
					require.NoError(t, err)
					scene.CloseLater(t, client)
					from := actors.Provider(client.Session())
					if over == "gateway" {
						pid, err := gateway.Spawn(client.System(), client.Session(), "locks")
						require.NoError(t, err)
						at := gateway.At(pid)
						client, err = gateway.Open(t.Context(), client.System(), at)
						require.NoError(t, err)
						defer func() { require.NoError(t, client.Close(t.Context())) }()
						from = at
					}
					began := make(chan time.Time, 1000)
					run(t, client, from, began)
					close(began)
					longest, terms, last := time.Duration(0), 0, <-began
					for at := range began {
						longest, last = max(longest, at.Sub(last)), at
						terms++
					}
					require.LessOrEqual(t, longest, session+100*time.Millisecond)
					require.Greater(t, longest, session/2)
					require.Less(t, terms, 200)
				})
			})
		}
	}
}
