package access

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Digest credentials and lock paths that are their creator's alone.
func TestDigest(t *testing.T) {
	tell(t, []story{
		{"the creator locks, works and releases", creatorLocks},
		{"two clients of the creator take turns", creatorsTakeTurns},
		{"without the credential", func(t *testing.T, at *place) { shutOut(t, at) }},
		{"with another password", func(t *testing.T, at *place) {
			shutOut(t, at, locks.WithAuth("digest", []byte(alice+":guessed")))
		}},
		{"as somebody else", func(t *testing.T, at *place) { shutOut(t, at, credential(bob)) }},
		{"two credentials are two identities", twoCredentials},
		{"a scheme that the server does not know", unknownScheme},
		{"a scheme that makes nobody of a client", schemeWithoutIdentity},
	})
}

// mine opens a client of alice's, whose nodes are hers alone.
func mine(t *testing.T, connect string, opts ...locks.Option) *locks.Client {
	t.Helper()
	return open(t, connect, append([]locks.Option{credential(alice), locks.WithACL(onlyMe...)}, opts...)...)
}

func creatorLocks(t *testing.T, at *place) {
	client := mine(t, at.Connect())
	lease := lock(t, client, "/mine/lock")
	hers := []zk.ACL{may(alice, zk.PermAll)}
	for _, path := range []string{"/mine", "/mine/lock", "/mine/lock/" + lease.Node()} {
		require.Equal(t, hers, at.acl(t, alice, path), path)
	}
	require.True(t, lease.Valid())
	require.Equal(t, []string{lease.Node()}, at.children(t, alice, "/mine/lock"))
	unlock(t, lease)
	require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
	at.requireCount(t, 0, "/mine/lock")
}

func creatorsTakeTurns(t *testing.T, at *place) {
	first := lock(t, mine(t, at.Connect()), "/mine")
	second := queue(t, mine(t, at.Connect()), "/mine")
	second.Waits(t)
	unlock(t, first)
	lease := second.Granted(t)
	require.Greater(t, lease.Token(), first.Token())
	unlock(t, lease)
	at.requireCount(t, 0, "/mine")
}

// shutOut checks a client that is not alice's: it gets a clear error long before its deadline,
// leaves nothing, and disturbs nobody.
func shutOut(t *testing.T, at *place, opts ...locks.Option) {
	holder := lock(t, mine(t, at.Connect()), "/mine")
	stranger := open(t, at.Connect(), opts...)
	session := stranger.Session().ID()
	ctx := deadline(t)
	for _, path := range []string{"/mine", "/mine/below", "/mine/deep/below"} {
		mutex := stranger.Mutex(path)
		for _, try := range []func(context.Context) (*locks.Lease, error){mutex.Lock, mutex.TryLock} {
			lease, err := try(ctx)
			require.Nil(t, lease)
			require.ErrorIs(t, err, zkconn.ErrNoAuth, path)
			require.ErrorContains(t, err, path)
			require.NotContains(t, err.Error(), at.Root(), "paths are as the user wrote them")
			var e *locks.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, messages.ReasonNoAuth, e.Reason)
			require.Equal(t, path, e.Path)
		}
	}
	require.NoError(t, ctx.Err())
	require.Equal(t, []string{holder.Node()}, at.children(t, alice, "/mine"))
	require.True(t, holder.Valid())
	use(t, stranger, "/open/to/all")
	require.Equal(t, session, stranger.Session().ID(), "its session goes on")
	unlock(t, holder)
}

func twoCredentials(t *testing.T, at *place) {
	at.make(t, "", []zk.ACL{may(alice, zk.PermRead|zk.PermCreate), may(bob, zk.PermDelete)}, "/shared")
	use(t, open(t, at.Connect(), credential(alice), credential(bob)), "/shared")
	_, err := open(t, at.Connect(), credential(bob)).Mutex("/shared").Lock(deadline(t))
	require.ErrorIs(t, err, zkconn.ErrNoAuth)
	at.requireCount(t, 0, "/shared")
}

