package sasl

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Lock paths that are somebody's.
func TestAccess(t *testing.T) {
	tell(t, []story{
		{"the creator locks, works and releases", creatorLocks},
		{"two clients of the creator take turns", creatorsTakeTurns},
		{"as somebody else", func(t *testing.T, at *place) { shutOut(t, at, as(t, "alice")) }},
		{"without SASL", func(t *testing.T, at *place) {
			if !at.required {
				shutOut(t, at)
			}
		}},
		{"with a list of names", listed},
		{"beside a digest credential", besideDigest},
	})
}

func creatorLocks(t *testing.T, at *place) {
	client := mine(t, at.Connect())
	lease := lock(t, client, "/mine/lock")
	require.True(t, lease.Valid())
	conn, _ := dial(t, at.Connect(), zkconn.WithSASL(digest(t, "bob", passwords["bob"])))
	require.NoError(t, conn.Sync("/mine/lock"))
	children, err := conn.Children("/mine/lock")
	require.NoError(t, err)
	require.Equal(t, []string{lease.Node()}, children)
	unlock(t, lease)
}

func creatorsTakeTurns(t *testing.T, at *place) {
	first := lock(t, mine(t, at.Connect()), "/mine")
	second := queue(t, mine(t, at.Connect()), "/mine")
	unlock(t, first)
	lease := second.Granted(t)
	require.Greater(t, lease.Token(), first.Token())
	unlock(t, lease)
}

// shutOut checks a client that is not bob's: it gets a clear error, and disturbs nobody.
func shutOut(t *testing.T, at *place, opts ...locks.Option) {
	holder := lock(t, mine(t, at.Connect()), "/mine")
	stranger := open(t, at.Hosts(), opts...)
	for _, path := range []string{at.Root() + "/mine", at.Root() + "/mine/below"} {
		lease, err := stranger.Mutex(path).Lock(deadline(t))
		require.Nil(t, lease)
		require.ErrorIs(t, err, zkconn.ErrNoAuth, path)
		var e *locks.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, messages.ReasonNoAuth, e.Reason)
	}
	require.True(t, holder.Valid())
	unlock(t, holder)
}

// Paths for both, where each may read and delete the other's nodes.
func listed(t *testing.T, at *place) {
	both := locks.WithACL(zkconn.SASLACL(zk.PermAll, "alice"), zkconn.SASLACL(zk.PermAll, "bob"))
	alice, bob := open(t, at.Connect(), as(t, "alice"), both), open(t, at.Connect(), as(t, "bob"), both)
	first := lock(t, alice, "/ours")
	second := queue(t, bob, "/ours")
	unlock(t, first)
	unlock(t, second.Granted(t))
}

// Two identities, presented one after the other at each connection, are both the creator's.
func besideDigest(t *testing.T, at *place) {
	proxy := at.Proxy(t)
	client := mine(t, proxy.Addr()+at.Root(), locks.WithAuth("digest", []byte("carol:secret")))
	lease := lock(t, client, "/two")
	if !at.required {
		use := open(t, at.Connect(), locks.WithAuth("digest", []byte("carol:secret")))
		queued := queue(t, use, "/two")
		unlock(t, lease)
		unlock(t, queued.Granted(t))
		return
	}
	unlock(t, lease)
}
