package services_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/examples/services"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// shortSession is the session timeout where a lease is to be lost: the tests wait for that.
const shortSession = 4 * time.Second

// faulty is a server whose clients come through a proxy.
type faulty struct {
	proxy         *rig.Proxy
	addr          string
	pause, resume func() error
}

// faults strike what a program holds, until they are healed.
var faults = []struct {
	name         string
	strike, heal func(t *testing.T, at *faulty)
	goes         bool // the server is gone until it is healed
}{
	{"the server is stopped", func(t *testing.T, at *faulty) { require.NoError(t, at.pause()) },
		func(t *testing.T, at *faulty) { require.NoError(t, at.resume()) }, true},
	{"the program is cut off", func(_ *testing.T, at *faulty) { at.proxy.Refuse(true); at.proxy.Cut() },
		func(_ *testing.T, at *faulty) { at.proxy.Refuse(false) }, true},
	{"the session expires", func(t *testing.T, at *faulty) {
		id, password, some := at.proxy.Session()
		require.True(t, some)
		if err := rig.ExpireSession(scene.Deadline(t), at.addr, id, password); !errors.Is(err, rig.ErrNoSession) {
			require.NoError(t, err) // on a slow machine it has expired already
		}
	}, func(*testing.T, *faulty) {}, false},
}

// eachFault runs a test for each fault, on an embedded server and on a real one, where that is installed.
func eachFault(t *testing.T, run func(t *testing.T, at *faulty, strike, heal func(), goes bool)) {
	for _, f := range faults {
		start := map[string]func(t *testing.T) *faulty{
			"embedded": func(t *testing.T) *faulty {
				server := embedded.Run(t, embedded.WithSessionTimeouts(time.Second, shortSession))
				return &faulty{addr: server.Addr(), pause: func() error { server.Replica(0).Pause(); return nil },
					resume: func() error { server.Replica(0).Resume(); return nil }}
			},
			"standalone": func(t *testing.T) *faulty {
				server := rig.StartStandalone(t, rig.WithMaxSessionTimeout(shortSession))
				return &faulty{addr: server.Addr(), pause: server.Pause, resume: server.Resume}
			},
		}
		for kind, serve := range start {
			t.Run(f.name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				at := serve(t)
				at.proxy = rig.NewProxy(t, at.addr)
				run(t, at, func() { f.strike(t, at) }, func() { f.heal(t, at) }, f.goes)
			})
		}
	}
}

// TestPayUnderFaults: a payment is under way when its lease is lost, and ends as its ctx tells it to. That is no success,
// and no client that has gone. The service is unready while there is no server, and pays again when there is one. It is a
// process of its own.
func TestPayUnderFaults(t *testing.T) {
	eachFault(t, func(t *testing.T, at *faulty, strike, heal func(), goes bool) {
		service := startProgram(t, "pay", at.proxy.Addr(), time.Time{})
		_, addr := service.says(t, "serves")
		ask := func(method, path string) int {
			request, err := http.NewRequestWithContext(scene.Deadline(t), method, "http://"+addr+path, nil)
			if err != nil {
				t.Error(err)
				return 0
			}
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Error(err)
				return 0
			}
			_ = answer.Body.Close()
			return answer.StatusCode
		}
		defer http.DefaultClient.CloseIdleConnections()
		answered := make(chan int, 1)
		for waiting := true; waiting; {
			go func() { answered <- ask(http.MethodPut, "/orders/slow") }()
			select {
			case line := <-service.lines:
				require.Equal(t, "begun", line)
				waiting = false
			case code := <-answered: // lost before it could begin, on a slow machine
				require.Equal(t, http.StatusServiceUnavailable, code)
			}
		}
		strike()
		require.Equal(t, http.StatusServiceUnavailable, <-answered)
		if goes {
			scene.Eventually(t, func() bool { return ask(http.MethodGet, "/ready") == http.StatusServiceUnavailable }, "it is ready")
		}
		heal()
		scene.Eventually(t, func() bool { return ask(http.MethodGet, "/ready") == http.StatusOK }, "it is not ready")
		scene.Eventually(t, func() bool { return ask(http.MethodPut, "/orders/42") == http.StatusNoContent }, "nothing is paid")
	})
}

// TestCronUnderFaults: the job is under way when its lease is lost. The replica, a process of its own, says that it has run
// it, and lost the lock. Nobody runs it again for that instant, and the next that wakes up for another one runs it.
func TestCronUnderFaults(t *testing.T) {
	eachFault(t, func(t *testing.T, at *faulty, strike, heal func(), _ bool) {
		var tonight time.Time
		for begun := false; !begun; { // on a slow machine it may be lost before it could begin
			tonight = time.Now()
			replica := startProgram(t, "cron", at.proxy.Addr(), tonight)
			which, how := replica.says(t, "begun", "ended")
			if begun = which == "begun"; begun {
				strike()
				replica.says(t, "interrupted")
				heal()
				_, how = replica.says(t, "ended")
			}
			require.Equal(t, cronEnd{ran: begun, lost: true, mayPass: true}.String(), how)
		}
		scene.Eventually(t, func() bool { // the lock is taken until the session of the first has expired
			ran, err := services.Cron(scene.Deadline(t), at.proxy.Addr(), time.Now(), func(context.Context) error { return nil })
			return ran && err == nil
		}, "nobody runs the job of the next night")
		scene.Eventually(t, func() bool { // on a slow machine a lease may be over before the mark is read
			ran, err := services.Cron(scene.Deadline(t), at.proxy.Addr(), tonight, func(context.Context) error { return nil })
			require.False(t, ran)
			return errors.Is(err, locks.ErrNotRun)
		}, "nobody says that tonight's job is not run again")
	})
}

// TestOnceUnderFaults is the same for RunOnce, which leaves a mark only of work that was done under the lock.
func TestOnceUnderFaults(t *testing.T) {
	eachFault(t, func(t *testing.T, at *faulty, strike, heal func(), _ bool) {
		client := scene.Open(t, at.proxy.Addr(), locks.WithSessionTimeout(shortSession))
		var once locks.Once
		var err error
		for once.Outcome != locks.OnceRan { // on a slow machine it may be lost before it could begin
			once, err = locks.RunOnce(scene.Deadline(t), client, "/jobs/nightly", time.Hour, func(ctx context.Context, _ locks.Token) error {
				strike()
				<-ctx.Done()
				heal()
				return ctx.Err()
			})
			require.ErrorIs(t, err, locks.ErrLost)
		}
		require.Equal(t, locks.MarkNone, once.Mark.State)
		require.NotErrorIs(t, err, context.Canceled)
		var ran int
		scene.Eventually(t, func() bool {
			once, err = locks.RunOnce(scene.Deadline(t), client, "/jobs/nightly", time.Hour, func(context.Context, locks.Token) error {
				ran++
				return nil
			})
			return err == nil && once.Outcome != locks.OnceBusy
		}, "nobody runs the job again")
		require.Equal(t, locks.OnceRan, once.Outcome)
		once, err = locks.RunOnce(scene.Deadline(t), client, "/jobs/nightly", time.Hour, func(context.Context, locks.Token) error {
			return errors.New("it is done")
		})
		require.NoError(t, err)
		require.Equal(t, locks.OnceNotDue, once.Outcome)
		require.Positive(t, ran)
	})
}
