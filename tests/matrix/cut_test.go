package matrix

import (
	"testing"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

func meeting(action embedded.Action) func(*testing.T, *scene) {
	return func(t *testing.T, s *scene) { s.meet(t, action) }
}

// The connection is cut in place of carrying the request out.
var cutBeforeCells = cellsOf(cell{fault: cutBefore, strike: meeting(embedded.CutBefore)}, []cell{
	{request: create, outcome: "not applied: the same attempt creates again, and there is one node",
		course: andBack(stCreating, stRecovering, stCreating)},
	{request: list, outcome: "the queue is listed again, with the node that it has, and its place is kept",
		course: andBack(stCreating, stListing, stRecovering, stListing, stWatching)},
	{request: watch, outcome: "the queue is listed and the predecessor watched again",
		course: andBack(stCreating, stListing, stWatching, stRecovering, stListing, stWatching)},
	{request: syncing, outcome: "the search begins again, and finds the one node",
		course: andBack(stCreating, stRecovering, stListing)},
	{request: verify, outcome: "no renewal from this one; the connection is back in time, and the holder holds on",
		course: andBack(stCreating, stHeld, stRecovering)},
	{request: remove, end: released, outcome: "not applied: releasing goes on until the node is known to be gone",
		course: through(stCreating, stHeld, stReleasing, stRecovering, stReleasing, stReleased)},
	{request: ping, outcome: "the connection is back in time, and the holder holds on",
		course: andBack(stCreating, stHeld, stRecovering)},
})

// The request is carried out, and the connection is cut in place of its reply.
var replyLostCells = cellsOf(cell{fault: replyLost, strike: meeting(embedded.CutAfter)}, []cell{
	{request: create, outcome: "unknown: after a transaction the node is found by its GUID, and kept",
		course: andBack(stCreating, stRecovering, stListing)},
	{request: list, outcome: "the queue is listed again",
		course: andBack(stCreating, stListing, stRecovering, stListing, stWatching)},
	{request: watch, outcome: "the predecessor is watched again, and no event of the first watch does harm",
		course: andBack(stCreating, stListing, stWatching, stRecovering, stListing, stWatching)},
	{request: syncing, outcome: "the search begins again, and finds the one node",
		course: andBack(stCreating, stRecovering, stListing)},
	{request: verify, outcome: "it changes nothing to do it twice: the holder holds on",
		course: andBack(stCreating, stHeld, stRecovering)},
	{request: remove, end: released, outcome: "that the node is gone is success, told once",
		course: through(stCreating, stHeld, stReleasing, stRecovering, stReleased)},
	{request: ping, outcome: "the connection is back in time, and the holder holds on",
		course: andBack(stCreating, stHeld, stRecovering)},
})
