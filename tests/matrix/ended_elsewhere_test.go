package matrix

import (
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// atFollower: a follower answers what it can by itself also where the session is over. A leader answers nothing then.
var atFollower = stage{
	replicas: 3,
	subject:  func(s *embedded.Server) string { return s.Replica(1).Addr() },
}

// The session is ended at the leader right before the request comes there, and the connection stays. The follower
// answers pings, syncs and reads as ever. Writes are refused, in a part of a multi or in the header. Somebody else
// holds meanwhile, so no hold outlasts the next heartbeat, a sixth of T later.
var endedElsewhereCells = cellsOf(cell{fault: endedElsewhere, at: atFollower, strike: meeting(embedded.EndBefore)}, []cell{
	{request: create, outcome: "the create is refused, and the request queues in the next session",
		course: andBack(stCreating, stRecovering, stCreating)},
	{request: list, outcome: "the list lacks the own node, and the request queues again in the next session",
		course: andBack(stCreating, stListing, stRecovering, stCreating, stListing, stWatching)},
	{request: watch,
		outcome: "the watch is set, the next heartbeat is refused, and the request queues again in the next session",
		course:  andBack(stCreating, stListing, stWatching, stRecovering, stCreating, stListing, stWatching)},
	{request: syncing,
		outcome: "the transaction is refused, as the session is over: the request queues in the next",
		course:  andBack(stCreating, stRecovering, stCreating)},
	{request: verify, end: lost, outcome: "the heartbeat is refused in a part: Lost, for good",
		course: because(messages.ReasonSessionExpired, stCreating, stHeld, stRecovering, stLost), orElse: atOnce},
	{request: remove, end: released, outcome: "the delete is refused, and the node went with its session: success",
		course: through(stCreating, stHeld, stReleasing, stRecovering, stReleased)},
	{request: ping, end: lost, outcome: "the ping is answered, and the next heartbeat is refused: Lost, for good",
		course: because(messages.ReasonSessionExpired, stCreating, stHeld, stRecovering, stLost), orElse: atOnce},
})
