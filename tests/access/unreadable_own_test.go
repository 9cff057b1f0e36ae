package access

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestOwnNodesUnreadable: a session that may not read its own nodes could not find out what has become of one when a reply
// is lost. Each kind of lock is refused at the start, and leaves no node.
func TestOwnNodesUnreadable(t *testing.T) {
	const withoutRead = zk.PermWrite | zk.PermCreate | zk.PermDelete
	var stories []story
	for name, own := range map[string][]zk.ACL{
		"that may be written":       {all(withoutRead)},
		"that may not be written":   {all(zk.PermCreate | zk.PermDelete)},
		"that only others may read": {may(bob, zk.PermRead), all(withoutRead)},
	} {
		for kind, ask := range unreadKinds {
			stories = append(stories, story{kind + " " + name, func(t *testing.T, at *place) { unreadIsRefused(t, at, own, ask) }})
		}
	}
	tell(t, stories)
}

var unreadKinds = map[string]patient.Asks{
	"a mutex":     patient.MutexAt("/lock"),
	"a semaphore": permitAt("/lock"),
	"a reader":    readAt("/lock"),
	"a writer":    writerAt("/lock"),
	"a contest":   contestAt("/lock/one"),
}

func unreadIsRefused(t *testing.T, at *place, own []zk.ACL, ask patient.Asks) {
	at.makeLock(t, zk.PermAll)
	client := patient.Open(t, at.Connect(), locks.WithSessionTimeout(seldom), locks.WithACL(own...), locks.WithParentACL(everyone...))
	session := client.Session().ID()
	for range 2 {
		_, err := ask(client, locks.WithObserver(patient.Recorder(t, client).PID()))(patient.Deadline(t))
		require.ErrorIs(t, err, zkconn.ErrNoAuth)
		require.ErrorContains(t, err, "/lock")
		require.ErrorContains(t, err, "its own session may not read it")
		at.requireCount(t, 0, "/lock")
	}
	require.Equal(t, session, client.Session().ID())
}

// TestOwnNodesUnreadableForGood: where the session may not DELETE either, its end removes the node, as of any that may not be
// deleted.
func TestOwnNodesUnreadableForGood(t *testing.T) {
	tell(t, []story{{"a mutex", func(t *testing.T, at *place) {
		at.makeLock(t, zk.PermAll&^zk.PermDelete)
		client := patient.Open(t, at.Connect(), locks.WithSessionTimeout(seldom), locks.WithACL(all(zk.PermCreate|zk.PermDelete)))
		session := client.Session().ID()
		_, err := client.Mutex("/lock").Lock(patient.Deadline(t))
		require.ErrorIs(t, err, zkconn.ErrNoAuth)
		at.awaitCount(t, 0, "/lock")
		require.NotEqual(t, session, client.Session().ID())
	}}})
}
