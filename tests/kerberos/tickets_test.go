package kerberos

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig/kdc"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/gssapi"
)

// Exchanges that never take place, as in an outage of the ensemble, cost the KDC nothing. A ticket that was refused is
// fetched anew, with the ticket-granting ticket that is there.
func TestTicketsAreKept(t *testing.T) {
	k := newRealm(t)
	m := as(t, k, "alice")
	for range 3 {
		require.NoError(t, start(deadline(t), m))
	}
	require.Equal(t, 1, k.Logins("alice"))
	require.Equal(t, 1, k.Tickets("alice"))
	require.NoError(t, refused(deadline(t), m))
	require.NoError(t, start(deadline(t), m))
	require.Equal(t, 1, k.Logins("alice"))
	require.Equal(t, 2, k.Tickets("alice"))
	require.NoError(t, refused(deadline(t), m))
	k.Kill(t)
	require.NoError(t, start(deadline(t), m), "it is presented again where no KDC answers")
}

// A connection whose ticket is there does not wait for one that waits for a KDC.
func TestTicketWhileAnotherIsAwaited(t *testing.T) {
	k := newRealm(t)
	m := as(t, k, "alice", gssapi.WithoutCanonicalHost())
	require.NoError(t, start(deadline(t), m))
	k.Pause(t)
	waiting, stop := context.WithCancel(deadline(t))
	done := make(chan error, 1)
	go func() {
		_, err := m.Start(waiting, zkconn.SASLServer{Host: "elsewhere", Address: "127.0.0.1:2181"})
		done <- err
	}()
	for range 100 {
		require.NoError(t, start(deadline(t), m))
	}
	select {
	case err := <-done:
		t.Fatal("the KDC is paused, and it got an answer: ", err)
	default:
	}
	stop()
	requireTemporary(t, true, <-done)
	k.Resume(t)
}

// Tickets that are about to expire are replaced, and used to their end where no KDC answers.
func TestTicketsAreReplacedBeforeTheyExpire(t *testing.T) {
	k := newRealm(t)
	k.Modify(t, "alice", `-maxlife "60 seconds"`)
	var clock shifted
	m := as(t, k, "alice", gssapi.WithClock(clock.now))
	require.NoError(t, start(deadline(t), m))
	require.Equal(t, 1, k.Logins("alice"))

	clock.by = 58 * time.Second
	require.NoError(t, start(deadline(t), m))
	require.Equal(t, 2, k.Logins("alice"))

	k.Kill(t)
	clock.by = 0
	require.NoError(t, start(deadline(t), m))
	clock.by = 5 * time.Minute
	err := start(deadline(t), m)
	require.ErrorIs(t, err, gssapi.ErrNoKDC)
	requireTemporary(t, true, err)
	k.Restart(t)
	clock.by = 57 * time.Second
	require.NoError(t, start(deadline(t), m))
	require.Equal(t, 3, k.Logins("alice"))
}

// A KDC that is silent when a ticket is due to be replaced costs a client that still has it little
// time, and no time to a client that comes while another asks.
func TestSilentKDCWhenTicketsAreDue(t *testing.T) {
	k := newRealm(t)
	var clock shifted
	m := as(t, k, "alice", gssapi.WithClock(clock.now))
	require.NoError(t, start(deadline(t), m))
	require.Equal(t, 1, k.Tickets("alice"))
	clock.by = 10*time.Hour - 4*time.Minute
	k.Pause(t)
	ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
	defer cancel()
	require.NoError(t, start(ctx, m))
	require.NoError(t, ctx.Err(), "long before the time was over")

	done := make(chan error, 3)
	for range cap(done) {
		go func() { done <- start(ctx, m) }()
	}
	for range cap(done) {
		require.NoError(t, <-done)
	}
	require.NoError(t, ctx.Err())
}

// A realm that was set up anew refuses the tickets from before.
func TestTicketGrantingTicketThatIsRefused(t *testing.T) {
	k := newRealm(t)
	m := as(t, k, "alice")
	require.NoError(t, refused(deadline(t), m))
	k.ChangeKey(t, "krbtgt/"+kdc.Realm)
	require.NoError(t, start(deadline(t), m))
	require.Equal(t, 2, k.Logins("alice"))
}

// A keytab is read again at each login.
func TestKeytabThatIsChanged(t *testing.T) {
	k := newRealm(t)
	path := k.Keytab(t, "alice")
	m := mechanism(t, k, gssapi.WithKeytab(path, "alice"))
	k.ChangeKey(t, "alice")
	require.ErrorIs(t, start(deadline(t), m), gssapi.ErrWrongKey)
	k.KeytabAt(t, path, "alice")
	require.NoError(t, start(deadline(t), m))
}

func TestCredentialCache(t *testing.T) {
	k := newRealm(t)
	path := k.Cache(t, "alice", 2*time.Second)
	m := mechanism(t, k, gssapi.WithCredentialCache("FILE:"+path))
	require.Contains(t, m.Principal(), path, "before it was read")
	require.Eventually(t, func() bool { return start(deadline(t), m) != nil }, time.Minute, 10*time.Millisecond)
	err := start(deadline(t), m)
	require.ErrorIs(t, err, gssapi.ErrTicketExpired)
	requireTemporary(t, false, err)
	require.ErrorContains(t, err, path)
	require.ErrorContains(t, err, "kinit")
	require.Equal(t, "alice@"+kdc.Realm, m.Principal())

	k.CacheAt(t, path, "alice", time.Hour)
	require.NoError(t, start(deadline(t), m))
	k.CacheAt(t, path, "bob", time.Hour)
	require.NoError(t, start(deadline(t), m))
	require.Equal(t, "bob@"+kdc.Realm, m.Principal())
	require.Equal(t, 1, k.Tickets("bob"))
}

func TestTicketForTheServerInACredentialCache(t *testing.T) {
	k := newRealm(t)
	path := k.Cache(t, "alice", time.Hour)
	k.TicketInto(t, path, servers)
	k.Kill(t)
	require.NoError(t, start(deadline(t), mechanism(t, k, gssapi.WithCredentialCache(path))))
}

// The servers are in another realm, which trusts ours.
func TestServersOfAnotherRealm(t *testing.T) {
	k, other := newRealm(t), kdc.StartRealm(t, "OTHER.TEST")
	for _, each := range []*kdc.KDC{k, other} {
		each.AddWith(t, "krbtgt/OTHER.TEST@"+kdc.Realm, "-pw", "shared")
	}
	other.Add(t, "zookeeper/zk1.other.test")
	m := as(t, k, "alice", gssapi.WithConfig(k.ConfigAmong(t, other)))
	_, err := m.Start(deadline(t), zkconn.SASLServer{Host: "zk1.other.test", Address: "192.0.2.1:2181"})
	require.NoError(t, err)
	require.Equal(t, 1, other.Tickets("alice"))
	_, err = m.Start(deadline(t), zkconn.SASLServer{Host: "zk2.other.test", Address: "192.0.2.2:2181"})
	require.ErrorIs(t, err, gssapi.ErrUnknownService)
	require.ErrorContains(t, err, "zookeeper/zk2.other.test@OTHER.TEST")
}
