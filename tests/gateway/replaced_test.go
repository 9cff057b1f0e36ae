package gateway

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
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
	estate, system := scene.NewEstate(scene.Virtual(t)), scene.System(t)
	inside, err := locks.Open(t.Context(), scene.EstateAddress, locks.WithDialer(estate.Dial),
		locks.WithActorSystem(system), locks.WithSessionTimeout(session))
	require.NoError(t, err)
	scene.CountRelists(t, inside.Session())
	t.Cleanup(func() { scene.Closed(t, inside.Close(context.WithoutCancel(t.Context()))) })
	pid, err := gateway.Spawn(system, inside.Session(), "gateway")
	require.NoError(t, err)
	var requesters [3]*locks.Client
	for i := range requesters {
		requesters[i], err = gateway.Open(t.Context(), system, gateway.At(pid))
		require.NoError(t, err)
		t.Cleanup(func() { _ = requesters[i].Close(context.WithoutCancel(t.Context())) })
	}
	holder, waiter, idle := requesters[0], requesters[1], requesters[2]
	scene.GiveBack(t, scene.Locked(t, subject(idle, "/idle").Lock))
	held := scene.Locked(t, ahead(holder, "/held").Lock)
	waiting := scene.Elsewhere(t.Context(), subject(waiter, "/held").Lock)
	synctest.Wait()

	if how == "swapped" {
		estate.Swap()
	} else {
		next := scene.Virtual(t)
		line := &scene.Network{Server: next}
		if how == "restored" {
			scene.Locked(t, ahead(scene.ClientOver(t, next, line), "/held").Lock)
		}
		estate.Vacate()
		time.Sleep(session * 2 / 5)
		line.Be(scene.Down) // the dead session lives for its timeout more
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
	scene.GiveBack(t, got.Lease)
	for who, again := range map[string]locks.Locker{"the holder": ahead(holder, "/held"), "the idle client": subject(idle, "/idle")} {
		lease := scene.Locked(t, again.Lock)
		inTime(who)
		scene.GiveBack(t, lease)
	}
	require.NoError(t, inside.Ready())
}
