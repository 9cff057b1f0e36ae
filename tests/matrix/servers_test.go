package matrix

import (
	"testing"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Where the subject is connected: the others are wherever they like.

// onFollower: the subject comes to the first follower, and knows the second, which it may not use yet.
var onFollower = stage{
	replicas: 3,
	subject: func(s *embedded.Server) string {
		s.Replica(2).Refuse(true)
		return s.Replica(1).Addr() + "," + s.Replica(2).Addr()
	},
}

// onLeader: the subject comes to the leader, and knows all.
var onLeader = stage{
	replicas: 3,
	subject: func(s *embedded.Server) string {
		s.Replica(1).Refuse(true)
		s.Replica(2).Refuse(true)
		return s.Connect()
	},
	ready: func(s *scene) { s.refuse(false) },
}

// lag has the request carried out and the connection cut in place of the reply. The client can only come back
// through a follower that does not show yet what was done.
func lag(t *testing.T, s *scene) {
	first, second := s.server.Replica(1), s.server.Replica(2)
	first.Refuse(true)
	second.Refuse(false)
	if err := second.Lag(); err != nil {
		t.Fatal(err)
	}
	s.meet(t, embedded.CutAfter)
	time.Sleep(tick) // of lagging; and a client that has seen more is not let in before it is over
	second.CatchUp()
}

var followerLagsCells = cellsOf(cell{fault: followerLags, at: onFollower, strike: lag}, []cell{
	{request: create,
		outcome: "unknown: a transaction comes before the search, so that the node is found and no second one made",
		course:  andBack(stCreating, stRecovering, stListing)},
	{request: list, outcome: "the queue is listed again, and an older view of it brings nobody nearer to its head",
		course: andBack(stCreating, stListing, stRecovering, stListing, stWatching)},
	{request: watch, outcome: "the predecessor is watched again, and its end is not missed",
		course: andBack(stCreating, stListing, stWatching, stRecovering, stListing, stWatching)},
	{request: syncing, outcome: "the search begins again at the new server, and finds the one node",
		course: andBack(stCreating, stRecovering, stListing)},
	{request: verify, outcome: "the node is proved by a transaction, which no lag can falsify: the holder holds on",
		course: andBack(stCreating, stHeld, stRecovering)},
	{request: remove, end: released,
		outcome: "a transaction at the leader says that the node is gone, whatever the follower shows: success",
		course:  through(stCreating, stHeld, stReleasing, stRecovering, stReleased)},
	{request: ping, outcome: "the node is proved by a transaction: the holder holds on",
		course: andBack(stCreating, stHeld, stRecovering)},
})

// restart kills the one server when it has carried the request out and before it answers. It is back within
// the lease.
func restart(t *testing.T, s *scene) {
	s.freeze(t)
	server := s.server.Replica(0)
	server.Stop()
	time.Sleep(tick)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
}

var serverRestartedCells = cellsOf(cell{fault: serverRestarted, strike: restart}, []cell{
	{request: create, outcome: "unknown, and waits for the server: the node is found and kept",
		course: andBack(stCreating, stRecovering, stListing)},
	{request: list, outcome: "waits for the server, and lists again",
		course: andBack(stCreating, stListing, stRecovering, stListing, stWatching)},
	{request: watch, outcome: "waits for the server, and watches again",
		course: andBack(stCreating, stListing, stWatching, stRecovering, stListing, stWatching)},
	{request: syncing, outcome: "waits for the server, and finds the one node",
		course: andBack(stCreating, stRecovering, stListing)},
	{request: verify, outcome: "the server is back within the lease: the holder holds on",
		course: andBack(stCreating, stHeld, stRecovering)},
	{request: remove, end: released, outcome: "waits for the server, which says that the node is gone: success",
		course: through(stCreating, stHeld, stReleasing, stRecovering, stReleased)},
	{request: ping, outcome: "the server is back within the lease: the holder holds on",
		course: andBack(stCreating, stHeld, stRecovering)},
})

// dethrone kills the leader, where the subject is connected, when it has carried the request out and before it
// answers. The others have another leader at once; the old one is back later.
func dethrone(t *testing.T, s *scene) {
	s.freeze(t)
	leader := s.server.Leader()
	leader.Stop()
	t.Cleanup(func() { _ = leader.Start() })
}

var leaderKilledCells = cellsOf(cell{fault: leaderKilled, at: onLeader, strike: dethrone}, []cell{
	{request: create, outcome: "unknown: the node is found with the new leader, and kept",
		course: andBack(stCreating, stRecovering, stListing)},
	{request: list, outcome: "the queue is listed again, elsewhere",
		course: andBack(stCreating, stListing, stRecovering, stListing, stWatching)},
	{request: watch, outcome: "the predecessor is watched again, elsewhere",
		course: andBack(stCreating, stListing, stWatching, stRecovering, stListing, stWatching)},
	{request: syncing, outcome: "the search begins again, elsewhere, and finds the one node",
		course: andBack(stCreating, stRecovering, stListing)},
	{request: verify, outcome: "the session goes on with the new leader within the lease: the holder holds on",
		course: andBack(stCreating, stHeld, stRecovering)},
	{request: remove, end: released, outcome: "the new leader says that the node is gone: success",
		course: through(stCreating, stHeld, stReleasing, stRecovering, stReleased)},
	{request: ping, outcome: "the session goes on with the new leader within the lease: the holder holds on",
		course: andBack(stCreating, stHeld, stRecovering)},
})

// disband stops all replicas but one when the request has been carried out. They are back when the lease is
// long over, and the session, which nobody could end, is not.
func disband(t *testing.T, s *scene) {
	s.freeze(t)
	s.refuse(true) // between one stop and the next there is a quorum yet
	for _, r := range s.server.Replicas()[:2] {
		r.Stop()
	}
	s.refuse(false)
	time.Sleep(timeout - tick/2)
	for _, r := range s.server.Replicas()[:2] {
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
	}
}

var everywhere = stage{replicas: 3}

var quorumLostCells = cellsOf(cell{fault: quorumLost, at: everywhere, strike: disband}, []cell{
	{request: create,
		outcome: "unknown, and the session lapses before the quorum is back: the request queues in the next, behind its old node",
		course:  anew(stCreating, stRecovering)},
	{request: list, frontLost: true,
		outcome: "the session lapses before the quorum is back: the request queues again in the next",
		course:  anew(stCreating, stListing, stRecovering)},
	{request: watch, frontLost: true,
		outcome: "the session lapses before the quorum is back: the request queues again in the next",
		course:  anew(stCreating, stListing, stWatching, stRecovering)},
	{request: syncing,
		outcome: "the session lapses before the quorum is back: the request queues in the next, behind its old node",
		course:  anew(stCreating, stRecovering)},
	{request: verify, end: lost, before: true,
		outcome: "Lost at the deadline, for good; the node is deleted when the same session comes back",
		course:  because(messages.ReasonLeaseOver, stCreating, stHeld, stRecovering, stLost)},
	{request: remove, at: stage{replicas: 3, alone: true}, end: released,
		outcome: "waits for the quorum, which says that the node is gone: success",
		course:  through(stCreating, stHeld, stReleasing, stRecovering, stReleased)},
	{request: ping, end: lost, before: true,
		outcome: "Lost at the deadline, for good; the node is deleted when the same session comes back",
		course:  because(messages.ReasonLeaseOver, stCreating, stHeld, stRecovering, stLost)},
})
