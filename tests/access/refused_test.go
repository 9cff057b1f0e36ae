package access

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A client that is not let in is told so, by which server and why, and never hangs.
func TestRefused(t *testing.T) {
	tellSASL(t, []story{
		{"wrong password", func(t *testing.T, at *place) { turnedAway(t, at, bob, "a guess") }},
		{"unknown user", func(t *testing.T, at *place) { turnedAway(t, at, "eve", "a guess") }},
		{"a user's name that is too long", func(t *testing.T, at *place) {
			turnedAway(t, at, strings.Repeat("x", 5000), "a guess")
		}},
		{"no SASL where it is required", withoutSASL},
		{"a password that was changed", passwordChanged},
	})
}

func turnedAway(t *testing.T, at *place, user, password string) {
	ctx := scene.Deadline(t)
	client, err := locks.Open(ctx, at.Connect(), locks.WithSASL(mechanism(t, user, password)))
	require.Nil(t, client)
	require.NoError(t, ctx.Err(), "it is told at once")
	require.ErrorIs(t, err, zkconn.ErrAuthFailed)
	require.ErrorContains(t, err, "DIGEST-MD5")
	if at.required {
		require.ErrorContains(t, err, "-124")
	} else {
		require.ErrorContains(t, err, "-115")
	}
	require.NotContains(t, err.Error(), password)
}

func withoutSASL(t *testing.T, at *place) {
	if !at.required {
		return
	}
	client, err := locks.Open(scene.Deadline(t), at.Connect())
	if err == nil {
		defer func() { _ = client.Close(context.Background()) }()
		_, err = client.Mutex("/a").Lock(scene.Deadline(t))
	}
	require.ErrorIs(t, err, zkconn.ErrAuthFailed)
	require.ErrorContains(t, err, "requires SASL")
}

// A holder that cannot authenticate any more loses what it has, and those behind it are told.
func passwordChanged(t *testing.T, at *place) {
	proxy := at.Proxy(t)
	now := &changing{}
	now.now.Store(mechanism(t, bob, passwords[bob]))
	client := scene.Open(t, proxy.Addr()+at.Root(), locks.WithSASL(now))
	lease := scene.LockAt(t, client, "/mine")
	second := scene.Queue(t, client, "/mine")
	now.now.Store(mechanism(t, bob, "another"))
	proxy.Cut()
	scene.AwaitLost(t, lease)
	<-second.Done
	require.ErrorIs(t, second.Err, locks.ErrClosed)
	require.ErrorIs(t, client.Session().Err(), zkconn.ErrAuthFailed)
}

// changing is a mechanism that becomes another.
type changing struct{ now atomic.Value }

func (c *changing) is() zkconn.SASLMechanism { return c.now.Load().(zkconn.SASLMechanism) }
func (c *changing) Name() string             { return c.is().Name() }
func (c *changing) Principal() string        { return c.is().Principal() }
func (c *changing) Start(ctx context.Context, s zkconn.SASLServer) (zkconn.SASLExchange, error) {
	return c.is().Start(ctx, s)
}

// requireClientAuthScheme, which many pages name, is read by nothing: it keeps nobody out, and disturbs
// nobody.
func TestRealRequireClientAuthScheme(t *testing.T) {
	s := rig.StartStandalone(t, jaas, rig.WithConfig("requireClientAuthScheme", "sasl"))
	scene.GiveBack(t, scene.LockAt(t, saslClient(t, s.Addr()), "/mine"))
	scene.GiveBack(t, scene.LockAt(t, scene.Open(t, s.Addr()), "/anybodys"))
}

// A server that has a JAAS file and no provider authenticates, and knows no access lists of the scheme.
func TestRealServerWithoutTheProvider(t *testing.T) {
	s := rig.StartStandalone(t, jaas,
		rig.WithConfig("authProvider.1", "org.apache.zookeeper.server.auth.IPAuthenticationProvider"))
	_, err := saslClient(t, s.Addr()).Mutex("/mine").Lock(scene.Deadline(t))
	require.ErrorIs(t, err, locks.ErrFailed)
	require.ErrorContains(t, err, "invalid ACL")
	scene.GiveBack(t, scene.LockAt(t, scene.Open(t, s.Addr(), sasl(t, bob)), "/anybodys"))
}

// 3.8, up to 3.8.6, keeps the name of the last known user for all connections, and takes a user
// whom it does not know for that last user: with somebody else's password. So it lets in a client with
// any user's password under any name, "super" too, which every list of the scheme lets pass. An
// entry for that name in the JAAS file keeps it shut. (The guide says so.) 3.9.5 refuses such a
// user.
func TestRealUnknownUserWithAnothersPassword(t *testing.T) {
	in := func(addr, user, password string) zkconn.EventKind {
		conn, events := dial(t, addr, zkconn.WithSASL(mechanism(t, user, password)))
		defer func() { _ = conn.Close() }()
		return scene.Receive(t, events).Kind
	}
	bobs, supers := map[string]string{bob: "bobs"}, map[string]string{bob: "bobs", "super": "long and random"}
	open := rig.StartStandalone(t, rig.WithJAAS(rig.DigestJAAS(bobs)))
	require.Equal(t, zkconn.Connected, in(open.Addr(), bob, "bobs"))
	stranger := zkconn.AuthFailed
	if strings.HasPrefix(rig.Version(), "3.8.") {
		stranger = zkconn.Connected
	}
	require.Equal(t, stranger, in(open.Addr(), "super", "bobs"))
	shut := rig.StartStandalone(t, rig.WithJAAS(rig.DigestJAAS(supers)))
	require.Equal(t, zkconn.Connected, in(shut.Addr(), bob, "bobs"))
	require.Equal(t, zkconn.AuthFailed, in(shut.Addr(), "super", "bobs"))
	require.Equal(t, zkconn.AuthFailed, in(embedded.Run(t, embedded.WithSASL(bobs)).Addr(), "super", "bobs"))
}

// Servers without SASL answer with nothing, and are told from others.
func TestServerWithoutSASL(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) string{
		"embedded":   func(t *testing.T) string { return embedded.Run(t).Addr() },
		"standalone": func(t *testing.T) string { return rig.StartStandalone(t).Addr() },
	} {
		t.Run(name, func(t *testing.T) {
			addr := start(t)
			ctx := scene.Deadline(t)
			_, err := locks.Open(ctx, addr, sasl(t, bob))
			require.NoError(t, ctx.Err())
			require.ErrorIs(t, err, zkconn.ErrAuthFailed)
			require.ErrorContains(t, err, "has no SASL")
			require.ErrorContains(t, err, bob)
		})
	}
}

// A server that lets clients stay whom it has refused gives itself away by the proof that it does not give.
func TestRealServerThatLetsTheRefusedStay(t *testing.T) {
	s := rig.StartStandalone(t, jaas, rig.WithConfig("allowSaslFailedClients", "true"))
	_, err := locks.Open(scene.Deadline(t), s.Addr(), locks.WithSASL(mechanism(t, bob, "a guess")))
	require.ErrorIs(t, err, zkconn.ErrAuthFailed)
	require.ErrorContains(t, err, "allowSaslFailedClients")
	scene.GiveBack(t, scene.LockAt(t, saslClient(t, s.Addr()), "/mine"))
}
