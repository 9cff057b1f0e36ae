package kerberos

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/rig/kdc"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/gssapi"
)

// demanding has servers refuse clients without SASL.
func demanding(t testing.TB, k *kdc.KDC) []rig.Option {
	return append(k.ZooKeeper(t, servers), rig.WithConfig("sessionRequireClientSASLAuth", "true"))
}

// onlyMe is an ACL that servers fill in with the client's own identity.
var onlyMe = locks.WithACL(zkconn.CreatorACL()...)

// open opens a client that authenticates by Kerberos.
func open(t *testing.T, addr string, m *gssapi.Mechanism, opts ...locks.Option) *locks.Client {
	t.Helper()
	return scene.Open(t, addr, append([]locks.Option{locks.WithSASL(m)}, opts...)...)
}

// use locks a path once.
func use(t *testing.T, client *locks.Client, path string) {
	t.Helper()
	lease := scene.LockAt(t, client, path)
	scene.GiveBack(t, lease)
}

// Nodes that are for one principal alone, by a keytab and by a credential cache.
func TestLocks(t *testing.T) {
	k := newRealm(t)
	addr, path := demandingServer.Get(t).Addr(), fresh("/app")+"/lock"
	lease := scene.LockAt(t, open(t, addr, as(t, k, "alice"), onlyMe), path)
	second := scene.Queue(t, open(t, addr, mechanism(t, k, gssapi.WithCredentialCache(k.Cache(t, "alice", time.Hour))), onlyMe), path)
	_, err := open(t, addr, as(t, k, "bob")).Mutex(path).Lock(deadline(t))
	require.ErrorIs(t, err, zkconn.ErrNoAuth)
	scene.GiveBack(t, lease)
	next := second.Granted(t)
	require.Greater(t, next.Token(), lease.Token())
	scene.GiveBack(t, next)
	_, err = scene.Open(t, addr).Mutex(path).Lock(deadline(t))
	require.ErrorIs(t, err, zkconn.ErrAuthFailed, "the servers demand SASL")
}

// A lock outlives the loss of its leader, whose clients authenticate to another member.
func TestLockOutlivesALeader(t *testing.T) {
	k := newRealm(t)
	ensemble := rig.StartEnsemble(t, 3, demanding(t, k)...)
	client := open(t, ensemble.Addrs(), as(t, k, "alice"), onlyMe,
		locks.WithSessionTimeout(time.Minute)) // longer than elections take
	lease := scene.LockAt(t, client, "/app/lock")
	for range 2 {
		leader, err := ensemble.Leader(deadline(t))
		require.NoError(t, err)
		require.NoError(t, leader.Kill())
		_, err = ensemble.Leader(deadline(t))
		require.NoError(t, err)
		require.NoError(t, leader.Restart(deadline(t)))
	}
	require.True(t, lease.Valid())
	scene.GiveBack(t, lease)
	use(t, client, "/app/lock")
	require.Equal(t, 1, k.Logins("alice"), "tickets are kept between connections")
	require.Equal(t, 1, k.Tickets("alice"), "however often the members were not to be reached")
}

// Several connections that are made at once share a mechanism and its tickets: none of their requests is taken for a
// replay.
func TestConnectionsShareTickets(t *testing.T) {
	k := newRealm(t)
	server := rig.StartStandalone(t, demanding(t, k)...)
	m := as(t, k, "alice")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			client, err := locks.Open(deadline(t), server.Addr(), locks.WithSASL(m), locks.WithSessionTimeout(scene.Session))
			if err == nil {
				err = client.Close(deadline(t))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, 1, k.Logins("alice"))
	require.Equal(t, 1, k.Tickets("alice"))
	require.NotContains(t, server.Log(), "failed to SASL authenticate")
}

// Java's acceptor signs with a key of its own where it is told to, and with each kind of AES.
func TestKeysOfTheServer(t *testing.T) {
	shared := func(t *testing.T, _ *kdc.KDC) *rig.Server { return demandingServer.Get(t) }
	for name, c := range map[string]struct {
		enctype string
		server  func(*testing.T, *kdc.KDC) *rig.Server
	}{
		"a key of the acceptor's": {"aes256-cts-hmac-sha1-96", func(t *testing.T, k *kdc.KDC) *rig.Server {
			subkey := rig.WithSystemProperty("sun.security.krb5.acceptor.subkey", "true")
			return rig.StartStandalone(t, append(demanding(t, k), subkey)...)
		}},
		"AES-128":            {"aes128-cts-hmac-sha1-96", shared},
		"AES-256 with SHA-2": {"aes256-cts-hmac-sha384-192", shared},
		"AES-128 with SHA-2": {"aes128-cts-hmac-sha256-128", shared},
	} {
		t.Run(name, func(t *testing.T) {
			k := newRealm(t)
			for _, who := range []string{"krbtgt/" + kdc.Realm, "alice"} {
				k.ChangeKeyTo(t, who, c.enctype)
			}
			k.Delete(t, servers) // lest the key that follows be of the next version, which no shared server has
			k.AddWith(t, servers, "-pw", serversPassword, "-e", c.enctype+":normal")
			server := c.server(t, k)
			use(t, open(t, server.Addr(), as(t, k, "alice")), fresh("/lock"))
		})
	}
}

// Each of the three requests of an exchange is lost, or the answer to it is: the next connection begins another one.
func TestExchangeThatIsCutOff(t *testing.T) {
	k := newRealm(t)
	server, path := demandingServer.Get(t), fresh("/lock")
	for turn := range 3 {
		for _, lost := range []rig.Action{rig.CutBefore, rig.DropReply} {
			proxy := rig.NewProxy(t, server.Addr())
			client := open(t, proxy.Addr(), as(t, k, "alice"))
			lease := scene.LockAt(t, client, path)
			actions := append(slices.Repeat([]rig.Action{rig.Delay}, turn), lost)
			fault := proxy.Expect(rig.Rule{Op: rig.OpSASL, Action: actions[0]})
			proxy.Cut()
			for _, next := range actions[1:] {
				scene.Receive(t, fault.Fired())
				before := fault
				fault = proxy.Expect(rig.Rule{Op: rig.OpSASL, Action: next})
				before.Release()
			}
			scene.Receive(t, fault.Fired())
			scene.GiveBack(t, lease)
			use(t, client, path)
		}
	}
}

// Tickets expire again and again while a lock is held and its connection is lost again and again.
func TestLockOutlivesItsTickets(t *testing.T) {
	k := newRealm(t)
	k.Modify(t, "alice", `-maxlife "10 seconds"`)
	proxy := rig.NewProxy(t, demandingServer.Get(t).Addr())
	client := open(t, proxy.Addr(), as(t, k, "alice"), onlyMe)
	rec := scene.Recorder(t, client)
	lease := scene.Locked(t, client.Mutex(fresh("/lock"), scene.ObservedBy(rec)).Lock)
	for held := 2; k.Logins("alice") < 3; held++ {
		proxy.Cut()
		_, err := rec.AwaitNth(deadline(t), messages.StateHeld, held)
		require.NoError(t, err)
		require.True(t, lease.Valid())
		time.Sleep(100 * time.Millisecond)
	}
	require.Less(t, k.Logins("alice"), proxy.Requests(rig.OpSASL)/3, "most connections take the ticket that is there")
	scene.GiveBack(t, lease)
}
