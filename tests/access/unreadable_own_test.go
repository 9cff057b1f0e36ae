package access

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// A session that may not read its own nodes. Since 3.8.4 and 3.9.2 a server does not even tell it that they exist. Each
// kind of lock works or is refused, and no other lease of the session is lost.
func TestOwnNodesUnreadable(t *testing.T) {
	const withoutRead = zk.PermWrite | zk.PermCreate | zk.PermDelete
	var stories []story
	for name, own := range map[string][]zk.ACL{
		"that may be written":       {all(withoutRead)},
		"that may not be written":   {all(zk.PermCreate | zk.PermDelete)},
		"that only others may read": {may(bob, zk.PermRead), all(withoutRead)},
	} {
		anew := name == "that may not be written"
		for kind, one := range unreadKinds {
			stories = append(stories,
				story{kind + " " + name, func(t *testing.T, at *place) { unreadHolds(t, at, own, one) }},
				story{kind + " " + name + ", and the reply to the create is lost", func(t *testing.T, at *place) {
					unreadReplyLost(t, at, own, one, anew)
				}})
		}
		for kind, ask := range unreadCrowds {
			stories = append(stories, story{kind + " " + name + ", for many callers", func(t *testing.T, at *place) {
				unreadCrowd(t, at, own, ask)
			}})
		}
		stories = append(stories, story{"mutexes " + name + ", and the reply to their common create is lost",
			func(t *testing.T, at *place) { unreadReplyToManyLost(t, at, own) }})
		stories = append(stories, story{"a contest " + name + " is refused at the start", func(t *testing.T, at *place) {
			unreadContest(t, at, own)
		}}, story{"a writer " + name + " stays one", func(t *testing.T, at *place) { unreadDowngrade(t, at, own) }},
			story{"a mutex " + name + " guards no transaction", func(t *testing.T, at *place) { unreadTxn(t, at, own) }})
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
	_, err := at.as(t, "").Create(at.Root()+"/lock", k.data, 0, everyone)
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
	client, other := unread(t, at.Connect(), own)
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

// unreadCrowds are ways to lock for many callers of one client, whose nodes stand one behind the other.
var unreadCrowds = map[string]func(client *locks.Client) []acquire{
	"a mutex": func(client *locks.Client) []acquire { return []acquire{client.Mutex("/lock").Lock} },
	"a mutex with cohorts": func(client *locks.Client) []acquire {
		return []acquire{client.Mutex("/lock", locks.WithCohort(4)).Lock}
	},
	"a sticky mutex": func(client *locks.Client) []acquire {
		return []acquire{client.Mutex("/lock", locks.WithSticky(100*time.Millisecond)).Lock}
	},
	"a lock for readers and writers": func(client *locks.Client) []acquire {
		lock := client.RWMutex("/lock")
		return []acquire{lock.Lock, lock.RLock, lock.RLock}
	},
	"a semaphore": func(client *locks.Client) []acquire {
		permits := client.Semaphore("/lock", 2)
		return []acquire{
			func(ctx context.Context) (*locks.Lease, error) { return permits.Acquire(ctx, 1) },
			func(ctx context.Context) (*locks.Lease, error) { return permits.Acquire(ctx, 2) },
		}
	},
	"an election": func(client *locks.Client) []acquire {
		return []acquire{func(ctx context.Context) (*locks.Lease, error) {
			leads, err := client.Election("/lock").Campaign(ctx, "")
			if err != nil {
				return nil, err
			}
			return leads.Lease, nil
		}}
	},
}

type acquire = func(context.Context) (*locks.Lease, error)

// Where the next holder is of the same session, it holds before the node of the last one is deleted. That delete
// wants the next node to be there, which a server does not tell who may not read it.
func unreadCrowd(t *testing.T, at *place, own []zk.ACL, ask func(*locks.Client) []acquire) {
	at.make(t, "", everyone, "/lock")
	client, other := unread(t, at.Connect(), own)
	session := client.Session().ID()
	ways, ctx := ask(client), deadline(t)
	var crowd sync.WaitGroup
	for i := range 12 {
		crowd.Go(func() {
			lease, err := ways[i%len(ways)](ctx)
			if assert.NoError(t, err) {
				assert.True(t, lease.Valid())
				assert.NoError(t, lease.Unlock(ctx))
			}
		})
	}
	crowd.Wait()
	at.awaitCount(t, 0, "/lock")
	require.True(t, other.Valid())
	require.Equal(t, session, client.Session().ID())
	unlock(t, other)
}

// Several creates gather behind one that is not answered, and share a transaction whose reply is lost.
func unreadReplyToManyLost(t *testing.T, at *place, own []zk.ACL) {
	at.make(t, "", everyone, "/lock", "/pilot")
	proxy := at.Proxy(t)
	client, other := unread(t, proxy.Addr()+at.Root(), own)
	session := client.Session().ID()
	makesBelow := func(lockPath string) func(string) bool {
		return func(path string) bool {
			return strings.HasPrefix(path, at.Root()+lockPath+"/") && strings.HasSuffix(path, "-lock-")
		}
	}
	lost := proxy.Expect(rig.Rule{Op: rig.OpMulti, Action: rig.DropReply, Path: makesBelow("/lock")})
	ctx := deadline(t)
	lock := func(mutex *locks.Mutex) {
		lease, err := mutex.Lock(ctx)
		if assert.NoError(t, err) {
			assert.NoError(t, lease.Unlock(ctx))
		}
	}
	for round := 0; !isClosed(lost.Fired()); round++ { // until several had gathered when the first was answered
		require.NoError(t, ctx.Err(), "no creates shared a transaction in %d rounds", round)
		held := proxy.Expect(rig.Rule{Op: rig.OpCreate, Action: rig.Delay, Path: makesBelow("/pilot")})
		var crowd sync.WaitGroup
		crowd.Go(func() { lock(client.Mutex("/pilot")) })
		happens(t, held.Fired(), "the first create is sent")
		for range 4 {
			mutex, rec := recorded(t, client, "/lock")
			crowd.Go(func() { lock(mutex) })
			await(t, rec, messages.StateCreating)
		}
		held.Release()
		crowd.Wait()
	}
	at.requireCount(t, 0, "/lock")
	require.True(t, other.Valid())
	require.Equal(t, session, client.Session().ID())
	unlock(t, other)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// The node is there, and nobody has told the client. It finds it by the GUID in its name. Where it may neither read nor
// write it, and the server does not tell whose it is, it makes it anew, at the tail.
func unreadReplyLost(t *testing.T, at *place, own []zk.ACL, kind unreadKind, anew bool) {
	kind.path(t, at)
	proxy := at.Proxy(t)
	client, other := unread(t, proxy.Addr()+at.Root(), own)
	session := client.Session().ID()
	lost := proxy.Expect(rig.Rule{Op: rig.OpCreate, Action: rig.DropReply, Path: func(path string) bool {
		return strings.HasPrefix(path, at.Root()+"/lock/")
	}})
	lease := kind.take(t, client)
	happens(t, lost.Fired(), "the reply is lost")
	at.requireCount(t, 1, "/lock")
	require.NotZero(t, lease.Token())
	_, _, err := at.as(t, "").Exists(at.Root() + "/lock/" + lease.Node())
	require.Equal(t, anew && errors.Is(err, zk.ErrNoAuth), !strings.HasSuffix(lease.Node(), "0000000000"), lease.Node())
	unlock(t, lease)
	at.requireCount(t, 0, "/lock")
	require.True(t, other.Valid())
	require.Equal(t, session, client.Session().ID())
	unlock(t, other)
}

// The name of a contest's node does not say whose it is, so its own session has to read it.
func unreadContest(t *testing.T, at *place, own []zk.ACL) {
	at.make(t, "", everyone, "/contests")
	client, other := unread(t, at.Connect(), own)
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
	client, other := unread(t, at.Connect(), own)
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

// A transaction under a lock checks the lock's node, and a check needs READ. Nothing is written, and the lock stays held.
func unreadTxn(t *testing.T, at *place, own []zk.ACL) {
	at.make(t, "", everyone, "/lock", "/data")
	client, other := unread(t, at.Connect(), own)
	session := client.Session().ID()
	lease := lock(t, client, "/lock")
	_, err := lease.Txn(deadline(t), locks.Set("/data", []byte("written"), -1))
	require.ErrorIs(t, err, zkconn.ErrNoAuth)
	data, _, err := at.as(t, "").Get(at.Root() + "/data")
	require.NoError(t, err)
	require.Empty(t, data)
	require.True(t, lease.Valid())
	unlock(t, lease)
	at.requireCount(t, 0, "/lock")
	require.True(t, other.Valid())
	require.Equal(t, session, client.Session().ID())
	unlock(t, other)
}
