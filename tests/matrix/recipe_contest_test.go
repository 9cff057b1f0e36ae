package matrix

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

const contested = "node"

// withoutGuard leaves out the guard of the contest's node, where there is that node. One that is left shows.
func withoutGuard(names []string) []string {
	if at := slices.IndexFunc(names, queue.IsGuard); at >= 0 && slices.Contains(names, contested) {
		return slices.Delete(names, at, at+1)
	}
	return names
}

func contest(c *locks.Client, opts ...locks.LockOption) locks.Locker {
	return c.Contest(lockPath+"/"+contested, opts...)
}

// contesting: one node for all. A request that comes too late has no node, and creates again when
// the other's is gone.
var contesting = &recipe{name: "contest", ahead: contest, subject: contest, behind: contest, node: contested,
	aims: func() map[Request]embedded.Fault {
		const path = lockPath + "/" + contested
		return map[Request]embedded.Fault{
			create:  {Op: embedded.OpMulti, Path: path},
			watch:   {Op: embedded.OpGetData, Path: path},
			syncing: {Op: embedded.OpMulti, Path: lockPath},
			verify:  {Op: embedded.OpMulti, Path: path},
			remove:  {Op: embedded.OpMulti, Path: path + "-*"},
			ping:    {Op: embedded.OpPing},
		}
	}(),
	as: asContest,
	cells: []cell{
		{request: watch, fault: parentDeleted, frontLost: true,
			outcome: "the one node is gone: the request makes the lock path again, and holds",
			course:  andBack(stCreating, stWatching, stCreating)},
		{request: watch, fault: endedElsewhere,
			outcome: "the node is read and watched, the next heartbeat is refused, and the request creates again in the next session",
			course:  andBack(stCreating, stWatching, stRecovering, stCreating, stWatching, stCreating)},
		{request: watch, fault: nodeDeleted, absurd: "who waits has no node"},
		{request: watch, fault: denied,
			outcome: "a node that may not be read gives no event: the slow poll finds that it is gone",
			course:  andBack(stCreating, stWatching, stCreating),
			strike: func(t *testing.T, s *fixture) {
				scene.RightRelists(t, s.subject.client.Session(), 1)
				s.forbid(t, lockPath+"/"+contested, allButRead)
				s.trigger(t)
				s.subject.await(t, messages.StateWatching)
				synctest.Wait()
				s.allow(t, lockPath+"/"+contested) // the holder has to see it, too
			}},
		{request: syncing, fault: denied, err: zkconn.ErrNoAuth,
			outcome: "the node is there, and nobody can see whose it is: Failed, and the session ended",
			course:  because(messages.ReasonNoAuth, stCreating, stRecovering, stFailed),
			strike: func(t *testing.T, s *fixture) {
				session := s.subject.session()
				thaw := s.freeze(t)
				s.forbid(t, lockPath+"/"+contested, allButRead)
				thaw()
				s.subject.await(t, messages.StateFailed)
				s.awaitExpiry(t, session)
			}},
		{request: verify, fault: denied, err: zkconn.ErrNoAuth,
			outcome: "the holder holds on; but whose the node is cannot be seen when it is given back: Failed, and the session ended",
			course:  because(messages.ReasonNoAuth, stCreating, stHeld, stReleasing, stFailed),
			strike: func(t *testing.T, s *fixture) {
				session := s.subject.session()
				scene.RightRelists(t, s.next.client.Session(), 1)
				s.forbid(t, lockPath+"/"+contested, allButRead)
				s.giveBack(t)
				s.subject.await(t, messages.StateFailed)
				s.awaitExpiry(t, session)
			}},
		{request: watch, fault: quorumLost, frontLost: true,
			outcome: "the session lapses before the quorum is back: the request creates again in the next",
			course:  anew(stCreating, stWatching, stRecovering)},
	},
}

// asContest gives a contest's steps in place of an exclusive lock's: there is no queue to list, and
// a waiter has no node to come back to.
func asContest(_ Request, c course) course {
	var story []messages.State
	for i, state := range c.story {
		before, next := stReleased, stReleased
		if i > 0 {
			before = c.story[i-1]
		}
		if i+1 < len(c.story) {
			next = c.story[i+1]
		}
		switch {
		case state == stListing && before == stCreating:
			continue
		case state == stListing && before == stRecovering && next == stWatching:
			story = append(story, stCreating)
		case state == stListing && before == stWatching && next == stHeld: // a poll
			story = append(story, stCreating)
		case state == stHeld && before == stWatching:
			story = append(story, stCreating, stHeld)
		default:
			story = append(story, state)
		}
	}
	c.story = slices.Clip(story)
	return c
}
