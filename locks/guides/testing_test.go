package guides_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// inBubble runs a test with a server and two clients on it, by a clock of its own.
func inBubble(t *testing.T, test func(t *testing.T, server *embedded.Server, one, other *locks.Client)) {
	synctest.Test(t, func(t *testing.T) {
		server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
		open := func() *locks.Client {
			opening, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			client, err := locks.Open(opening, server.Connect(), locks.WithDialer(server.DialContext),
				locks.WithSessionTimeout(10*time.Second))
			require.NoError(t, err)
			t.Cleanup(func() {
				err := client.Close(context.WithoutCancel(t.Context()))
				require.True(t, err == nil || errors.Is(err, locks.ErrSessionRemains), "%v", err) // it was expired a moment ago
			})
			return client
		}
		test(t, server, open(), open())
	})
}

// The work stops when the servers end the session, and its error says that the lock was lost.
func TestWorkStopsWithTheLease(t *testing.T) {
	inBubble(t, func(t *testing.T, server *embedded.Server, client, _ *locks.Client) {
		stopped := false
		err := locks.Do(t.Context(), client.Mutex("/jobs/nightly"), func(ctx context.Context, _ locks.Token) error {
			time.Sleep(10 * time.Minute) // of the bubble's clock
			for _, session := range server.Sessions() {
				require.NoError(t, server.Expire(session))
			}
			<-ctx.Done()
			stopped = true
			return ctx.Err()
		})
		require.ErrorIs(t, err, locks.ErrLost)
		require.True(t, stopped)
	})
}

// A program that is told to end gives the lock to the next one, which has a greater token.
func TestTheNextOneIsGranted(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *embedded.Server, client, other *locks.Client) {
		ctx, end := context.WithCancel(t.Context())
		first := make(chan locks.Token, 1)
		ended := make(chan error, 1)
		go func() {
			ended <- locks.Do(ctx, client.Mutex("/jobs/nightly"), func(ctx context.Context, token locks.Token) error {
				first <- token
				<-ctx.Done() // it works until it is told to end
				return nil
			})
		}()
		token := <-first
		time.AfterFunc(63*time.Second, end) // the other looks again by itself each ten seconds
		lease, err := other.Mutex("/jobs/nightly").Lock(t.Context())
		require.NoError(t, err)
		require.Greater(t, lease.Token(), token)
		<-ended
		require.NoError(t, lease.Unlock(t.Context()))
	})
}

// teller is an actor that pays only while it has its lock.
type teller struct {
	locks actors.Provider
	held  bool
}

type payment struct{}

func (t *teller) Receive(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *actor.Started:
		ctx.Spawn(actors.NewLock(t.locks, messages.Acquire{Path: "/till/7"}))
	case *messages.Held:
		t.held = true
	case *messages.Lost:
		t.held = false
	case payment:
		ctx.Respond(t.held) // whether it is paid
	}
}

// An actor that loses its lock: no server, and no time passes.
func TestTellerLosesItsLock(t *testing.T) {
	system, fake := actor.NewActorSystem(), new(actorstest.Fake)
	defer system.Shutdown()
	pid := system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &teller{locks: fake} }))
	lock, err := fake.Await(t.Context(), "/till/7") // until the teller has spawned it
	require.NoError(t, err)
	lock.Hold()
	paid, err := system.Root.RequestFuture(pid, payment{}, time.Minute).Result()
	require.NoError(t, err)
	require.Equal(t, true, paid)
	lock.Lose(messages.ReasonSessionExpired)
	paid, err = system.Root.RequestFuture(pid, payment{}, time.Minute).Result()
	require.NoError(t, err)
	require.Equal(t, false, paid)
}

// The same actor on a server, in virtual time: its session expires.
func TestTellerOnAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kit := actorstest.Start(t, embedded.WithoutNetwork())
		observed := actorstest.Observed(kit.Session)
		kit.System.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &teller{locks: observed} }))
		recorder, err := observed.Await(t.Context(), "/till/7")
		require.NoError(t, err)
		_, err = recorder.Await(t.Context(), messages.StateHeld)
		require.NoError(t, err)
		require.NoError(t, kit.Server.Expire(kit.Session.ID()))
		_, err = actorstest.AwaitNotice(t.Context(), recorder, func(lost *messages.Lost) bool {
			return lost.Reason == messages.ReasonSessionExpired
		})
		require.NoError(t, err)
	})
}
