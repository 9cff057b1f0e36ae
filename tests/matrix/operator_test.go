package matrix

import (
	"path"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// prune deletes the subject's node, as an operator would.
func (s *fixture) prune(t *testing.T) {
	t.Helper()
	nodes := slices.DeleteFunc(s.owned(t, s.subject), func(node string) bool {
		is, err := path.Match(s.cell.recipe.node, node)
		require.NoError(t, err)
		return !is
	})
	require.Len(t, nodes, 1)
	require.NoError(t, s.operator.Delete(lockPath+"/"+nodes[0], -1))
}

// raze deletes the lock path with all that is in it.
func (s *fixture) raze(t *testing.T) {
	t.Helper()
	var all []any
	nodes, _, err := s.operator.Children(lockPath)
	require.NoError(t, err)
	for _, node := range nodes {
		all = append(all, &zk.DeleteRequest{Path: lockPath + "/" + node, Version: -1})
	}
	_, err = s.operator.Multi(append(all, &zk.DeleteRequest{Path: lockPath, Version: -1})...)
	require.NoError(t, err)
}

// meanwhile has the operator do something between the request and its reply.
func meanwhile(do func(*fixture, *testing.T)) func(*testing.T, *fixture) {
	return func(t *testing.T, s *fixture) {
		thaw := s.freeze(t)
		synctest.Wait() // a read that was sent behind the request is carried out before the operator comes
		do(s, t)
		thaw()
	}
}

// before has the operator do something that the subject cannot know when it sends the request.
func before(do func(*fixture, *testing.T)) func(*testing.T, *fixture) {
	return func(t *testing.T, s *fixture) {
		s.freezeEarly(t, func() { do(s, t) })()
	}
}

var nodeDeletedCells = cellsOf(cell{fault: nodeDeleted, strike: meanwhile((*fixture).prune)}, []cell{
	{request: create, outcome: "held by the reply, and Lost as soon as the own node is looked at",
		course: because(messages.ReasonNodeDeleted, stCreating, stHeld, stLost)},
	{request: list, outcome: "the heartbeat finds that the waiter's node is gone, and it queues again",
		course: andBack(stCreating, stListing, stWatching, stRecovering, stCreating, stListing, stWatching)},
	{request: watch, outcome: "the heartbeat finds that the waiter's node is gone, and it queues again",
		course: andBack(stCreating, stListing, stWatching, stRecovering, stCreating, stListing, stWatching)},
	{request: syncing, outcome: "the search finds nothing, and the request creates again",
		course: andBack(stCreating, stRecovering, stCreating)},
	{request: verify, strike: before((*fixture).prune), outcome: "Lost: the node is gone",
		course: because(messages.ReasonNodeDeleted, stCreating, stHeld, stLost)},
	{request: remove, strike: before((*fixture).prune), outcome: "that the node is gone is success",
		course: through(stCreating, stHeld, stReleasing, stReleased)},
	{request: ping, outcome: "Lost: the event of the own node's deletion comes behind the ping's reply",
		course: because(messages.ReasonNodeDeleted, stCreating, stHeld, stLost)},
})

// deserted: nobody waits in the lock path that is deleted.
var deserted = stage{alone: true}

var parentDeletedCells = cellsOf(cell{fault: parentDeleted, strike: meanwhile((*fixture).raze)}, []cell{
	{request: create, strike: func(t *testing.T, s *fixture) { s.raze(t); s.trigger(t) },
		outcome: "the lock path is made again, and the node in it",
		course:  andBack(stCreating)},
	{request: list, frontLost: true,
		outcome: "the end of the queue's head is the next one's turn: held, and Lost as soon as the own node is looked at",
		course:  because(messages.ReasonNodeDeleted, stCreating, stListing, stWatching, stHeld, stLost)},
	{request: watch, frontLost: true,
		outcome: "the end of the queue's head is the next one's turn: held, and Lost as soon as the own node is looked at",
		course:  because(messages.ReasonNodeDeleted, stCreating, stListing, stWatching, stHeld, stLost)},
	{request: syncing, outcome: "the search finds no lock path: the request makes it again and creates again",
		course: andBack(stCreating, stRecovering, stCreating)},
	{request: verify, at: deserted, strike: before((*fixture).raze),
		outcome: "Lost: the node is gone, and the next gets a greater token in a lock path made again",
		course:  because(messages.ReasonNodeDeleted, stCreating, stHeld, stLost)},
	{request: remove, at: deserted, strike: before((*fixture).raze),
		outcome: "that the node is gone with its lock path is success",
		course:  through(stCreating, stHeld, stReleasing, stReleased)},
	{request: ping, at: deserted,
		outcome: "Lost: the event of the own node's deletion comes behind the ping's reply",
		course:  because(messages.ReasonNodeDeleted, stCreating, stHeld, stLost)},
})

// allButRead are the permissions of who may do everything but read.
const allButRead = zk.PermAll &^ zk.PermRead

var deniedCells = append(absurd(denied, "a ping asks for no permission", ping), cellsOf(cell{fault: denied}, []cell{
	{request: create, err: zkconn.ErrNoAuth,
		outcome: "Failed with ErrNoAuth, and not tried again",
		course:  because(messages.ReasonNoAuth, stCreating, stFailed),
		strike: func(t *testing.T, s *fixture) {
			s.forbid(t, lockPath, zk.PermAll&^zk.PermCreate)
			s.trigger(t)
			s.subject.await(t, messages.StateFailed)
			s.allow(t, lockPath)
		}},
	{request: list, err: zkconn.ErrNoAuth,
		outcome: "Failed with ErrNoAuth, and the own node deleted",
		course:  because(messages.ReasonNoAuth, stCreating, stListing, stReleasing, stFailed),
		strike: func(t *testing.T, s *fixture) {
			s.forbid(t, lockPath, allButRead)
			s.trigger(t)
			s.subject.await(t, messages.StateFailed)
			s.allow(t, lockPath)
		}},
	{request: watch,
		outcome: "the predecessor may not be read, and no event comes: the slow re-list finds that it is gone",
		course:  andBack(stCreating, stListing, stWatching, stListing),
		strike: func(t *testing.T, s *fixture) {
			s.forbid(t, lockPath+"/"+s.front.lease.Node(), allButRead)
			s.trigger(t)
			s.subject.await(t, messages.StateWatching)
			scene.RightRelists(t, s.subject.client.Session(), 1)
		}},
	{request: syncing, err: zkconn.ErrNoAuth,
		outcome: "the transaction needs no permission, the list behind it does: Failed, and the session ended, for its node would keep everybody out",
		course:  because(messages.ReasonNoAuth, stCreating, stRecovering, stFailed),
		strike: func(t *testing.T, s *fixture) {
			session := s.subject.session()
			thaw := s.freeze(t)
			s.forbid(t, lockPath, allButRead)
			thaw()
			s.subject.await(t, messages.StateFailed)
			s.awaitExpiry(t, session)
			s.allow(t, lockPath)
		}},
	{request: verify,
		outcome: "that the check is refused is an answer of the ensemble, and a node that refuses exists: the holder holds on",
		course:  andBack(stCreating),
		strike: func(t *testing.T, s *fixture) {
			scene.RightRelists(t, s.next.client.Session(), 1) // no event tells the one behind
			s.forbid(t, lockPath+"/"+s.subject.lease.Node(), allButRead)
		}},
	{request: remove, err: zkconn.ErrNoAuth,
		outcome: "Failed with ErrNoAuth, and the session ended, for its node would keep everybody out",
		course:  because(messages.ReasonNoAuth, stCreating, stHeld, stReleasing, stFailed),
		strike: func(t *testing.T, s *fixture) {
			session := s.subject.session()
			s.forbid(t, lockPath, zk.PermAll&^zk.PermDelete)
			s.trigger(t)
			s.subject.await(t, messages.StateFailed)
			s.awaitExpiry(t, session)
			s.allow(t, lockPath)
		}},
})...)
