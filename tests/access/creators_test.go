package access

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// creators has what is the same by digest credentials and by SASL: lock paths that are their creator's alone, and what
// proves who one is when connections are lost.
var creators = []story{
	{"the creator locks, works and releases", creatorLocks},
	{"two clients of the creator take turns, and the waiter reconnects", creatorsTakeTurns},
	{"as somebody else", func(t *testing.T, at *place) { shutOut(t, at, at.credential(t, bob)) }},
	{"without any", func(t *testing.T, at *place) {
		if !at.required {
			shutOut(t, at)
		}
	}},
	{"at the next connections of a holder", holderReconnects},
	{"in the next session", nextSession},
	{"when it was lost before the server had it", func(t *testing.T, at *place) { proofLost(t, at, rig.CutBefore) }},
	{"when the server's answer to it was lost", func(t *testing.T, at *place) { proofLost(t, at, rig.DropReply) }},
}

func TestDigest(t *testing.T) {
	tell(t, append([]story{
		{"with another password", func(t *testing.T, at *place) {
			shutOut(t, at, locks.WithAuth("digest", []byte(alice+":guessed")))
		}},
		{"two credentials are two identities", twoCredentials},
		{"a scheme that the server does not know", unknownScheme},
		{"a scheme that makes nobody of a client", schemeWithoutIdentity},
	}, creators...))
}

func TestSASL(t *testing.T) {
	tellSASL(t, append([]story{
		{"with a list of names", listed},
		{"beside a digest credential", besideDigest},
	}, creators...))
}

// proof is the request that has a credential, or a part of one.
func (p *place) proof() rig.OpCode {
	if p.sasl {
		return rig.OpSASL
	}
	return rig.OpSetAuth
}

// requireQueue finds the only contender there, or none, as alice sees it.
func (p *place) requireQueue(t *testing.T, path string, nodes ...string) {
	t.Helper()
	var seen []string
	for _, c := range scene.QueueOf(t, p.mine(t, p.Connect()), path) {
		seen = append(seen, c.Node)
	}
	require.Equal(t, nodes, seen)
}

func creatorLocks(t *testing.T, at *place) {
	lease := scene.LockAt(t, at.mine(t, at.Connect()), "/mine/lock")
	if !at.sasl { // of SASL's lists TestRealJavaBeside has more
		for _, path := range []string{"/mine", "/mine/lock", "/mine/lock/" + lease.Node()} {
			require.Equal(t, []zk.ACL{may(alice, zk.PermAll)}, at.acl(t, alice, path), path)
		}
	}
	require.True(t, lease.Valid())
	at.requireQueue(t, "/mine/lock", lease.Node())
	scene.GiveBack(t, lease)
	require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrReleased)
	at.requireQueue(t, "/mine/lock")
}

func creatorsTakeTurns(t *testing.T, at *place) {
	proxy := at.Proxy(t)
	first := scene.LockAt(t, at.mine(t, at.Connect()), "/mine")
	second := scene.Queue(t, at.mine(t, proxy.Addr()+at.Root()), "/mine")
	proxy.Cut()
	_, err := second.Rec.AwaitNth(scene.Deadline(t), messages.StateWatching, 2)
	require.NoError(t, err)
	second.Waits(t)
	scene.GiveBack(t, first)
	lease := second.Granted(t)
	require.Greater(t, lease.Token(), first.Token())
	scene.GiveBack(t, lease)
	at.requireQueue(t, "/mine")
}

// shutOut checks a client that is not alice's: it gets a clear error long before its deadline,
// leaves nothing, and disturbs nobody.
func shutOut(t *testing.T, at *place, opts ...locks.Option) {
	holder := scene.LockAt(t, at.mine(t, at.Connect()), "/mine")
	stranger := scene.Open(t, at.Connect(), opts...)
	session := stranger.Session().ID()
	ctx := scene.Deadline(t)
	for _, path := range []string{"/mine", "/mine/below", "/mine/deep/below"} {
		mutex := stranger.Mutex(path)
		for _, try := range []func(context.Context) (*locks.Lease, error){mutex.Lock, mutex.TryLock} {
			lease, err := try(ctx)
			require.Nil(t, lease)
			require.ErrorIs(t, err, zkconn.ErrNoAuth, path)
			require.NotContains(t, err.Error(), at.Root()+"/", "paths are as the user wrote them")
			var e *locks.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, messages.ReasonNoAuth, e.Reason)
			require.Equal(t, path, e.Path)
		}
	}
	require.NoError(t, ctx.Err())
	at.requireQueue(t, "/mine", holder.Node())
	require.True(t, holder.Valid())
	require.Equal(t, session, stranger.Session().ID(), "its session goes on")
	scene.GiveBack(t, holder)
}

func holderReconnects(t *testing.T, at *place) {
	proxy := at.Proxy(t)
	mutex, rec := scene.Recorded(t, at.mine(t, proxy.Addr()+at.Root()), "/mine")
	holder := scene.Locked(t, mutex.Lock)
	for _, lost := range []rig.Action{rig.Delay, rig.CutBefore, rig.DropReply} {
		held := 0 // so often; a machine that stands still adds some
		for _, state := range rec.States() {
			if state == messages.StateHeld {
				held++
			}
		}
		fault := proxy.Expect(rig.Rule{Op: at.proof(), Action: lost})
		proxy.Cut()
		scene.Receive(t, fault.Fired())
		fault.Release()
		_, err := rec.AwaitNth(scene.Deadline(t), messages.StateHeld, held+1)
		require.NoError(t, err)
	}
	require.True(t, holder.Valid())
	scene.GiveBack(t, holder)
	at.requireQueue(t, "/mine")
}

