package tests

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// What all tests of behaviour do, whatever package they are in.
var (
	open       = patient.Open
	recorder   = patient.Recorder
	deadline   = patient.Deadline
	eventually = patient.Eventually
)

// bound is how long a test waits for what must come, however slow the machine is.
const bound = patient.Bound

// recorded gives a mutex whose requests a recorder follows: for one request each.
func recorded(t *testing.T, client *locks.Client, path string) (*locks.Mutex, *actorstest.Recorder) {
	t.Helper()
	rec := recorder(t, client)
	return client.Mutex(path, locks.WithObserver(rec.PID())), rec
}

// answer is the result of a Lock that runs elsewhere.
type answer struct {
	lease *locks.Lease
	err   error
}

// elsewhere acquires on a goroutine.
func elsewhere(ctx context.Context, lock func(context.Context) (*locks.Lease, error)) <-chan answer {
	got := make(chan answer, 1)
	go func() {
		lease, err := lock(ctx)
		got <- answer{lease, err}
	}()
	return got
}

// receive takes the answer, which must come.
func receive(t *testing.T, got <-chan answer) answer {
	t.Helper()
	select {
	case a := <-got:
		return a
	case <-time.After(bound):
		t.Fatal("Lock never returned")
		return answer{}
	}
}

// awaitFault waits for a fault that comes before the answer of what it happens to. Without a channel of answers there
// is only the bound.
func awaitFault[A any](t *testing.T, fault *rig.Fault, answers <-chan A) {
	t.Helper()
	select {
	case <-fault.Fired():
	case a := <-answers:
		t.Fatalf("answered without the fault: %v", a)
	case <-time.After(bound):
		t.Fatal("the fault never happens")
	}
}

// await waits until a request goes into a state.
func await(t *testing.T, rec *actorstest.Recorder, state messages.State) messages.Transition {
	t.Helper()
	tr, err := rec.Await(deadline(t), state)
	require.NoError(t, err)
	return tr
}

// requireStates compares the whole story of a request, up to where it must have come by now; the last
// of it may be on its way to the recorder yet.
func requireStates(t *testing.T, rec *actorstest.Recorder, want ...messages.State) {
	t.Helper()
	eventually(t, func() bool { return len(rec.States()) >= len(want) }, "states: %s", actorstest.Story(want))
	require.Equal(t, actorstest.Story(want), actorstest.Story(rec.States()))
}

// requireNotices compares the kinds of the notices that came, in order. The last may be on its way yet.
func requireNotices(t *testing.T, rec *actorstest.Recorder, want ...any) {
	t.Helper()
	names := func(notices []any) (all []string) {
		for _, n := range notices {
			all = append(all, fmt.Sprintf("%T", n))
		}
		return all
	}
	eventually(t, func() bool { return len(rec.Notices()) >= len(want) }, "notices: %v", names(want))
	require.Equal(t, names(want), names(rec.Notices()))
}

func silence(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }

// ctxt is context.Context, for the signatures of what runs elsewhere.
type ctxt = context.Context

func itoa(n int) string { return strconv.Itoa(n) }

func observedBy(rec *actorstest.Recorder) locks.LockOption { return locks.WithObserver(rec.PID()) }
