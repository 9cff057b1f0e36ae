package access

import (
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// One queue of several users, who may do this or that with each other's nodes. The lock path is open to all.
func TestContendersOfSeveralUsers(t *testing.T) {
	tell(t, []story{
		{"one that others may read is watched by them", readableIsWatched},
		{"one that others may not read is waited for by looking again", unreadable("a mutex", "a mutex")},
		{"a reader behind a writer that it may not read", unreadable("a writer", "a reader")},
		{"a semaphore's contender behind one that it may not read", unreadable("a semaphore", "a semaphore")},
		{"a contest whose node others may not read", unreadable("a contest", "a contest")},
		{"three in turn who may not read each other", threeInTurn},
		{"one that may not be read any more while it is watched", readTakenAway},
		{"only who may write it asks for the lock", askedByWhoMayWrite},
	})
}

// seldom is long: a waiter that looks again once in a session timeout does not do so during a test.
const seldom = 60 * time.Second

// often is short, so that looking again does not make a test long. A session may end of it on a slow machine, which
// costs a waiter its place; where places matter it is lasting.
const (
	often   = 4 * time.Second
	lasting = 8 * time.Second
)

// asksAbout matches a request for a node's data, whose answer is held back until Release.
func asksAbout(node string) rig.Rule {
	return rig.Rule{Op: rig.OpGetData, Action: rig.Delay, Path: func(path string) bool { return strings.HasSuffix(path, "/"+node) }}
}

// behind opens a client that waits behind a node, and returns when the server has answered what it asked about that
// node: if it may read it, it watches it then.
func behind(t *testing.T, at *place, node string, ask scene.Asks, opts ...locks.Option) (*locks.Client, *scene.Waiter) {
	t.Helper()
	return behindThrough(t, at.Proxy(t), at, node, ask, opts...)
}

// behindThrough is behind for a client behind a proxy.
func behindThrough(t *testing.T, proxy *rig.Proxy, at *place, node string, ask scene.Asks, opts ...locks.Option) (*locks.Client, *scene.Waiter) {
	t.Helper()
	asked := proxy.Expect(asksAbout(node))
	client := scene.Open(t, proxy.Addr()+at.Root(), opts...)
	w := scene.Wait(t, client, ask)
	scene.Receive(t, asked.Fired())
	asked.Release()
	return client, w
}

func readableIsWatched(t *testing.T, at *place) {
	at.makeLock(t, zk.PermAll)
	a := scene.Open(t, at.Connect(), credential(alice), locks.WithACL(onlyMe[0], all(zk.PermRead)))
	first := scene.LockAt(t, a, "/lock")
	_, second := behind(t, at, first.Node(), scene.MutexAt("/lock"), credential(bob), locks.WithSessionTimeout(seldom))
	require.Equal(t, []zk.ACL{may(alice, zk.PermAll), all(zk.PermRead)}, at.acl(t, alice, "/lock/"+first.Node()))
	scene.GiveBack(t, first)
	scene.GiveBack(t, second.Granted(t))
	at.requireCount(t, 0, "/lock")
}

// unreadable has bob wait behind a node of alice's that he may not read: no event can tell him.
func unreadable(holds, waits string) func(t *testing.T, at *place) {
	return func(t *testing.T, at *place) {
		at.makeLock(t, zk.PermAll)
		first := scene.Locked(t, lockers[holds](at.mine(t, at.Connect())).Lock)
		_, err := locks.Try(lockers[waits](scene.Open(t, at.Connect(), credential(bob)))).Lock(scene.Deadline(t))
		require.ErrorIs(t, err, locks.ErrNotAcquired)
		proxy := at.Proxy(t)
		if waits == "a contest" { // it looks as its create is refused, before it watches
			proxy.Expect(asksAbout(first.Node())).Release()
		}
		b, second := behindThrough(t, proxy, at, first.Node(), asks(waits), credential(bob), locks.WithSessionTimeout(often))
		scene.RightRelists(t, b.Session(), 1)
		second.Waits(t)
		told, err := actorstest.AwaitNotice[*messages.Behind](scene.Deadline(t), second.Rec)
		require.NoError(t, err)
		require.Equal(t, first.Node(), told.Contender.Node)
		require.True(t, told.Contender.Unread)
		require.Empty(t, told.Contender.Host)
		scene.GiveBack(t, first)
		require.Greater(t, second.Granted(t).Token(), first.Token())
	}
}

func threeInTurn(t *testing.T, at *place) {
	at.makeLock(t, zk.PermAll)
	first := scene.LockAt(t, at.mine(t, at.Connect()), "/lock")
	b, second := behind(t, at, first.Node(), scene.MutexAt("/lock"), credential(bob), locks.WithACL(onlyMe...), locks.WithSessionTimeout(lasting))
	seconds := scene.Await(t, second.Rec, messages.StateWatching).Node
	proxy := at.Proxy(t)
	c, third := behindThrough(t, proxy, at, seconds, scene.MutexAt("/lock"), credential(carol), locks.WithACL(onlyMe...),
		locks.WithSessionTimeout(lasting))
	scene.RightRelists(t, b.Session(), 1)
	scene.RightRelists(t, c.Session(), 2) // two where the session before it ends in between
	scene.GiveBack(t, first)
	lease := second.Granted(t)
	require.Greater(t, lease.Token(), first.Token())
	// It has looked again and waits: a look that comes upon a node which goes is answered at once, and is none of those.
	looked := proxy.Expect(asksAbout(lease.Node()))
	scene.Receive(t, looked.Fired())
	looked.Release()
	third.Waits(t)
	_ = lease.Unlock(scene.Deadline(t)) // ErrLost where the machine was too slow for its short session
	require.Greater(t, third.Granted(t).Token(), lease.Token())
}

// There are servers that tell the watchers of a node nothing more once they may not read it.
func readTakenAway(t *testing.T, at *place) {
	at.makeLock(t, zk.PermAll)
	a := scene.Open(t, at.Connect(), credential(alice), locks.WithACL(onlyMe[0], all(zk.PermRead)))
	first := scene.LockAt(t, a, "/lock")
	b, second := behind(t, at, first.Node(), scene.MutexAt("/lock"), credential(bob), locks.WithSessionTimeout(often))
	scene.RightRelists(t, b.Session(), 1)
	at.setACL(t, alice, "/lock/"+first.Node(), may(alice, zk.PermAll))
	scene.GiveBack(t, first)
	require.Greater(t, second.Granted(t).Token(), first.Token())
}

func askedByWhoMayWrite(t *testing.T, at *place) {
	a := scene.Open(t, at.Connect(), credential(alice),
		locks.WithACL(onlyMe[0], all(zk.PermRead), may(bob, zk.PermWrite)), locks.WithParentACL(everyone...))
	lease := scene.LockAt(t, a, "/lock")
	node := at.Root() + "/lock/" + lease.Node()
	_, err := at.as(t, "carol").Set(node, []byte("unlock"), -1)
	require.ErrorIs(t, err, zk.ErrNoAuth)
	select {
	case <-lease.Revoked():
		t.Fatal("somebody who may not has asked for the lock")
	default:
	}
	_, err = at.as(t, bob).Set(node, []byte("unlock"), -1)
	require.NoError(t, err)
	scene.Receive(t, lease.Revoked())
	scene.GiveBack(t, lease)
}
