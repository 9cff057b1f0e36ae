package matrix

import (
	"testing"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// late keeps the reply, and the client from connecting again, until the servers have ended the session.
func late(t *testing.T, s *scene) {
	session := s.subject.session()
	thaw := s.freeze(t)
	s.refuse(true)
	s.awaitExpiry(t, session)
	s.refuse(false)
	thaw()
}

// The reply, and all behind it, comes after the session has ended.
var replyLateCells = cellsOf(cell{fault: replyLate, strike: late}, []cell{
	{request: create,
		outcome: "the result is of a session that is over: it is passed over, and the request queues in the next",
		course:  andBack(stCreating, stRecovering, stCreating)},
	{request: list, outcome: "the request queues again in the next session",
		course: andBack(stCreating, stListing, stRecovering, stCreating, stListing, stWatching)},
	{request: watch, outcome: "the request queues again in the next session",
		course: andBack(stCreating, stListing, stWatching, stRecovering, stCreating, stListing, stWatching)},
	{request: syncing, outcome: "the node that was looked for went with its session: the request queues in the next",
		course: andBack(stCreating, stRecovering, stCreating)},
	{request: verify, end: lost, before: true, outcome: "Lost, by the clock, before the servers let the next in",
		course: because(messages.ReasonLeaseOver, stCreating, stHeld, stRecovering, stLost)},
	{request: remove, end: released,
		outcome: "the node is gone, by the delete or with its session: success, told once",
		course:  through(stCreating, stHeld, stReleasing, stRecovering, stReleased)},
	{request: ping, end: lost, before: true, outcome: "Lost, by the clock, before the servers let the next in",
		course: because(messages.ReasonLeaseOver, stCreating, stHeld, stRecovering, stLost)},
})

// atOnce: a server tells the session that it ends of its own nodes' deletion, where they are watched, and the event
// may come before the connection is closed. Or the end of the session may be known before the holder has got to
// hear that the connection is gone. Both end the hold without a recovery.
var atOnce = through(stCreating, stHeld, stLost)

// The server ends the session instead of carrying the request out. It does so before the session's time is
// over: no client can know that before its server does.
var expiredCells = cellsOf(cell{fault: expired, strike: meeting(embedded.ExpireBefore)}, []cell{
	{request: create, outcome: "the request queues in the next session",
		course: andBack(stCreating, stRecovering, stCreating)},
	{request: list, outcome: "the request queues again, at the tail, in the next session",
		course: andBack(stCreating, stListing, stRecovering, stCreating, stListing, stWatching)},
	{request: watch, outcome: "the request queues again, at the tail, in the next session",
		course: andBack(stCreating, stListing, stWatching, stRecovering, stCreating, stListing, stWatching)},
	{request: syncing, outcome: "nothing is adopted from a session that is over: the request queues in the next",
		course: andBack(stCreating, stRecovering, stCreating)},
	{request: verify, end: lost, outcome: "Lost, for good",
		course: because(messages.ReasonSessionExpired, stCreating, stHeld, stRecovering, stLost),
		orElse: atOnce},
	{request: remove, end: released, outcome: "the node went with its session: success",
		course: through(stCreating, stHeld, stReleasing, stRecovering, stReleased)},
	{request: ping, end: lost, outcome: "Lost, for good",
		course: because(messages.ReasonSessionExpired, stCreating, stHeld, stRecovering, stLost),
		orElse: atOnce},
})
