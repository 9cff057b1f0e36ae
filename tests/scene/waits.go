package scene

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// Bound bounds a wait of a test for something that must come. Tests that run beside others wait for
// the processor, too. TURNSTILE_PATIENCE=10s shortens it while one develops: a test that hangs says so soon.
var Bound = patience()

func patience() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("TURNSTILE_PATIENCE")); err == nil {
		return d
	}
	return 3 * time.Minute
}

// Session is a session timeout under which no lease runs out because the machine is slow.
const Session = 30 * time.Second

// Deadline gives a context that ends after Bound, and with the test.
func Deadline(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Bound)
	t.Cleanup(cancel)
	return ctx
}

// Eventually polls a condition that no event tells of. It calls the condition on the goroutine of the test, so that a
// check in it which fails ends the test at once.
func Eventually(t testing.TB, condition func() bool, what string, args ...any) {
	t.Helper()
	for end := time.Now().Add(Bound); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", Bound, fmt.Sprintf(what, args...))
		}
	}
}

// Open opens a client that is closed with the test.
func Open(t testing.TB, connect string, opts ...locks.Option) *locks.Client {
	t.Helper()
	opts = append([]locks.Option{locks.WithSessionTimeout(Session)}, opts...)
	client, err := locks.Open(Deadline(t), connect, opts...)
	require.NoError(t, err)
	CountRelists(t, client.Session())
	Cleanup(t, func() { Closed(t, client.Close(context.WithoutCancel(Deadline(t)))) })
	return client
}

// Cleanup calls a function when the test is over, and forgets it then. Package testing keeps what is given to T.Cleanup of
// a test that runs beside others, and all that it refers to, until the last test of the package has ended: an actor system
// is some 3 MB, and so is a connection.
func Cleanup(t testing.TB, clean func()) {
	t.Helper()
	t.Cleanup(func() {
		defer func() { clean = nil }()
		clean()
	})
}

// Closed takes what Close returns at the end of a test, which may have taken the servers away.
func Closed(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, locks.ErrSessionRemains) {
		require.NoError(t, err)
	}
}

// Notices gives the notices of a recorder without messages.Behind, of which one comes more or less as others are faster or slower.
func Notices(rec *actorstest.Recorder) []any {
	return slices.DeleteFunc(rec.Notices(), func(n any) bool { _, behind := n.(*messages.Behind); return behind })
}

// Recorder follows one request of a client.
func Recorder(t testing.TB, client *locks.Client) *actorstest.Recorder {
	t.Helper()
	rec := actorstest.NewRecorder(client.System())
	Cleanup(t, rec.Close)
	return rec
}

// Receive waits for a value that must come.
func Receive[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(Bound):
		t.Fatal("nothing comes")
		panic("unreachable")
	}
}

// AwaitFault waits for a fault that comes before the answer of what it happens to. Without a channel of answers there
// is only the bound.
func AwaitFault[A any](t *testing.T, fault *rig.Fault, answers <-chan A) {
	t.Helper()
	select {
	case <-fault.Fired():
	case a := <-answers:
		t.Fatalf("answered without the fault: %v", a)
	case <-time.After(Bound):
		t.Fatal("the fault never happens")
	}
}
