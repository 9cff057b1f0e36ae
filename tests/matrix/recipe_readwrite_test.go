package matrix

import (
	"testing"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

func reader(c *locks.Client, opts ...locks.LockOption) locks.Locker {
	return c.RWMutex(lockPath, opts...).Reader()
}

func writer(c *locks.Client, opts ...locks.LockOption) locks.Locker {
	return c.RWMutex(lockPath, opts...)
}

// reading: a reader behind a writer, and another writer behind it. A reader takes the same steps as
// an exclusive lock, because the other writer is behind it.
var reading = &recipe{name: "read", ahead: writer, subject: reader, behind: writer, node: "*-__READ__*",
	aims: aimsAt("*-__READ__", "*-__WRIT__*")}

// writing: a writer between readers. The reader that it waits for does not downgrade.
var writing = &recipe{name: "write", ahead: reader, subject: writer, behind: reader, node: "*-__WRIT__*",
	aims: aimsAt("*-__WRIT__", "*-__READ__*")}

// downgrading: a writer's client asks for the read lock within the writer's lease, which it gives back when it has
// it. Another writer is next.
var downgrading = &recipe{name: "downgrade", ahead: writer, subject: reader, behind: writer, around: writer, once: true,
	node: "*-__READ__*",
	aims: func() map[Request]embedded.Fault {
		aims := aimsAt("*-__READ__", "")
		made := aims[verify] // it has the writer's number from the beginning
		aims[create] = made
		delete(aims, list)  // its place is known
		delete(aims, watch) // there is nobody to wait for
		return aims
	}(),
	cells: []cell{
		{request: create, fault: replyLate, err: locks.ErrLost, outcome: writerLost, course: theHoldIsGone},
		{request: create, fault: expired, err: locks.ErrLost, outcome: writerLost, course: theHoldIsGone},
		{request: syncing, fault: replyLate, err: locks.ErrLost, outcome: writerLost, course: theHoldIsGone},
		{request: syncing, fault: expired, err: locks.ErrLost, outcome: writerLost, course: theHoldIsGone},
		{request: create, fault: endedElsewhere, err: locks.ErrLost, outcome: writerLost, course: theHoldIsGone},
		{request: syncing, fault: endedElsewhere, err: locks.ErrLost, outcome: writerLost, course: theHoldIsGone},
		{request: create, fault: quorumLost, err: locks.ErrLost, outcome: writerLost, course: theHoldIsGone},
		{request: syncing, fault: quorumLost, err: locks.ErrLost, outcome: writerLost, course: theHoldIsGone},
		{request: create, fault: parentDeleted, err: locks.ErrLost,
			outcome: "the writer's node is gone, which the create checks: no node is made, and the writer is lost",
			course:  because(messages.ReasonHoldGone, stCreating, stFailed),
			strike:  before((*fixture).raze)},
		{request: syncing, fault: parentDeleted, strike: meanwhile((*fixture).raze), err: locks.ErrLost,
			outcome: "the search finds no lock path, and the writer is lost: refused with ErrLost", course: theHoldIsGone},
	},
}

const writerLost = "the writer is lost with the session, and with it what the reader was to go on with: refused with ErrLost"

var theHoldIsGone = because(messages.ReasonHoldGone, stCreating, stRecovering, stCreating, stFailed)

// watchingAll: an exclusive lock whose waiter watches the whole queue. An event of the queue does
// not name the node that is gone, so it lists before it holds.
var watchingAll = &recipe{name: "watch-all", ahead: mutex, behind: mutex, node: "*-lock-*",
	subject: func(c *locks.Client, opts ...locks.LockOption) locks.Locker {
		return c.Mutex(lockPath, append(opts, locks.WithWatchAll())...)
	},
	aims: func() map[Request]embedded.Fault {
		aims := aimsAt("*-lock-", "")
		aims[watch] = embedded.Fault{Op: embedded.OpGetChildren2, Path: lockPath, Skip: 1}
		return aims
	}(),
	as: func(_ Request, c course) course { return c.listsBefore(stWatching) },
	cells: []cell{
		{request: list, fault: nodeDeleted,
			outcome: "the read that is to watch shows that the waiter's node is gone, and it queues again",
			course: andBack(stCreating, stListing, stWatching, stListing, stRecovering, stCreating, stListing, stWatching,
				stListing)},
		{request: watch, fault: nodeDeleted,
			outcome: "the event of the waiter's own node has it list, and queue again",
			course: andBack(stCreating, stListing, stWatching, stListing, stRecovering, stCreating, stListing, stWatching,
				stListing)},
		{request: watch, fault: endedElsewhere,
			outcome: "the list lacks the own node, or its event has it listed again: the request queues in the next session",
			course: andBack(stCreating, stListing, stWatching, stListing, stRecovering, stCreating, stListing, stWatching,
				stListing)},
		{request: list, fault: parentDeleted, frontLost: true,
			outcome: "the lock path is gone: the request makes it again, and holds",
			course:  andBack(stCreating, stListing, stWatching, stListing, stRecovering, stCreating)},
		{request: watch, fault: parentDeleted, frontLost: true,
			outcome: "the lock path is gone: the request makes it again, and holds",
			course:  andBack(stCreating, stListing, stWatching, stListing, stRecovering, stCreating)},
		{request: watch, fault: denied, err: zkconn.ErrNoAuth,
			outcome: "a lock path that may not be read any more: Failed with ErrNoAuth, at the poll, and the own node deleted",
			course:  because(messages.ReasonNoAuth, stCreating, stListing, stWatching, stListing, stReleasing, stFailed),
			strike: func(t *testing.T, s *fixture) {
				s.aim.Skip = 0 // the listing is answered late: it asks to watch when thaw is called
				thaw := s.freeze(t)
				s.forbid(t, lockPath, allButRead)
				thaw()
				s.subject.await(t, messages.StateFailed)
				s.allow(t, lockPath)
			}},
	},
}
