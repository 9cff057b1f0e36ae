package gateway

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// replacedSession is the session timeout of a gateway whose server is replaced.
const replacedSession = 10 * time.Second

// The ways in which the server is replaced.
const (
	wiped    = "wiped"
	restored = "restored" // from an old backup, in which a dead session holds the lock that is held now
	swapped  = "swapped"  // it hands out other sessions
)

// A gateway's server is wiped or restored, or hands out other sessions. A holder, a waiter and an idle requester of every
// kind of lock work again by themselves, over the same gateway, within the session timeout and two seconds of the
// server's return. Package matrix has this without gateways.
func TestReplacedServers(t *testing.T) {
	t.Parallel()
	type kind func(c *locks.Client, path string) locks.Locker
	for name, kind := range map[string]kind{
		"mutex":     func(c *locks.Client, path string) locks.Locker { return c.Mutex(path) },
		"write":     func(c *locks.Client, path string) locks.Locker { return c.RWMutex(path) },
		"semaphore": func(c *locks.Client, path string) locks.Locker { return c.Semaphore(path, 1).Weight(1) },
		"contest":   func(c *locks.Client, path string) locks.Locker { return c.Contest(path + "/node") },
		"cohort":    func(c *locks.Client, path string) locks.Locker { return c.Mutex(path, locks.WithCohort(4)) },
		"sticky":    func(c *locks.Client, path string) locks.Locker { return c.Mutex(path, locks.WithSticky(time.Minute)) },
	} {
		for _, how := range []string{wiped, restored, swapped} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { replaced(t, how, kind) })
			})
		}
	}
}

func replaced(t *testing.T, how string, kind func(c *locks.Client, path string) locks.Locker) {
	newServer := func() *embedded.Server {
		return embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
	}
	estate, system := bubble.NewEstate(newServer()), bubble.System(t)
	inside, err := locks.Open(t.Context(), bubble.EstateAddress, locks.WithDialer(estate.Dial),
		locks.WithActorSystem(system), locks.WithSessionTimeout(replacedSession))
	require.NoError(t, err)
	relists.Count(t, inside.Session())
	t.Cleanup(func() { patient.Closed(t, inside.Close(context.WithoutCancel(t.Context()))) })
	pid, err := gateway.Spawn(system, inside.Session(), "gateway")
	require.NoError(t, err)
	var clients []*locks.Client // requesters
	for range 3 {
		client, err := gateway.Open(t.Context(), system, gateway.At(pid))
		require.NoError(t, err)
		t.Cleanup(func() { _ = client.Close(context.WithoutCancel(t.Context())) })
		clients = append(clients, client)
	}
	holder, waiter, idle := clients[0], clients[1], clients[2]
	lease, err := kind(idle, "/idle").Lock(t.Context())
	require.NoError(t, err)
	require.NoError(t, lease.Unlock(t.Context()))
	held, err := kind(holder, "/held").Lock(t.Context())
	require.NoError(t, err)
	type answer struct {
		lease *locks.Lease
		err   error
	}
	waiting := make(chan answer, 1)
	go func() {
		lease, err := kind(waiter, "/held").Lock(t.Context())
		waiting <- answer{lease, err}
	}()
	synctest.Wait()

	switch how {
	case wiped:
		estate.Vacate()
		time.Sleep(replacedSession * 2 / 5)
		estate.Replace(newServer())
	case restored:
		old := newServer()
		line := bubble.NewLine(old)
		dead, err := locks.Open(t.Context(), old.Connect(), locks.WithDialer(line.Dial), locks.WithSessionTimeout(replacedSession))
		require.NoError(t, err)
		t.Cleanup(func() {
			if err := dead.Close(context.WithoutCancel(t.Context())); !errors.Is(err, locks.ErrSessionRemains) {
				require.NoError(t, err) // its session is over
			}
			time.Sleep(time.Minute) // the actor system's throttle sleeps on for a while
		})
		_, err = kind(dead, "/held").Lock(t.Context())
		require.NoError(t, err)
		estate.Vacate()
		time.Sleep(replacedSession * 2 / 5)
		line.Be(bubble.Down) // its session lives for its timeout more
		estate.Replace(old)
	case swapped:
		estate.Swap()
	}
	back := time.Now()
	works := func(who string) {
		t.Logf("%s works %v after the return", who, time.Since(back))
		require.LessOrEqual(t, time.Since(back), replacedSession+2*time.Second, who)
	}
	got := <-waiting
	works("who waited")
	require.NoError(t, got.err)
	require.False(t, held.Valid(), "two valid leases")
	require.True(t, got.lease.Valid())
	require.ErrorIs(t, held.Unlock(t.Context()), locks.ErrLost)
	require.NoError(t, got.lease.Unlock(t.Context()))
	for who, again := range map[string]locks.Locker{"who held": kind(holder, "/held"), "who was idle": kind(idle, "/idle")} {
		lease, err := again.Lock(t.Context())
		require.NoError(t, err)
		works(who)
		require.True(t, lease.Valid())
		require.NoError(t, lease.Unlock(t.Context()))
	}
	require.NoError(t, inside.Ready())
}
