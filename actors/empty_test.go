package actors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
	"github.com/turnstile-locks/turnstile/zkconn/told"
)

// spied starts a session whose inside can be looked at, on the actor.
func spied(t *testing.T, server *embedded.Server, opts ...zkconn.Option) (*Session, func(func(*session))) {
	t.Helper()
	discard := slog.New(slog.DiscardHandler)
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return discard }))
	t.Cleanup(system.Shutdown)
	cfg, err := zkconn.NewConfig(server.Addr(), append(opts, zkconn.WithSessionTimeout(30*time.Second))...)
	require.NoError(t, err)
	handle := &Session{system: system, cfg: cfg, calls: told.NewCalls(0, nil), ready: make(chan struct{}), stopped: make(chan struct{}),
		ended: make(chan struct{}), workers: mailbox.NewWorkers(), opts: sessionOptions{log: discard}}
	inside := newSession(handle)
	handle.pid = system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return inside }))
	closeAtEnd(t, handle)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	require.NoError(t, handle.Ready(ctx))
	return handle, func(see func(*session)) {
		seen := make(chan struct{})
		system.Root.Send(handle.pid, &queryDone{epoch: 1, then: func() { see(inside); close(seen) }})
		select {
		case <-seen:
		case <-time.After(time.Minute):
			t.Error("the session's first epoch is over")
		case <-t.Context().Done(): // asked by a poll that nobody waits for any more
		}
	}
}

// closeAtEnd closes a session with the test. A busy machine may take longer than Close waits for
// the servers.
func closeAtEnd(t *testing.T, session *Session) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := session.Close(ctx); !errors.Is(err, zkconn.ErrSessionRemains) {
			require.NoError(t, err)
		}
		// scene.CountRelists counts the same. It imports this package, so this test cannot use it.
		require.Zero(t, session.Counters().Polls, "times a waiter found by looking again what an event should have told it")
	})
}

// watchCount counts the watches that the server keeps.
func watchCount(t *testing.T, server *embedded.Server) (n int) {
	t.Helper()
	conn, err := net.Dial("tcp", server.Addr())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("mntr"))
	require.NoError(t, err)
	all, err := io.ReadAll(conn)
	require.NoError(t, err)
	for _, line := range strings.Split(string(all), "\n") {
		_, _ = fmt.Sscanf(line, "zk_watch_count\t%d", &n)
	}
	return n
}

// TestNothingIsKept: after requests of every kind, many of which waited, shared, gave up or were
// stopped, the session remembers none of them, and the server watches nothing for it but lock
// paths: one watch each for a semaphore's number of permits, for requests that watch all, and where
// the session has locked twice in a row; they end with the lock path.
func TestNothingIsKept(t *testing.T) {
	server := embedded.Run(t)
	handle, inside := spied(t, server)
	root := handle.system.Root
	wants := []messages.Acquire{
		{Path: "/exclusive"}, {Path: "/exclusive", Name: "named"}, {Path: "/exclusive", WatchAll: true},
		{Path: "/exclusive", Mode: messages.Read},
		{Path: "/rw", Mode: messages.Read}, {Path: "/rw", Mode: messages.Write}, {Path: "/rw", Mode: messages.Read},
		{Path: "/semaphore", Mode: messages.Semaphore, Permits: 2},
		{Path: "/semaphore", Mode: messages.Semaphore, Permits: 2, Weight: 2},
		{Path: "/contest", Mode: messages.Contest}, {Path: "/contest", Mode: messages.Contest, Owner: "me"},
		{Path: "/mine", Owner: "me"}, {Path: "/mine", Owner: "me"},
	}
	for round := range 3 {
		var recs []*recorder
		for range 5 {
			for _, want := range wants {
				lock, rec := spawnRecorded(handle, want)
				switch {
				case round == 2 && len(recs)%3 == 0:
					root.Stop(lock)
				case round == 1 && len(recs)%3 == 0:
					root.Send(lock, &messages.Cancel{})
				default: // it gives back as soon as it holds
					go func() {
						if _, err := rec.await(t.Context(), messages.StateHeld, 1); err == nil {
							root.Send(lock, &messages.Release{})
						}
					}()
				}
				recs = append(recs, rec)
			}
		}
		require.Eventually(t, func() bool {
			for _, rec := range recs { // what a lock actor ever asked for is asked for by then
				all := rec.transitions()
				if len(all) == 0 || !all[len(all)-1].To.Terminal() && all[len(all)-1].On != "Stopped" {
					return false
				}
			}
			left := -1
			inside(func(s *session) { left = s.decides.Requests() })
			return left == 0
		}, time.Minute, 5*time.Millisecond, "requests that never ended")
		require.Eventually(t, func() bool { // answers that nobody waits for
			var kept []string
			inside(func(s *session) {
				kept = left(s.decides)
				if len(s.registry.all()) > 0 {
					kept = append(kept, "lock actors")
				}
			})
			return len(kept) == 0
		}, time.Minute, 5*time.Millisecond, "round %d", round)
		// Reads that were under way may leave a watch on a node that is about to go.
		require.Eventually(t, func() bool { return watchCount(t, server) <= 4 }, time.Minute, 5*time.Millisecond)
	}
}

// left names what a coordinator still has of requests: of its state, every map and list that is not empty, but for
// what it knows of lock paths, and for the timers of heartbeats and of the lease, which fire once more.
func left(c *coordinator.Coordinator) (kept []string) {
	known := []string{"paths", "idle", "timers"} // of these there are bounds
	for _, kind := range c.Timers {
		if kind != coordinator.BeatTimer && kind != coordinator.LateTimer && kind != coordinator.LeaseTimer &&
			kind != coordinator.WatchTimer { // the timer of a lock path's watch, which stays
			kept = append(kept, fmt.Sprintf("a timer of kind %d", kind))
		}
	}
	epoch := reflect.ValueOf(c).Elem().FieldByName("epoch")
	for i := range epoch.NumField() {
		if name := epoch.Type().Field(i).Name; !slices.Contains(known, name) {
			kept = append(kept, filled(name, epoch.Field(i))...)
		}
	}
	for paths := epoch.FieldByName("paths").MapRange(); paths.Next(); {
		path := paths.Value().Elem()
		for i := range path.NumField() {
			if name := path.Type().Field(i).Name; name != "queues" { // one stays, and is empty
				kept = append(kept, filled(paths.Key().String()+" "+name, path.Field(i))...)
			}
		}
		queues := path.FieldByName("queues")
		for i := range queues.Len() {
			queue := queues.Index(i).Elem()
			for at := range queue.NumField() {
				if name := queue.Type().Field(at).Name; name != "path" {
					kept = append(kept, filled(paths.Key().String()+" queue "+name, queue.Field(at))...)
				}
			}
		}
	}
	return kept
}

// filled names what in a value is not empty.
func filled(name string, v reflect.Value) (all []string) {
	switch v.Kind() {
	case reflect.Map, reflect.Slice:
		if v.Len() > 0 {
			return []string{name}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return []string{name}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			all = append(all, filled(name+"."+v.Type().Field(i).Name, v.Field(i))...)
		}
	}
	return all
}
