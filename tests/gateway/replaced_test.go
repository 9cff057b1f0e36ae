package gateway

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
)

// TestReplacedServers: a gateway's server is wiped or restored from an old backup, in which a dead session holds the
// lock that is held now, or hands out other sessions. A holder, a waiter and an idle requester of every kind of lock
// work again by themselves, over the same gateway, within the session timeout and two seconds of the server's return.
// Package matrix has this without gateways, and elections, groups and RunOnce.
func TestReplacedServers(t *testing.T) {
	t.Parallel()
	type kind func(c *locks.Client, path string) locks.Locker
	write := func(c *locks.Client, path string) locks.Locker { return c.RWMutex(path) }
	for name, kind := range map[string]struct{ ahead, subject kind }{
		"mutex":     {subject: func(c *locks.Client, path string) locks.Locker { return c.Mutex(path) }},
		"write":     {subject: write},
		"read":      {write, func(c *locks.Client, path string) locks.Locker { return c.RWMutex(path).Reader() }},
		"semaphore": {subject: func(c *locks.Client, path string) locks.Locker { return c.Semaphore(path, 1).Weight(1) }},
		"contest":   {subject: func(c *locks.Client, path string) locks.Locker { return c.Contest(path + "/node") }},
		"cohort":    {subject: func(c *locks.Client, path string) locks.Locker { return c.Mutex(path, locks.WithCohort(4)) }},
		"sticky": {subject: func(c *locks.Client, path string) locks.Locker {
			return c.Mutex(path, locks.WithSticky(time.Minute))
		}},
	} {
		if kind.ahead == nil {
			kind.ahead = kind.subject
		}
		for _, how := range []string{"wiped", "restored", "swapped"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { replaced(t, how, kind.ahead, kind.subject) })
			})
		}
	}
}

func replaced(t *testing.T, how string, ahead, subject func(c *locks.Client, path string) locks.Locker) {
	const session = 10 * time.Second
	estate, system := bubble.NewEstate(bubble.Server(t)), bubble.System(t)
	inside, err := locks.Open(t.Context(), bubble.EstateAddress, locks.WithDialer(estate.Dial),
		locks.WithActorSystem(system), locks.WithSessionTimeout(session))
	require.NoError(t, err)
	relists.Count(t, inside.Session())
	t.Cleanup(func() { patient.Closed(t, inside.Close(context.WithoutCancel(t.Context()))) })
	pid, err := gateway.Spawn(system, inside.Session(), "gateway")
	require.NoError(t, err)
	var requesters [3]*locks.Client
	for i := range requesters {
		requesters[i], err = gateway.Open(t.Context(), system, gateway.At(pid))
		require.NoError(t, err)
		t.Cleanup(func() { _ = requesters[i].Close(context.WithoutCancel(t.Context())) })
	}
	holder, waiter, idle := requesters[0], requesters[1], requesters[2]
	bubble.GiveBack(t, bubble.Locked(t, subject(idle, "/idle").Lock))
	held := bubble.Locked(t, ahead(holder, "/held").Lock)
	waiting := patient.Elsewhere(t.Context(), subject(waiter, "/held").Lock)
	synctest.Wait()

	if how == "swapped" {
		estate.Swap()
	} else {
		next := bubble.Server(t)
		line := &bubble.Network{Server: next}
		if how == "restored" {
			bubble.Locked(t, ahead(bubble.OpenThrough(t, next, line), "/held").Lock)
		}
		estate.Vacate()
		time.Sleep(session * 2 / 5)
		line.Be(bubble.Down) // the dead session lives for its timeout more
		estate.Replace(next)
	}
	back := time.Now()
	inTime := func(who string) {
		t.Helper()
		t.Logf("%s works %v after the return", who, time.Since(back))
		require.LessOrEqual(t, time.Since(back), session+2*time.Second, who)
	}
	got := <-waiting
	inTime("the waiter")
	require.NoError(t, got.Err)
	require.False(t, held.Valid(), "two valid leases")
	require.True(t, got.Lease.Valid())
	require.ErrorIs(t, held.Unlock(t.Context()), locks.ErrLost)
	bubble.GiveBack(t, got.Lease)
	for who, again := range map[string]locks.Locker{"the holder": ahead(holder, "/held"), "the idle client": subject(idle, "/idle")} {
		lease := bubble.Locked(t, again.Lock)
		inTime(who)
		bubble.GiveBack(t, lease)
	}
	require.NoError(t, inside.Ready())
}
