package refusals

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// hangUp has a server close the connection on each request of a kind that names a path.
func hangUp(t *testing.T, server *embedded.Server, on embedded.Op, path string) *embedded.Injection {
	injected, err := server.Inject(embedded.Fault{Op: on, Path: path, Action: embedded.CutBefore, Count: -1})
	require.NoError(t, err)
	return injected
}

// TestServerHangsUpOnCreate: the request is sent again at a pace, and names its trouble. Its other locks and requests
// go on. It is carried out when the server lets it.
func TestServerHangsUpOnCreate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client := scene.Client(t, server)
		other := scene.Locked(t, client.Mutex("/other").Lock)
		injected := hangUp(t, server, 0, "/x/_c_*")
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		answer := scene.Elsewhere(ctx, client.Mutex("/x").Lock)
		time.Sleep(20 * time.Second)
		require.ErrorContains(t, client.Ready(), "not ready: the server hangs up on create /x/_c_")
		for range 10 { // others do not wait
			begun := time.Now()
			lease := scene.Locked(t, client.Mutex("/free").Lock)
			require.NoError(t, client.Ready(), "a request was carried out")
			require.NotEmpty(t, client.State().Trouble)
			scene.GiveBack(t, lease)
			require.Less(t, time.Since(begun), time.Second)
			time.Sleep(time.Second)
		}
		got := <-answer
		require.ErrorIs(t, got.Err, context.DeadlineExceeded)
		require.True(t, locks.MayPass(got.Err))
		require.Regexp(t, `the server hangs up on create /x/_c_\S+, \d+ times: context deadline exceeded`, got.Err.Error())
		require.Less(t, injected.Hits(), 30)
		t.Logf("%d hang-ups in a minute; %v", injected.Hits(), got.Err)
		require.True(t, other.Valid())

		answer = scene.Elsewhere(t.Context(), client.Mutex("/x").Lock)
		time.Sleep(20 * time.Second)
		injected.Remove()
		got = <-answer
		require.NoError(t, got.Err)
		require.Empty(t, client.State().Trouble)
		scene.GiveBack(t, got.Lease, other)
	})
}

// TestServerHangsUpOnContainers: after two hang-ups, or one answer that says so, there are persistent nodes.
func TestServerHangsUpOnContainers(t *testing.T) {
	for name, row := range map[string]struct {
		fault embedded.Fault
		hits  int
	}{
		"hangs up":      {embedded.Fault{Action: embedded.CutBefore}, 2},
		"bad arguments": {embedded.Fault{Action: embedded.Refuse, Code: -8}, 1},
		"unimplemented": {embedded.Fault{Action: embedded.Refuse, Code: -6}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := scene.Virtual(t)
				client := scene.Client(t, server)
				row.fault.Op, row.fault.Count = embedded.OpCreateContainer, -1
				injected, err := server.Inject(row.fault)
				require.NoError(t, err)
				for _, path := range []string{"/a/b/c", "/d/e", "/f"} {
					lease := scene.Locked(t, client.Mutex(path).Lock)
					scene.GiveBack(t, lease)
				}
				require.Equal(t, row.hits, injected.Hits())
			})
		})
	}
}

// TestServerHangsUpOnDelete: the removal goes on, at a pace. Unlock's ctx bounds its wait, and Close ends the session.
func TestServerHangsUpOnDelete(t *testing.T) {
	for _, closes := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			server := scene.Virtual(t)
			client := scene.Client(t, server)
			other := scene.Locked(t, client.Mutex("/other").Lock)
			lease := scene.Locked(t, client.Mutex("/x").Lock)
			injected := hangUp(t, server, embedded.OpDelete, "/x/_c_*")
			ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
			defer stop()
			err := lease.Unlock(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Regexp(t, `the server hangs up on delete /x/_c_\S+, \d+ times`, err.Error())
			require.Less(t, injected.Hits(), 30)
			require.True(t, other.Valid())
			if closes {
				require.NoError(t, client.Close(t.Context()))
			}
			injected.Remove()
			if !closes {
				scene.GiveBack(t, lease)
			}
			next := scene.Locked(t, scene.Client(t, server).Mutex("/x").Lock)
			scene.GiveBack(t, next)
		})
	}
}

