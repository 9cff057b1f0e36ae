package sasl

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A client that is not let in is told so, by which server and why, and never hangs.
func TestRefused(t *testing.T) {
	tell(t, []story{
		{"wrong password", func(t *testing.T, at *place) { refused(t, at, "bob", "a guess") }},
		{"unknown user", func(t *testing.T, at *place) { refused(t, at, "eve", "a guess") }},
		{"a user's name that is too long", func(t *testing.T, at *place) {
			refused(t, at, strings.Repeat("x", 5000), "a guess")
		}},
		{"no SASL where it is required", withoutSASL},
		{"a password that was changed", passwordChanged},
	})
}

func refused(t *testing.T, at *place, user, password string) {
	ctx := deadline(t)
	client, err := locks.Open(ctx, at.Connect(), locks.WithSASL(digest(t, user, password)))
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
	client, err := locks.Open(deadline(t), at.Connect())
	if err == nil {
		defer func() { _ = client.Close(context.Background()) }()
		_, err = client.Mutex("/a").Lock(deadline(t))
	}
	require.ErrorIs(t, err, zkconn.ErrAuthFailed)
	require.ErrorContains(t, err, "requires SASL")
}

// A holder that cannot authenticate any more loses what it has, and those behind it are told.
func passwordChanged(t *testing.T, at *place) {
	proxy := at.Proxy(t)
	now := make(chan zkconn.SASLMechanism, 1)
	now <- digest(t, "bob", passwords["bob"])
	mechanism := changing{func() zkconn.SASLMechanism {
		m := <-now
		now <- m
		return m
	}}
	client := open(t, proxy.Addr()+at.Root(), locks.WithSASL(mechanism))
	lease := lock(t, client, "/mine")
	second := queue(t, client, "/mine")
	<-now
	now <- digest(t, "bob", "another")
	proxy.Cut()
	patient.Receive(t, lease.Context().Done())
	require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrLost)
	<-second.Done
	require.ErrorIs(t, second.Err, locks.ErrClosed)
	require.ErrorIs(t, client.Session().Err(), zkconn.ErrAuthFailed)
}

// requireClientAuthScheme, which many pages name, is read by nothing: it keeps nobody out, and disturbs
// nobody.
func TestRealRequireClientAuthScheme(t *testing.T) {
	s := rig.StartStandalone(t, rig.WithJAAS(rig.DigestJAAS(passwords)), rig.WithConfig("requireClientAuthScheme", "sasl"))
	unlock(t, lock(t, mine(t, s.Addr()), "/mine"))
	unlock(t, lock(t, open(t, s.Addr()), "/anybodys"))
}

// A server that has a JAAS file and no provider authenticates, and knows no access lists of the scheme.
func TestRealServerWithoutTheProvider(t *testing.T) {
	s := rig.StartStandalone(t, rig.WithJAAS(rig.DigestJAAS(passwords)),
		rig.WithConfig("authProvider.1", "org.apache.zookeeper.server.auth.IPAuthenticationProvider"))
	_, err := mine(t, s.Addr()).Mutex("/mine").Lock(deadline(t))
	require.ErrorIs(t, err, locks.ErrFailed)
	require.ErrorContains(t, err, "invalid ACL")
	unlock(t, lock(t, open(t, s.Addr(), as(t, "bob")), "/anybodys"))
}

// 3.8, up to 3.8.6, keeps the name of the last known user for all connections, and takes a user
// whom it does not know for that last user: with somebody else's password. So it lets in a client with
// any user's password under any name, "super" too, which every list of the scheme lets pass. An
// entry for that name in the JAAS file keeps it shut. (The guide says so.) 3.9.5 refuses such a
// user.
func TestRealUnknownUserWithAnothersPassword(t *testing.T) {
	in := func(addr, user, password string) zkconn.EventKind {
		conn, events := dial(t, addr, zkconn.WithSASL(digest(t, user, password)))
		defer func() { _ = conn.Close() }()
		return next(t, events).Kind
	}
	bobs, supers := map[string]string{"bob": "bobs"}, map[string]string{"bob": "bobs", "super": "long and random"}
	open := rig.StartStandalone(t, rig.WithJAAS(rig.DigestJAAS(bobs)))
	require.Equal(t, zkconn.Connected, in(open.Addr(), "bob", "bobs"))
	stranger := zkconn.AuthFailed
	if strings.HasPrefix(rig.Version(), "3.8.") {
		stranger = zkconn.Connected
	}
	require.Equal(t, stranger, in(open.Addr(), "super", "bobs"))
	shut := rig.StartStandalone(t, rig.WithJAAS(rig.DigestJAAS(supers)))
	require.Equal(t, zkconn.Connected, in(shut.Addr(), "bob", "bobs"))
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
			ctx := deadline(t)
			_, err := locks.Open(ctx, addr, as(t, "bob"))
			require.NoError(t, ctx.Err())
			require.ErrorIs(t, err, zkconn.ErrAuthFailed)
			require.ErrorContains(t, err, "has no SASL")
			require.ErrorContains(t, err, "bob")
		})
	}
}

// A server that lets clients stay whom it has refused gives itself away by the proof that it does not give.
func TestRealServerThatLetsTheRefusedStay(t *testing.T) {
	s := rig.StartStandalone(t, rig.WithJAAS(rig.DigestJAAS(passwords)), rig.WithConfig("allowSaslFailedClients", "true"))
	_, err := locks.Open(deadline(t), s.Addr(), locks.WithSASL(digest(t, "bob", "a guess")))
	require.ErrorIs(t, err, zkconn.ErrAuthFailed)
	require.ErrorContains(t, err, "allowSaslFailedClients")
	unlock(t, lock(t, mine(t, s.Addr()), "/mine"))
}
