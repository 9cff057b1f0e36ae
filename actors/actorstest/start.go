package actorstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Kit is what a test of an actor program needs: see [Start].
type Kit struct {
	Server  *embedded.Server
	System  *actor.ActorSystem
	Session *actors.Session // its timeout is 30 s, so no lease runs out because the machine is slow
}

// Start starts an embedded server, an actor system that logs nothing, and a session, for a test or a
// benchmark. At its end it stops all actors, the session, the system and the server. The test fails
// if an actor does not stop, or if a goroutine is left that the test, or what it has started, began
// after Start. (One that a timer began is not noticed.) Tests may run in parallel.
//
// opts are the server's: with embedded.WithoutNetwork it works in a synctest bubble.
//
//	kit := actorstest.Start(t)
//	clerk := kit.System.Root.Spawn(newClerk(kit.Session))
func Start(t embedded.TB, opts ...embedded.Option) *Kit {
	t.Helper()
	checkGoroutines(t)
	k := &Kit{Server: embedded.Run(t, opts...)}
	silent := func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	k.System = actor.NewActorSystem(actor.WithLoggerFactory(silent), actor.WithDeadLetterThrottleInterval(deadLetters))
	t.Cleanup(func() {
		k.System.Shutdown()
		time.Sleep(2 * deadLetters)
	})
	cfg, err := zkconn.NewConfig(k.Server.Connect(), zkconn.WithSessionTimeout(30*time.Second), zkconn.WithDialer(k.Server.DialContext))
	if err == nil {
		k.Session, err = actors.StartSession(k.System, cfg)
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { k.stop(t) })
	ctx, cancel := bounded(context.Background())
	defer cancel()
	if err := k.Session.Ready(ctx); err != nil {
		t.Fatalf("%v", err)
	}
	return k
}

// deadLetters is for how long protoactor keeps a goroutine after a dead letter, also beyond Shutdown. A
// bubble must not end before it.
const deadLetters = time.Millisecond

// stop stops all actors, and the session last: actors may need it until they have ended.
func (k *Kit) stop(t embedded.TB) {
	t.Helper()
	stopped := eventually(func() string {
		var left []string
		for _, pid := range k.roots() {
			k.System.Root.Stop(pid)
			left = append(left, pid.Id)
		}
		return strings.Join(left, ", ")
	})
	// Without a deadline it gives up at once where the test has taken the server away.
	if err := k.Session.Close(context.Background()); err != nil && !errors.Is(err, zkconn.ErrSessionRemains) {
		t.Fatalf("%v", err)
	}
	if stopped != "" {
		t.Fatalf("actors do not stop: %s", stopped)
	}
}

// roots gives the actors at the root but the session's.
func (k *Kit) roots() (all []*actor.PID) {
	for _, bucket := range k.System.ProcessRegistry.LocalPIDs.LocalPIDs {
		if bucket.Count() == 0 { // most of a thousand: Items starts goroutines
			continue
		}
		for id, process := range bucket.Items() {
			if _, is := process.(*actor.ActorProcess); is && !strings.Contains(id, "/") && id != k.Session.PID().Id {
				all = append(all, actor.NewPID(k.System.Address(), id))
			}
		}
	}
	return all
}

// eventually asks what is left until nothing is, for so long as patience lasts.
func eventually(left func() string) (still string) {
	end := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, time.Second) {
		if still = left(); still == "" || time.Now().After(end) {
			return still
		}
		time.Sleep(pause)
	}
}

const label = "turnstile actorstest"

var started atomic.Int64

// checkGoroutines labels this goroutine, and so all that it starts, and those start. So tests that run
// in parallel are told apart.
func checkGoroutines(t embedded.TB) {
	mine := fmt.Sprint(started.Add(1))
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(label, mine)))
	t.Cleanup(func() {
		pprof.SetGoroutineLabels(context.Background())
		if left := eventually(func() string { return goroutines(mine) }); left != "" {
			t.Fatalf("goroutines that the test has started are left:\n%s", left)
		}
	})
}

// goroutines gives the stacks of those with a value of the label.
func goroutines(value string) string {
	var all bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&all, 1)
	var labelled []string
	for _, stack := range strings.Split(all.String(), "\n\n") {
		if strings.Contains(stack, fmt.Sprintf("%q:%q", label, value)) && !strings.Contains(stack, "os/signal.") {
			labelled = append(labelled, stack)
		}
	}
	return strings.Join(labelled, "\n\n")
}
