package actors

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// spied starts a session whose inside can be looked at, on the actor.
func spied(t *testing.T, server *embedded.Server) (*Session, func(func(*session))) {
	t.Helper()
	discard := slog.New(slog.DiscardHandler)
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return discard }))
	t.Cleanup(system.Shutdown)
	cfg, err := zkconn.NewConfig(server.Addr(), zkconn.WithSessionTimeout(30*time.Second))
	require.NoError(t, err)
	handle := &Session{system: system, cfg: cfg, ready: make(chan struct{}), stopped: make(chan struct{}), ended: make(chan struct{}),
		workers: newWorkers(), opts: sessionOptions{log: discard}}
	inside := newSession(handle)
	handle.pid = system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return inside }))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(func() { defer cancel(); require.NoError(t, handle.Close(ctx)) })
	require.NoError(t, handle.Ready(ctx))
	return handle, func(see func(*session)) {
		seen := make(chan struct{})
		system.Root.Send(handle.pid, &tick{epoch: 1, do: func() { see(inside); close(seen) }})
		<-seen
	}
}

// watchCount is how many watches the server keeps.
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

// TestNothingIsKept: after requests of every kind, many of which waited, shared, gave up or were stopped, the session
// remembers none of them, and the server watches nothing for it but lock paths: one watch each for a semaphore's
// number of permits and for those who watch all, which end with the lock path.
func TestNothingIsKept(t *testing.T) {
	server := embedded.Run(t)
	handle, inside := spied(t, server)
	root := handle.system.Root
	wants := []messages.Acquire{
		{Path: "/exclusive"}, {Path: "/exclusive", Name: "named"}, {Path: "/exclusive", WatchAll: true},
		{Path: "/exclusive", Mode: messages.Read},
		{Path: "/rw", Mode: messages.Read}, {Path: "/rw", Mode: messages.Write}, {Path: "/rw", Mode: messages.Read},
		{Path: "/semaphore", Mode: messages.Semaphore, Permits: 2}, {Path: "/semaphore", Mode: messages.Semaphore, Permits: 2, Weight: 2},
		{Path: "/contest", Mode: messages.Contest}, {Path: "/contest", Mode: messages.Contest, Owner: "me", Reentry: true},
		{Path: "/mine", Owner: "me", Reentry: true}, {Path: "/mine", Owner: "me", Reentry: true},
		{Path: "/down", Mode: messages.Write, Owner: "me"}, {Path: "/down", Mode: messages.Read, Owner: "me"},
	}
	for round := range 3 {
		var recs []*actorstest.Recorder
		for range 5 {
			for _, want := range wants {
				rec := actorstest.NewRecorder(handle.system)
				defer rec.Close()
				lock := root.Spawn(NewLock(handle, want, WithObserver(rec.PID())))
				switch {
				case round == 2 && len(recs)%3 == 0:
					root.Stop(lock)
				case round == 1 && len(recs)%3 == 0:
					root.Send(lock, &messages.Cancel{})
				default: // it gives back as soon as it holds
					go func() {
						if _, err := rec.Await(t.Context(), messages.StateHeld); err == nil {
							root.Send(lock, &messages.Release{})
						}
					}()
				}
				recs = append(recs, rec)
			}
		}
		require.Eventually(t, func() bool {
			for _, rec := range recs { // what a lock actor ever asked for is asked for by then
				all := rec.Transitions()
				if len(all) == 0 || !all[len(all)-1].To.Terminal() && all[len(all)-1].On != "Stopped" {
					return false
				}
			}
			left := -1
			inside(func(s *session) { left = len(s.contenders) })
			return left == 0
		}, time.Minute, 5*time.Millisecond, "requests that never ended")
		left := map[string]int{}
		inside(func(s *session) {
			left["claims"], left["shares"], left["contests"] = len(s.claims), len(s.shares), len(s.contests)
			left["watches"], left["listings"] = len(s.watches), len(s.listings)
			left["newest"], left["parked"] = len(s.newest), len(s.parked)
			left["abroad"], left["joining"] = len(s.abroad), len(s.joining)
		})
		require.Eventually(t, func() bool { // whose company is waited for
			turns := -1
			inside(func(s *session) { turns = len(s.turns) })
			return turns == 0
		}, time.Minute, time.Millisecond)
		for what, n := range left {
			require.Zero(t, n, "%s, round %d", what, round)
		}
		// Reads that were under way may leave a watch on a node that is about to go.
		require.Eventually(t, func() bool { return watchCount(t, server) <= 2 }, time.Minute, 5*time.Millisecond)
	}
}