// TestServerHangsUpOnTxn: it is sent again at a pace, and names its trouble. The lock can be given back meanwhile.
func TestServerHangsUpOnTxn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client := scene.Client(t, server)
		scene.WritePlace(t, client)
		lease := scene.Locked(t, client.Mutex("/x").Lock)
		injected := hangUp(t, server, embedded.OpMulti, scene.Place)
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		err := scene.Swap(ctx, lease, "second", 0)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, zkconn.ErrUnknownOutcome)
		require.Regexp(t, `the server hangs up on transaction /x/_c_\S+, \d+ times`, err.Error())
		require.Less(t, injected.Hits(), 30)
		require.True(t, lease.Valid())

		answer := make(chan error, 1)
		go func() { answer <- scene.Swap(t.Context(), lease, "third", 0) }()
		time.Sleep(30 * time.Second)
		begun := time.Now()
		scene.GiveBack(t, lease)
		require.Less(t, time.Since(begun), time.Second)
		require.Error(t, <-answer)
		injected.Remove()
		scene.RequireAt(t, client, 0)
	})
}

// TestServerThrottlesTxn: it is carried out when the server lets it.
func TestServerThrottlesTxn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client := scene.Client(t, server)
		scene.WritePlace(t, client)
		lease := scene.Locked(t, client.Mutex("/x").Lock)
		injected, err := server.Inject(embedded.Fault{Op: embedded.OpMulti, Path: scene.Place,
			Action: embedded.Refuse, Count: -1})
		require.NoError(t, err)
		ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
		defer stop()
		err = scene.Swap(ctx, lease, "second", 0)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "the server is throttled and does not carry out transaction /x/_c_")
		answer := make(chan error, 1)
		go func() { answer <- scene.Swap(t.Context(), lease, "second", 0) }()
		time.Sleep(30 * time.Second)
		require.Empty(t, answer)
		injected.Remove()
		require.NoError(t, <-answer)
		scene.GiveBack(t, lease)
		scene.RequireAt(t, client, 1)
	})
}

// TestServerHangsUpOnSearch: the outcome of a request stays unknown while the server hangs up on
// the search for its node. Nothing is sent again at once.
func TestServerHangsUpOnSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client := scene.Client(t, server)
		scene.Cycle(t, client.Mutex("/x"))
		once, err := server.Inject(embedded.Fault{Op: embedded.OpMulti, Path: "/x/_c_*", Action: embedded.CutAfter})
		require.NoError(t, err)
		injected := hangUp(t, server, embedded.OpGetChildren2, "/x")
		answer := scene.Elsewhere(t.Context(), client.Mutex("/x").Lock)
		time.Sleep(time.Minute)
		require.Equal(t, 1, once.Hits())
		require.Less(t, injected.Hits(), 30)
		require.Positive(t, injected.Hits())
		require.Contains(t, client.State().Trouble, "the server hangs up on list /x")
		injected.Remove()
		got := <-answer
		require.NoError(t, got.Err)
		scene.GiveBack(t, got.Lease)
	})
}

// TestServerHangsUpOnHeartbeats: they are sent again at a pace, and the trouble is named. The pauses never cost a lease:
// where the server lets them through while it is valid, it goes on. A waiter keeps its place.
func TestServerHangsUpOnHeartbeats(t *testing.T) {
	for _, lasts := range []time.Duration{2 * time.Second, 2500 * time.Millisecond, 3 * time.Second, 3500 * time.Millisecond, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			server := scene.Virtual(t)
			client, waiting := scene.Client(t, server), scene.Client(t, server)
			first := scene.Locked(t, client.Mutex("/w").Lock)
			answer := scene.Elsewhere(t.Context(), waiting.Mutex("/w").Lock)
			lease := scene.Locked(t, waiting.Mutex("/x").Lock)
			time.Sleep(10 * time.Second)
			injected, err := server.Inject(embedded.Fault{Op: embedded.OpMulti, Session: waiting.Session().ID(),
				Action: embedded.CutBefore, Count: -1})
			require.NoError(t, err)
			time.Sleep(lasts)
			require.Contains(t, waiting.State().Trouble, "the server hangs up on heartbeat /")
			require.Less(t, injected.Hits(), 60)
			t.Logf("%v: %d hang-ups, %s", lasts, injected.Hits(), waiting.State().Trouble)
			injected.Remove()
			time.Sleep(10 * time.Second)
			if lasts < time.Minute { // else the search's session is over, and its trouble with it
				require.Empty(t, waiting.State().Trouble)
			}
			require.Equal(t, lasts < time.Minute, lease.Valid())
			require.True(t, first.Valid())
			scene.GiveBack(t, first)
			got := <-answer
			require.NoError(t, got.Err)
			scene.GiveBack(t, got.Lease)
			_ = lease.Unlock(t.Context())
		})
	}
}
