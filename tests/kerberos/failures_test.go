package kerberos

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/rig/kdc"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/gssapi"
)

// refusedOpen has a client fail to open, at once, with words that say who failed and why.
func refusedOpen(t *testing.T, addr string, m *gssapi.Mechanism, says ...string) error {
	t.Helper()
	ctx := deadline(t)
	client, err := locks.Open(ctx, addr, locks.WithSASL(m), locks.WithSessionTimeout(scene.Session))
	require.Nil(t, client)
	require.ErrorIs(t, err, zkconn.ErrAuthFailed)
	require.NoError(t, ctx.Err(), "it is told at once")
	for _, words := range append(says, "GSSAPI", m.Principal(), addr) {
		require.ErrorContains(t, err, words)
	}
	return err
}

// inGuide has the guide quote what was shown here.
func inGuide(t *testing.T, quote string) {
	t.Helper()
	content, err := os.ReadFile("../../locks/guides/sasl.md")
	require.NoError(t, err)
	require.Contains(t, strings.Join(strings.Fields(string(content)), " "), quote)
}

// A refusal of a KDC ends the attempt to open a client.
func TestOpenWithoutATicket(t *testing.T) {
	k, addr := newRealm(t), demandingServer.Get(t).Addr()
	k.Add(t, "gone")
	gone, changed := as(t, k, "gone"), as(t, k, "bob")
	k.Delete(t, "gone")
	k.ChangeKey(t, "bob")
	cache := k.Cache(t, "alice", time.Second)
	expired := mechanism(t, k, gssapi.WithCredentialCache(cache))
	require.Eventually(t, func() bool { return start(deadline(t), expired) != nil }, scene.Bound, 10*time.Millisecond)
	for _, c := range []struct {
		m     *gssapi.Mechanism
		guide string // with … where the error has something of the test's own
		says  string
	}{
		{gone, "the KDC does not know the principal", "gone@" + kdc.Realm},
		{changed, "the keytab does not have the principal's present key", "bob@" + kdc.Realm},
		{as(t, k, "alice", gssapi.WithClock((&shifted{time.Hour}).now)), "the clocks differ too much: it is … here and … at the KDC", ""},
		{as(t, k, "alice", gssapi.WithServerPrincipal("nosuch/localhost")), ": the KDC does not know the server's principal",
			"for server nosuch/localhost@" + kdc.Realm},
		{expired, "the ticket has expired: that of credential cache … at …: run kinit", cache},
	} {
		refusedOpen(t, addr, c.m, append(strings.Split(c.guide, "…"), c.says)...)
		inGuide(t, c.guide)
	}
}

// And so does a refusal of the server. Java's servers keep the reason for their log.
func TestServerRefuses(t *testing.T) {
	k := newRealm(t)
	k.Add(t, "zookeeper/elsewhere")
	server := rig.StartStandalone(t, k.ZooKeeper(t, servers)...)
	t.Run("a ticket for another server", func(t *testing.T) {
		elsewhere := as(t, k, "alice", gssapi.WithServerPrincipal("zookeeper/elsewhere"))
		logs(t, server, "Checksum failed", func() {
			refusedOpen(t, server.Addr(), elsewhere, "the server said so (error -115, AuthFailed)")
		})
		inGuide(t, `SASL GSSAPI as "app@EXAMPLE.COM": the server said so (error -115, AuthFailed)`)
	})
	t.Run("a clock that is an hour off, once the tickets are there", func(t *testing.T) {
		var off atomic.Int64
		now := func() time.Time { return time.Now().Add(time.Duration(off.Load())) }
		m := as(t, k, "alice", gssapi.WithClock(now))
		use(t, open(t, server.Addr(), m), "/lock")
		off.Store(int64(time.Hour))
		// The KDC is asked for another ticket after the refusal, and knows why.
		logs(t, server, "Clock skew too great (37)", func() {
			refusedOpen(t, server.Addr(), m, "the clocks differ too much")
		})
	})
	t.Run("a ticket for a key of which it has another version", func(t *testing.T) {
		k.ChangeKey(t, servers)
		logs(t, server, "Checksum failed", func() { refusedOpen(t, server.Addr(), as(t, k, "alice")) })
	})
	t.Run("a ticket for another key of the same version", func(t *testing.T) {
		k.Delete(t, servers)
		k.Add(t, servers)
		logs(t, server, "Checksum failed", func() { refusedOpen(t, server.Addr(), as(t, k, "alice")) })
	})
}

// logs finds that the server's log says what the guide promises.
func logs(t *testing.T, server *rig.Server, words string, refused func()) {
	t.Helper()
	before := strings.Count(server.Log(), words)
	refused()
	// It is written to a pipe, from which it comes when it comes.
	scene.Eventually(t, func() bool { return strings.Count(server.Log(), words) > before }, "never logged: %s", words)
	inGuide(t, words)
}

