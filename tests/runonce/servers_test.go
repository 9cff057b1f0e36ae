package runonce

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// What TestRunOnceFaults shows by the clock of a bubble, on every kind of server, and of processes that are paused and
// killed.

// expect has something happen to the next transaction that has a part at a path below the root.
func expect(zk *stories.Servers, proxy *rig.Proxy, path string, action rig.Action) *rig.Fault {
	return proxy.Expect(rig.Rule{Op: rig.OpMulti, Action: action,
		Path: func(at string) bool { return at == zk.Root()+path }})
}

// TestRunOnceLosesMessages: requests and replies are lost, at the question for the time and at the mark. The work is
// done once, and marked once.
func TestRunOnceLosesMessages(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		client, other := patient.Open(t, proxy.Addr()+zk.Root()), zk.Open(t)
		version := int32(0)
		for _, path := range []string{jobClock, jobMark} {
			for _, action := range []rig.Action{rig.DropReply, rig.CutBefore} {
				fault, c := expect(zk, proxy, path, action), &counted{}
				got := once(t, client, 0, c)
				<-fault.Fired()
				version++
				require.Equal(t, locks.OnceRan, got.Outcome)
				require.Equal(t, version, zk.Read(t, jobMark).Version, "%s: once", path)
				require.Equal(t, got.Mark, once(t, other, time.Hour, c).Mark)
				require.Equal(t, 1, c.calls)
			}
		}
	})
}

// TestRunOnceIsCut: the connection is cut while the work is done, which does not matter; the session expires, which
// does.
func TestRunOnceIsCut(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		client, other := patient.Open(t, proxy.Addr()+zk.Root()), zk.Open(t)
		_, err := locks.RunOnce(patient.Deadline(t), client, jobKey, time.Hour,
			func(ctx context.Context, _ locks.Token) error {
				id, password, _ := proxy.Session()
				proxy.Refuse(true)
				require.NoError(t, rig.ExpireSession(patient.Deadline(t), zk.Members[0].Addr(), id, password))
				proxy.Refuse(false)
				<-ctx.Done()
				require.ErrorIs(t, context.Cause(ctx), locks.ErrLost)
				return nil
			})
		require.ErrorIs(t, err, locks.ErrLost)
		require.Equal(t, unmarked, zk.Read(t, jobMark))
		got, err := locks.RunOnce(patient.Deadline(t), client, jobKey, time.Hour, func(context.Context, locks.Token) error {
			proxy.Cut()
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, locks.OnceRan, got.Outcome)
		require.Equal(t, got.Mark, once(t, other, time.Hour, &counted{}).Mark)
	})
}

// TestReplicasRunOnce: replicas that come at the same time, in several rounds, run a job once in each.
func TestReplicasRunOnce(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		const replicas, rounds = 5, 5
		var clients []*locks.Client
		for range replicas {
			clients = append(clients, zk.Open(t))
		}
		var mu sync.Mutex
		for round := range rounds {
			ran := 0
			var all sync.WaitGroup
			for _, client := range clients {
				all.Go(func() {
					key := jobKey + strconv.Itoa(round)
					got, err := locks.RunOnce(patient.Deadline(t), client, key, time.Hour, func(context.Context, locks.Token) error {
						mu.Lock()
						defer mu.Unlock()
						ran++
						return nil
					}, locks.WithWaiting())
					if err != nil || got.Outcome == locks.OnceBusy || got.Mark.State != locks.MarkDone {
						t.Error(got, err)
					}
				})
			}
			all.Wait()
			require.Equal(t, 1, ran)
		}
	})
}

// jobTimeout is a session timeout that tests wait for.
const jobTimeout = 10 * time.Second

// TestRunOnceInSilence: the servers fall silent while the work is done, on a connection that stays. It is told in time
// that the lock is lost, and there is no mark.
func TestRunOnceInSilence(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		client := patient.Open(t, proxy.Addr()+zk.Root(), locks.WithSessionTimeout(jobTimeout))
		got, err := locks.RunOnce(patient.Deadline(t), client, jobKey, time.Hour,
			func(ctx context.Context, _ locks.Token) error {
				proxy.Hold(true)
				<-ctx.Done()
				return nil
			})
		require.ErrorIs(t, err, locks.ErrLost)
		require.Equal(t, locks.Once{Outcome: locks.OnceRan, Mark: locks.Mark{State: locks.MarkNone}}, got)
		proxy.Hold(false)
		require.Equal(t, unmarked, zk.Read(t, jobMark))
		require.Equal(t, locks.OnceRan, once(t, zk.Open(t), time.Hour, &counted{},
			locks.WithWaiting()).Outcome)
	})
}

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
	client, err := locks.Open(patient.Deadline(t), j.Connect, locks.WithSessionTimeout(jobTimeout))
	require.NoError(t, err)
	relists.Count(t, client.Session())
	work := func(_ context.Context, token locks.Token) error {
		stories.Say("works", token)
		stories.AwaitGoOn(t)
		return nil
	}
	var got locks.Once
	if j.For.IsZero() {
		got, err = locks.RunOnce(context.Background(), client, jobKey, time.Hour, work, locks.WithWaiting())
	} else {
		got, err = locks.RunOnceFor(context.Background(), client, jobKey, j.For, work, locks.WithWaiting())
	}
	stories.Say(got.Outcome, got.Mark.State, errors.Is(err, locks.ErrLost), err == nil)
	require.NoError(t, client.Close(context.Background()))
}

func startJobber(t *testing.T, zk *stories.Servers) *stories.Process {
	t.Helper()
	return startJobberFor(t, zk, time.Time{})
}

func startJobberFor(t *testing.T, zk *stories.Servers, at time.Time) *stories.Process {
	t.Helper()
	text, err := json.Marshal(jobber{zk.Connect(), at})
	require.NoError(t, err)
	return stories.StartProcess(t, "TestJobberInAProcess", jobberVariable, string(text))
}

// TestRunOncePaused: a process is stopped while it works, until its session has expired and somebody else has done the
// work. It goes on, hears that it has lost the lock, and the mark is the other's.
func TestRunOncePaused(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		p := startJobber(t, zk)
		require.Contains(t, p.Hear(t), "works ")
		require.NoError(t, p.Pause())
		require.Equal(t, locks.OnceBusy, once(t, client, time.Hour, &counted{}).Outcome)
		next := once(t, client, time.Hour, &counted{}, locks.WithWaiting())
		require.Equal(t, locks.OnceRan, next.Outcome)
		p.GoOn(t)
		require.NoError(t, p.Resume())
		require.Equal(t, "ran none true false", p.Hear(t))
		<-p.Exited()
		require.Equal(t, next.Mark, once(t, client, time.Hour, &counted{}).Mark)
		require.Equal(t, int32(1), zk.Read(t, jobMark).Version, "written once")
	})
}

// TestRunOnceKilled: a process is killed while it works. There is no mark, and somebody else does the work.
func TestRunOnceKilled(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		p := startJobber(t, zk)
		require.Contains(t, p.Hear(t), "works ")
		require.NoError(t, p.Kill())
		require.Equal(t, unmarked, zk.Read(t, jobMark))
		next := once(t, client, time.Hour, &counted{}, locks.WithWaiting())
		require.Equal(t, locks.OnceRan, next.Outcome)
		p = startJobber(t, zk)
		require.Equal(t, "not due done false true", p.Hear(t))
		<-p.Exited()
	})
}