func unknownScheme(t *testing.T, at *place) {
	ctx := deadline(t)
	client, err := locks.Open(ctx, at.Connect(), credential(alice), locks.WithAuth("nosuch", []byte("me")))
	require.Nil(t, client)
	require.ErrorIs(t, err, zkconn.ErrAuthFailed)
	require.ErrorContains(t, err, "nosuch")
	require.ErrorContains(t, err, at.Hosts())
	require.NotContains(t, err.Error(), secret(alice))
	require.NoError(t, ctx.Err(), "it is told at once")
}

// The scheme "ip" is accepted as a credential, and stands for nobody in a list for "auth", the client itself.
func schemeWithoutIdentity(t *testing.T, at *place) {
	client := open(t, at.Connect(), locks.WithAuth("ip", nil), locks.WithACL(onlyMe...))
	_, err := client.Mutex("/nobodys").Lock(deadline(t))
	require.ErrorIs(t, err, locks.ErrFailed)
	require.ErrorContains(t, err, "/nobodys")
	require.ErrorContains(t, err, "invalid ACL")
	exists, _, err := at.as(t, "").Exists(at.Root() + "/nobodys")
	require.NoError(t, err)
	require.False(t, exists)
}

// Credentials on connections that are lost.
func TestDigestIsPresentedAgain(t *testing.T) {
	tell(t, []story{
		{"at the next connection of a holder", holderReconnects},
		{"at the next connection of a waiter", waiterReconnects},
		{"in the next session", nextSession},
		{"when it was lost before the server had it", func(t *testing.T, at *place) { authLost(t, at, rig.CutBefore) }},
		{"when the server's answer to it was lost", func(t *testing.T, at *place) { authLost(t, at, rig.DropReply) }},
	})
}

func holderReconnects(t *testing.T, at *place) {
	proxy := at.Proxy(t)
	mutex, rec := recorded(t, mine(t, proxy.Addr()+at.Root()), "/mine")
	lease, err := mutex.Lock(deadline(t))
	require.NoError(t, err)
	before := proxy.Requests(rig.OpSetAuth)
	proxy.Cut()
	_, err = rec.AwaitNth(deadline(t), messages.StateHeld, 2)
	require.NoError(t, err)
	require.Greater(t, proxy.Requests(rig.OpSetAuth), before)
	require.True(t, lease.Valid())
	unlock(t, lease)
	at.requireCount(t, 0, "/mine")
}

func waiterReconnects(t *testing.T, at *place) {
	holder := lock(t, mine(t, at.Connect()), "/mine")
	proxy := at.Proxy(t)
	second := queue(t, mine(t, proxy.Addr()+at.Root()), "/mine")
	proxy.Cut()
	_, err := second.Rec.AwaitNth(deadline(t), messages.StateWatching, 2)
	require.NoError(t, err)
	unlock(t, holder)
	unlock(t, second.Granted(t))
	at.requireCount(t, 0, "/mine")
}

func nextSession(t *testing.T, at *place) {
	proxy := at.Proxy(t)
	client := mine(t, proxy.Addr()+at.Root())
	holder := lock(t, client, "/mine")
	second := queue(t, client, "/mine")
	before := proxy.Requests(rig.OpSetAuth)

	id, password, ok := proxy.Session()
	require.True(t, ok)
	proxy.Refuse(true) // so that the client cannot come back before the session has ended
	require.NoError(t, rig.ExpireSession(deadline(t), at.Hosts(), id, password))
	proxy.Refuse(false)

	patient.Receive(t, holder.Context().Done())
	require.ErrorIs(t, context.Cause(holder.Context()), locks.ErrLost)
	lease := second.Granted(t)
	require.NotEqual(t, id, client.Session().ID())
	require.Greater(t, proxy.Requests(rig.OpSetAuth), before)
	require.Equal(t, []zk.ACL{may(alice, zk.PermAll)}, at.acl(t, alice, "/mine/"+lease.Node()))
	unlock(t, lease)
	at.requireCount(t, 0, "/mine")
}

func authLost(t *testing.T, at *place, action rig.Action) {
	proxy := at.Proxy(t)
	fault := proxy.Expect(rig.Rule{Op: rig.OpSetAuth, Action: action, Count: 2})
	client := mine(t, proxy.Addr()+at.Root())
	patient.Receive(t, fault.Fired())
	use(t, client, "/mine")
	at.requireCount(t, 0, "/mine")
}