// A server whose key is older than our ticket cannot read it, and can once its keytab has been changed.
func TestKeyOfTheServerIsChanged(t *testing.T) {
	k := newRealm(t)
	keytab := k.Keytab(t, servers)
	server := rig.StartStandalone(t, append(k.ZooKeeperWith(servers, keytab),
		rig.WithConfig("sessionRequireClientSASLAuth", "true"))...)
	m := as(t, k, "alice")
	client := open(t, server.Addr(), m)
	use(t, client, "/lock")

	k.ChangeKey(t, servers)
	refusedOpen(t, server.Addr(), as(t, k, "alice"), "-124")
	use(t, open(t, server.Addr(), m), "/lock") // its ticket is from before

	k.KeytabAt(t, keytab, servers) // without the old key, for which those tickets are
	require.NoError(t, server.Restart(deadline(t)))
	use(t, open(t, server.Addr(), as(t, k, "alice")), "/lock")
	use(t, open(t, server.Addr(), m), "/lock")
	use(t, client, "/lock")
}

func TestServersThatSpeakSomethingElse(t *testing.T) {
	k := newRealm(t)
	t.Run("no SASL", func(t *testing.T) {
		refusedOpen(t, rig.StartStandalone(t).Addr(), as(t, k, "alice"), "no SASL")
	})
	t.Run("DIGEST-MD5", func(t *testing.T) {
		server := rig.StartStandalone(t, rig.WithJAAS(rig.DigestJAAS(map[string]string{"alice": "secret"})))
		refusedOpen(t, server.Addr(), as(t, k, "alice"), "the server speaks DIGEST-MD5")
	})
}

// Without a KDC, a client with a ticket goes on, and one without waits until the KDC is back.
func TestLocksWithoutAKDC(t *testing.T) {
	k := newRealm(t)
	server := rig.StartStandalone(t, demanding(t, k)...) // which has no KDC either
	proxy := rig.NewProxy(t, server.Addr())
	client := open(t, proxy.Addr(), as(t, k, "alice"))
	lease := scene.LockAt(t, client, "/lock")
	bob, keys := as(t, k, "bob"), k.Keytab(t, "bob")
	k.Kill(t)

	before := proxy.Requests(rig.OpSASL)
	proxy.Cut()
	scene.Eventually(t, func() bool { return proxy.Requests(rig.OpSASL) >= before+3 }, "it never authenticated again")
	scene.GiveBack(t, lease)
	use(t, client, "/lock")

	var err error
	for within, asked := 2*time.Second, false; !asked; within *= 2 { // on a slow machine it takes time to ask the KDC
		require.Less(t, within, scene.Bound, "it never says that no KDC answers: %v", err)
		soon, cancel := context.WithTimeout(deadline(t), within)
		_, err = locks.Open(soon, server.Addr(), locks.WithSASL(bob))
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, zkconn.ErrAuthFailed, "nobody has refused him")
		asked = strings.Contains(err.Error(), "no KDC answers")
	}
	require.ErrorContains(t, err, "bob@"+kdc.Realm)

	opened := make(chan error, 1)
	go func() {
		late, err := locks.Open(deadline(t), server.Addr(), locks.WithSASL(mechanism(t, k, gssapi.WithKeytab(keys, "bob"))))
		if err == nil {
			err = late.Close(deadline(t))
		}
		opened <- err
	}()
	k.Restart(t)
	require.NoError(t, <-opened)
}

// A credential cache that nobody keeps fresh ends the session at the next connection, in so many words.
func TestExpiredTicketEndsTheSession(t *testing.T) {
	k := newRealm(t)
	proxy, path := rig.NewProxy(t, demandingServer.Get(t).Addr()), fresh("/lock")
	m := mechanism(t, k, gssapi.WithCredentialCache(k.Cache(t, "alice", 10*time.Second)))
	client := open(t, proxy.Addr(), m)
	lease := scene.LockAt(t, client, path)
	require.Eventually(t, func() bool { return start(deadline(t), m) != nil }, scene.Bound, 10*time.Millisecond)
	require.True(t, lease.Valid(), "a connection outlives its ticket")

	proxy.Cut()
	scene.Receive(t, lease.Context().Done())
	_, err := client.Mutex(path).Lock(deadline(t))
	require.ErrorIs(t, err, locks.ErrClosed)
	require.ErrorIs(t, err, zkconn.ErrAuthFailed)
	require.ErrorIs(t, err, gssapi.ErrTicketExpired)
}
