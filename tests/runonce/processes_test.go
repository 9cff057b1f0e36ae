package runonce

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// jobberVariable makes TestJobberInAProcess a process that runs a job: a jobber in JSON.
const jobberVariable = "TURNSTILE_TEST_JOBBER"

// jobber has the settings of such a process.
type jobber struct {
	Connect string
	For     time.Time // zero for RunOnce
}

// TestJobberInAProcess is not a test but a process: it runs a job that works until it gets a line, looks at nothing
// meanwhile, and says what came out.
func TestJobberInAProcess(t *testing.T) {
	text := os.Getenv(jobberVariable)
	if text == "" {
		return
	}
	var j jobber
	require.NoError(t, json.Unmarshal([]byte(text), &j))
	client, err := locks.Open(scene.Deadline(t), j.Connect, locks.WithSessionTimeout(10*time.Second)) // the test waits for its end
	require.NoError(t, err)
	scene.CountRelists(t, client.Session())
	work := func(context.Context, locks.Token) error {
		scene.Say("works")
		scene.AwaitGoOn(t)
		return nil
	}
	var got locks.Once
	if j.For.IsZero() {
		got, err = locks.RunOnce(context.Background(), client, jobKey, time.Hour, work, locks.WithWaiting())
	} else {
		got, err = locks.RunOnceFor(context.Background(), client, jobKey, j.For, work, locks.WithWaiting())
	}
	scene.Say(got.Outcome, got.Mark.State, errors.Is(err, locks.ErrLost), err == nil)
	require.NoError(t, client.Close(context.Background()))
}

// startJobber starts a process, which works.
func startJobber(t *testing.T, zk *scene.Servers, at time.Time) *scene.Process {
	t.Helper()
	text, err := json.Marshal(jobber{zk.Connect(), at})
	require.NoError(t, err)
	return scene.StartProcess(t, "TestJobberInAProcess", jobberVariable, string(text))
}

// TestRunOncePaused: a process is stopped while it works, until its session has expired and somebody else has done the
// work, or that of the next instant. It goes on, hears that it has lost the lock, and the mark is the other's.
func TestRunOncePaused(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		for _, at := range []time.Time{{}, night(1)} {
			zk := zk.Below(t)
			client, p := zk.Open(t), startJobber(t, zk, at)
			require.Equal(t, "works", p.Hear(t))
			require.NoError(t, p.Pause())
			says, version, waiting := "ran none true false", int32(1), locks.WithWaiting()
			look := func() locks.Once { return once(t, locks.OnceNotDue, client, time.Hour, &counted{}) }
			var next locks.Once
			if at.IsZero() {
				once(t, locks.OnceBusy, client, time.Hour, &counted{})
				next = once(t, locks.OnceRan, client, time.Hour, &counted{}, waiting)
			} else {
				cameTo(t, locks.OnceBusy, client, at, &counted{})
				next = cameTo(t, locks.OnceRan, client, night(2), &counted{}, waiting)
				look = func() locks.Once { return cameTo(t, locks.OnceAlreadyRan, client, night(2), &counted{}) }
				says, version = "ran begun true false", 3 // two begins, and an end
			}
			p.GoOn(t)
			require.NoError(t, p.Resume())
			require.Equal(t, says, p.Hear(t))
			<-p.Exited()
			require.Equal(t, next.Mark, look().Mark)
			require.Equal(t, version, zk.Read(t, jobMark).Version, "nothing of the first after the second")
		}
	})
}

// TestRunOnceKilled: a process is killed while it works. Its session expires, and somebody else does the work: that of an
// instant where it is asked for again, because the mark says that it was begun.
func TestRunOnceKilled(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		client := zk.Open(t)
		kill := func(at time.Time) {
			p := startJobber(t, zk, at)
			require.Equal(t, "works", p.Hear(t))
			require.NoError(t, p.Kill())
		}
		kill(time.Time{})
		require.Equal(t, unmarked, zk.Read(t, jobMark))
		once(t, locks.OnceRan, client, time.Hour, &counted{}, locks.WithWaiting())
		require.Equal(t, "not due done false true", startJobber(t, zk, time.Time{}).Hear(t))

		at := time.Now() // after the mark
		kill(at)
		require.Equal(t, locks.MarkBegun, cameTo(t, locks.OnceAlreadyRan, client, at, &counted{}, locks.WithWaiting()).Mark.State)
		cameTo(t, locks.OnceRan, client, at, &counted{}, locks.WithRetryAfter(time.Hour))
		require.Equal(t, "already ran done false true", startJobber(t, zk, at).Hear(t))
	})
}
