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
var replyLateCells = []cell{
	{request: create, fault: replyLate, strike: late,
		outcome: "the result is of a session that is over: it is passed over, and the request queues in the next",
		story:   andBack(stCreating, stRecovering, stCreating)},
	{request: list, fault: replyLate, strike: late,
		outcome: "the request queues again in the next session",
		story:   andBack(stCreating, stListing, stRecovering, stCreating, stListing, stWatching)},
	{request: watch, fault: replyLate, strike: late,
		outcome: "the request queues again in the next session",
		story:   andBack(stCreating, stListing, stWatching, stRecovering, stCreating, stListing, stWatching)},
	{request: syncing, fault: replyLate, strike: late,
		outcome: "the node that was looked for went with its session: the request queues in the next",
		story:   andBack(stCreating, stRecovering, stCreating)},
	{request: verify, fault: replyLate, strike: late, end: lost, before: true, reason: messages.ReasonLeaseOver,
		outcome: "Lost, by the clock, before the servers let the next in",
		story:   through(stCreating, stHeld, stRecovering, stLost)},
	{request: remove, fault: replyLate, strike: late, end: released,
		outcome: "the node is gone, by the delete or with its session: success, told once",
		story:   through(stCreating, stHeld, stReleasing, stRecovering, stReleased)},
	{request: ping, fault: replyLate, strike: late, end: lost, before: true, reason: messages.ReasonLeaseOver,
		outcome: "Lost, by the clock, before the servers let the next in",
		story:   through(stCreating, stHeld, stRecovering, stLost)},
}

// The server ends the session instead of carrying the request out. It does so before the session's time is
// over: no client can know that before its server does.
var expiredCells = []cell{
	{request: create, fault: expired, strike: meeting(embedded.ExpireBefore),
		outcome: "the request queues in the next session",
		story:   andBack(stCreating, stRecovering, stCreating)},
	{request: list, fault: expired, strike: meeting(embedded.ExpireBefore),
		outcome: "the request queues again, at the tail, in the next session",
		story:   andBack(stCreating, stListing, stRecovering, stCreating, stListing, stWatching)},
	{request: watch, fault: expired, strike: meeting(embedded.ExpireBefore),
		outcome: "the request queues again, at the tail, in the next session",
		story:   andBack(stCreating, stListing, stWatching, stRecovering, stCreating, stListing, stWatching)},
	{request: syncing, fault: expired, strike: meeting(embedded.ExpireBefore),
		outcome: "nothing is adopted from a session that is over: the request queues in the next",
		story:   andBack(stCreating, stRecovering, stCreating)},
	{request: verify, fault: expired, strike: meeting(embedded.ExpireBefore), end: lost, reason: messages.ReasonSessionExpired,
		outcome: "Lost, for good",
		story:   through(stCreating, stHeld, stRecovering, stLost)},
	{request: remove, fault: expired, strike: meeting(embedded.ExpireBefore), end: released,
		outcome: "the node went with its session: success",
		story:   through(stCreating, stHeld, stReleasing, stRecovering, stReleased)},
	{request: ping, fault: expired, strike: meeting(embedded.ExpireBefore), end: lost, reason: messages.ReasonSessionExpired,
		outcome: "Lost, for good",
		story:   through(stCreating, stHeld, stRecovering, stLost)},
}