func nextSession(t *testing.T, at *place) {
	proxy := at.Proxy(t)
	client := at.mine(t, proxy.Addr()+at.Root())
	holder := scene.LockAt(t, client, "/mine")
	second := scene.Queue(t, client, "/mine")
	before := proxy.Requests(at.proof())
	id, password, ok := proxy.Session()
	require.True(t, ok)
	proxy.Refuse(true) // so that the client cannot come back before the session has ended
	proxy.Cut()
	var opts []zkconn.Option
	if at.sasl {
		opts = append(opts, zkconn.WithSASL(mechanism(t, bob, passwords[bob])))
	}
	cfg, err := zkconn.NewConfig(at.Hosts(), opts...)
	require.NoError(t, err)
	existed, err := zkconn.CloseSession(scene.Deadline(t), cfg, at.Hosts(), id, password)
	require.NoError(t, err)
	require.True(t, existed)
	proxy.Refuse(false)

	scene.AwaitLost(t, holder)
	lease := second.Granted(t)
	require.NotEqual(t, id, client.Session().ID())
	require.Greater(t, proxy.Requests(at.proof()), before)
	require.Greater(t, lease.Token(), holder.Token())
	if !at.sasl {
		require.Equal(t, []zk.ACL{may(alice, zk.PermAll)}, at.acl(t, alice, "/mine/"+lease.Node()))
	}
	scene.GiveBack(t, lease)
	at.requireQueue(t, "/mine")
}

// proofLost loses the first requests with a proof, or their answers, before the client is open.
func proofLost(t *testing.T, at *place, action rig.Action) {
	proxy := at.Proxy(t)
	fault := proxy.Expect(rig.Rule{Op: at.proof(), Action: action, Count: 3})
	client := at.mine(t, proxy.Addr()+at.Root())
	scene.Receive(t, fault.Fired())
	use(t, client, "/mine")
	at.requireQueue(t, "/mine")
}

func twoCredentials(t *testing.T, at *place) {
	at.make(t, "", []zk.ACL{may(alice, zk.PermRead|zk.PermCreate), may(bob, zk.PermDelete)}, "/shared")
	use(t, scene.Open(t, at.Connect(), credential(alice), credential(bob)), "/shared")
	_, err := scene.Open(t, at.Connect(), credential(bob)).Mutex("/shared").Lock(scene.Deadline(t))
	require.ErrorIs(t, err, zkconn.ErrNoAuth)
	at.requireCount(t, 0, "/shared")
}

func unknownScheme(t *testing.T, at *place) {
	ctx := scene.Deadline(t)
	client, err := locks.Open(ctx, at.Connect(), credential(alice), locks.WithAuth("nosuch", []byte("me")))
	require.Nil(t, client)
	require.ErrorIs(t, err, zkconn.ErrAuthFailed)
	require.ErrorContains(t, err, "nosuch")
	require.ErrorContains(t, err, at.Hosts())
	require.NotContains(t, err.Error(), passwords[alice])
	require.NoError(t, ctx.Err(), "it is told at once")
}

// The scheme "ip" is accepted as a credential, and stands for nobody in a list for "auth", the client itself.
func schemeWithoutIdentity(t *testing.T, at *place) {
	client := scene.Open(t, at.Connect(), locks.WithAuth("ip", nil), locks.WithACL(onlyMe...))
	_, err := client.Mutex("/nobodys").Lock(scene.Deadline(t))
	require.ErrorIs(t, err, locks.ErrFailed)
	require.ErrorContains(t, err, "/nobodys")
	require.ErrorContains(t, err, "invalid ACL")
	exists, _, err := at.as(t, "").Exists(at.Root() + "/nobodys")
	require.NoError(t, err)
	require.False(t, exists)
}

// Paths for both, where each may read and delete the other's nodes.
func listed(t *testing.T, at *place) {
	both := locks.WithACL(zkconn.SASLACL(zk.PermAll, alice), zkconn.SASLACL(zk.PermAll, bob))
	first := scene.LockAt(t, scene.Open(t, at.Connect(), sasl(t, alice), both), "/ours")
	second := scene.Queue(t, scene.Open(t, at.Connect(), sasl(t, bob), both), "/ours")
	scene.GiveBack(t, first)
	scene.GiveBack(t, second.Granted(t))
}

// Two identities, presented one after the other at each connection, are both the creator's.
func besideDigest(t *testing.T, at *place) {
	lease := scene.LockAt(t, at.mine(t, at.Connect(), credential(carol)), "/two")
	if at.required {
		scene.GiveBack(t, lease)
		return
	}
	queued := scene.Queue(t, scene.Open(t, at.Connect(), credential(carol)), "/two")
	scene.GiveBack(t, lease)
	scene.GiveBack(t, queued.Granted(t))
}
