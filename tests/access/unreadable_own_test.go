package access

import (
	"context"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// A session that may not read its own nodes. Since 3.8.4 and 3.9.2 a server does not even tell it that they exist. Each
// kind of lock works or is refused, and no other lease of the session is lost.
func TestOwnNodesUnreadable(t *testing.T) {
	const withoutRead = zk.PermWrite | zk.PermCreate | zk.PermDelete
	var stories []story
	for name, own := range map[string][]zk.ACL{
		"that may be written":     {all(withoutRead)},
		"that may not be written": {all(zk.PermCreate | zk.PermDelete)},
	} {
		for kind, one := range unreadKinds {
			stories = append(stories,
				story{kind + " " + name, func(t *testing.T, at *place) { unreadHolds(t, at, own, one) }},
				story{kind + " " + name + ", and the reply to the create is lost", func(t *testing.T, at *place) { unreadReplyLost(t, at, own, one) }})
		}
		stories = append(stories, story{"a contest " + name + " is refused at the start", func(t *testing.T, at *place) {
			unreadContest(t, at, own)
		}}, story{"a writer " + name + " stays one", func(t *testing.T, at *place) { unreadDowngrade(t, at, own) }})
	}
	tell(t, stories)
}

// unreadKind is a way to lock, and what its client needs.
type unreadKind struct {
	// data are the lock path's data before anybody locks.
	data []byte
	ask  asks
}

var unreadKinds = map[string]unreadKind{
	"a mutex":                      {ask: mutexAt("/lock")},
	"a mutex on a path with data":  {ask: mutexAt("/lock"), data: []byte("theirs")},
	"a semaphore":                  {ask: permitAt("/lock")},
	"a writer":                     {ask: writeAt("/lock")},
	"a reader on a path with data": {ask: readAt("/lock"), data: []byte("theirs")},
}

func writeAt(path string) asks {
	return func(client *locks.Client, observe locks.LockOption) func(context.Context) (*locks.Lease, error) {
		return client.RWMutex(path, observe).Lock
	}
}

// unread opens a client that may not read its own nodes, and that holds another lock.
func unread(t *testing.T, connect string, own []zk.ACL) (*locks.Client, *locks.Lease) {
	t.Helper()
	client := open(t, connect, locks.WithSessionTimeout(seldom), locks.WithACL(own...), locks.WithParentACL(everyone...))
	return client, lock(t, client, "/other")
}

func (k unreadKind) path(t *testing.T, at *place) {
	t.Helper()
	_, err := at.as(t, "").Create(at.root+"/lock", k.data, 0, everyone)
	require.NoError(t, err)
}

// take asks for the lock of a kind, and gets it.
func (k unreadKind) take(t *testing.T, client *locks.Client) *locks.Lease {
	t.Helper()
	lease, err := k.ask(client, locks.WithObserver(recorder(t, client).PID()))(deadline(t))
	require.NoError(t, err)
	return lease
}

func unreadHolds(t *testing.T, at *place, own []zk.ACL, kind unreadKind) {
	kind.path(t, at)
	client, other := unread(t, at.connect(), own)
	session := client.Session().ID()
	first := kind.take(t, client)
	unlock(t, first)
	second := kind.take(t, client)
	require.Greater(t, second.Token(), first.Token())
	unlock(t, second)
	at.requireCount(t, 0, "/lock")
	require.True(t, other.Valid())
	require.Equal(t, session, client.Session().ID())
	unlock(t, other)
}

// The node is there, and nobody has told the client. It finds it by the GUID in its name.
func unreadReplyLost(t *testing.T, at *place, own []zk.ACL, kind unreadKind) {
	kind.path(t, at)
	proxy := at.proxy(t)
	client, other := unread(t, proxy.Addr()+at.root, own)
	session := client.Session().ID()
	lost := proxy.Expect(rig.Rule{Op: rig.OpCreate, Action: rig.DropReply, Path: func(path string) bool {
		return strings.HasPrefix(path, at.root+"/lock/")
	}})
	lease := kind.take(t, client)
	happens(t, lost.Fired(), "the reply is lost")
	at.requireCount(t, 1, "/lock")
	require.NotZero(t, lease.Token())
	unlock(t, lease)
	at.requireCount(t, 0, "/lock")
	require.True(t, other.Valid())
	require.Equal(t, session, client.Session().ID())
	unlock(t, other)
}

// The name of a contest's node does not say whose it is, so its own session has to read it.
func unreadContest(t *testing.T, at *place, own []zk.ACL) {
	at.make(t, "", everyone, "/contests")
	client, other := unread(t, at.connect(), own)
	session := client.Session().ID()
	for _, try := range []func(context.Context) (*locks.Lease, error){client.Contest("/contests/one").Lock, client.Contest("/contests/one").TryLock} {
		_, err := try(deadline(t))
		require.ErrorIs(t, err, zkconn.ErrNoAuth)
		require.ErrorContains(t, err, "/contests/one")
		at.requireCount(t, 0, "/contests")
	}
	require.True(t, other.Valid())
	require.Equal(t, session, client.Session().ID())
	unlock(t, other)
}

// The reader's node is made in a transaction that checks the writer's, and a check needs READ on every version.
func unreadDowngrade(t *testing.T, at *place, own []zk.ACL) {
	at.make(t, "", everyone, "/lock")
	client, other := unread(t, at.connect(), own)
	session := client.Session().ID()
	writer, err := client.RWMutex("/lock").Lock(deadline(t))
	require.NoError(t, err)
	_, err = writer.Downgrade(deadline(t))
	require.ErrorIs(t, err, zkconn.ErrNoAuth)
	require.True(t, writer.Valid())
	at.requireCount(t, 1, "/lock")
	unlock(t, writer)
	at.requireCount(t, 0, "/lock")
	require.True(t, other.Valid())
	require.Equal(t, session, client.Session().ID())
	unlock(t, other)
}
