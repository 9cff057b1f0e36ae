package matrix

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// outlived are the courses of a subject whose session outlives the fault, after a cut; over those of one whose session is over.
var (
	outlived = map[Request]course{
		create:  andBack(stCreating, stRecovering, stListing),
		list:    andBack(stCreating, stListing, stRecovering, stListing, stWatching),
		watch:   andBack(stCreating, stListing, stWatching, stRecovering, stListing, stWatching),
		syncing: andBack(stCreating, stRecovering, stListing),
		verify:  andBack(stCreating, stHeld, stRecovering),
		remove:  through(stCreating, stHeld, stReleasing, stRecovering, stReleased),
		ping:    andBack(stCreating, stHeld, stRecovering),
	}
	over = map[Request]course{
		create:  andBack(stCreating, stRecovering, stCreating),
		list:    andBack(stCreating, stListing, stRecovering, stCreating, stListing, stWatching),
		watch:   andBack(stCreating, stListing, stWatching, stRecovering, stCreating, stListing, stWatching),
		syncing: andBack(stCreating, stRecovering, stCreating),
		verify:  through(stCreating, stHeld, stRecovering, stLost),
		remove:  through(stCreating, stHeld, stReleasing, stRecovering, stReleased),
		ping:    through(stCreating, stHeld, stRecovering, stLost),
	}
)

func meeting(action embedded.Action) func(*testing.T, *fixture) {
	return func(t *testing.T, s *fixture) { s.meet(t, action) }
}

// The connection is cut in place of carrying the request out.
var cutBeforeCells = column(cell{fault: cutBefore, strike: meeting(embedded.CutBefore)}, outlived, map[Request]string{
	list:    "the queue is listed again, with the node that it has, and its place is kept",
	watch:   "the queue is listed and the predecessor watched again",
	syncing: "the search begins again, and finds the one node",
	verify:  "no renewal from this one; the connection is back in time, and the holder holds on",
	ping:    "the connection is back in time, and the holder holds on",
},
	cell{request: create, outcome: "not applied: the same attempt creates again, and there is one node", course: over[create]},
	cell{request: remove, outcome: "not applied: releasing goes on until the node is known to be gone",
		course: through(stCreating, stHeld, stReleasing, stRecovering, stReleasing, stReleased)})

// The request is carried out, and the connection is cut in place of its reply.
var replyLostCells = column(cell{fault: replyLost, strike: meeting(embedded.CutAfter)}, outlived, map[Request]string{
	create:  "unknown: after a transaction the node is found by its GUID, and kept",
	list:    "the queue is listed again",
	watch:   "the predecessor is watched again, and no event of the first watch does harm",
	syncing: "the search begins again, and finds the one node",
	verify:  "it changes nothing to do it twice: the holder holds on",
	remove:  "that the node is gone is success, told once",
	ping:    "the connection is back in time, and the holder holds on",
})

// late keeps the reply, and the client from connecting again, until the servers have ended the session.
func late(t *testing.T, s *fixture) {
	session := s.subject.session()
	thaw := s.freeze(t)
	s.refuse(true)
	s.awaitExpiry(t, session)
	s.refuse(false)
	thaw()
}

// The reply, and all behind it, comes after the session has ended.
var replyLateCells = column(cell{fault: replyLate, strike: late, before: true, course: because(messages.ReasonLeaseOver)}, over,
	map[Request]string{
		create:  "the result is of a session that is over: it is passed over, and the request queues in the next",
		list:    "the request queues again in the next session",
		watch:   "the request queues again in the next session",
		syncing: "the node that was looked for went with its session: the request queues in the next",
		verify:  "Lost, by the clock, before the servers let the next in",
		remove:  "the node is gone, by the delete or with its session: success, told once",
		ping:    "Lost, by the clock, before the servers let the next in",
	})

// atOnce: a server tells the session that it ends of its own nodes' deletion, where they are watched, and the event
// may come before the connection is closed. Or the end of the session may be known before the holder has got to
// hear that the connection is gone. Both end the hold without a recovery.
var atOnce = through(stCreating, stHeld, stLost)

// The server ends the session instead of carrying the request out. It does so before the session's time is
// over: no client can know that before its server does.
var expiredCells = column(cell{fault: expired, strike: meeting(embedded.ExpireBefore), orElse: atOnce,
	course: because(messages.ReasonSessionExpired)}, over, map[Request]string{
	create:  "the request queues in the next session",
	list:    "the request queues again, at the tail, in the next session",
	watch:   "the request queues again, at the tail, in the next session",
	syncing: "nothing is adopted from a session that is over: the request queues in the next",
	verify:  "Lost, for good",
	remove:  "the node went with its session: success",
	ping:    "Lost, for good",
})

// atFollower: a follower answers what it can by itself also where the session is over. A leader answers nothing then.
var atFollower = stage{
	replicas: 3,
	subject:  func(s *embedded.Server) string { return s.Replica(1).Addr() },
}

// The session is ended at the leader right before the request comes there, and the connection stays. The follower
// answers pings, syncs and reads as ever. Writes are refused, in a part of a multi or in the header. Somebody else
// holds meanwhile, so no hold outlasts the next heartbeat, a sixth of T later.
var endedElsewhereCells = column(cell{fault: endedElsewhere, at: atFollower, strike: meeting(embedded.EndBefore), orElse: atOnce,
	course: because(messages.ReasonSessionExpired)}, over, map[Request]string{
	create:  "the create is refused, and the request queues in the next session",
	list:    "the list lacks the own node, and the request queues again in the next session",
	watch:   "the watch is set, the next heartbeat is refused, and the request queues again in the next session",
	syncing: "the transaction is refused, as the session is over: the request queues in the next",
	verify:  "the heartbeat is refused in a part: Lost, for good",
	remove:  "the delete is refused, and the node went with its session: success",
	ping:    "the ping is answered, and the next heartbeat is refused: Lost, for good",
})

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
	ready: func(s *fixture) { s.refuse(false) },
}

// lag has the request carried out and the connection cut in place of the reply. The client can only come back
// through a follower that does not show yet what was done.
func lag(t *testing.T, s *fixture) {
	first, second := s.server.Replica(1), s.server.Replica(2)
	first.Refuse(true)
	second.Refuse(false)
	require.NoError(t, second.Lag())
	s.meet(t, embedded.CutAfter)
	time.Sleep(tick) // of lagging; and a client that has seen more is not let in before it is over
	second.CatchUp()
}

var followerLagsCells = column(cell{fault: followerLags, at: onFollower, strike: lag}, outlived, map[Request]string{
	create:  "unknown: a transaction comes before the search, so that the node is found and no second one made",
	list:    "the queue is listed again, and an older view of it brings nobody nearer to its head",
	watch:   "the predecessor is watched again, and its end is not missed",
	syncing: "the search begins again at the new server, and finds the one node",
	verify:  "the node is proved by a transaction, which no lag can falsify: the holder holds on",
	remove:  "a transaction at the leader says that the node is gone, whatever the follower shows: success",
	ping:    "the node is proved by a transaction: the holder holds on",
})

// restart kills the one server when it has carried the request out and before it answers. It is back within
// the lease.
func restart(t *testing.T, s *fixture) {
	s.freeze(t)
	s.restart(t)
}

var serverRestartedCells = column(cell{fault: serverRestarted, strike: restart}, outlived, map[Request]string{
	create:  "unknown, and waits for the server: the node is found and kept",
	list:    "waits for the server, and lists again",
	watch:   "waits for the server, and watches again",
	syncing: "waits for the server, and finds the one node",
	verify:  "the server is back within the lease: the holder holds on",
	remove:  "waits for the server, which says that the node is gone: success",
	ping:    "the server is back within the lease: the holder holds on",
})

// dethrone kills the leader, where the subject is connected, when it has carried the request out and before it
// answers. The others have another leader at once; the old one is back later.
func dethrone(t *testing.T, s *fixture) {
	s.freeze(t)
	leader := s.server.Leader()
	leader.Stop()
	t.Cleanup(func() { _ = leader.Start() })
}

var leaderKilledCells = column(cell{fault: leaderKilled, at: onLeader, strike: dethrone}, outlived, map[Request]string{
	create:  "unknown: the node is found with the new leader, and kept",
	list:    "the queue is listed again, elsewhere",
	watch:   "the predecessor is watched again, elsewhere",
	syncing: "the search begins again, elsewhere, and finds the one node",
	verify:  "the session goes on with the new leader within the lease: the holder holds on",
	remove:  "the new leader says that the node is gone: success",
	ping:    "the session goes on with the new leader within the lease: the holder holds on",
})

// disband stops all replicas but one when the request has been carried out. They are back when the lease is
// long over, and the session, which nobody could end, is not.
func disband(t *testing.T, s *fixture) {
	s.freeze(t)
	s.refuse(true) // between one stop and the next there is a quorum yet
	for _, r := range s.server.Replicas()[:2] {
		r.Stop()
	}
	s.refuse(false)
	time.Sleep(timeout - tick/2)
	for _, r := range s.server.Replicas()[:2] {
		require.NoError(t, r.Start())
	}
}

var quorumLostCells = cellsOf(cell{fault: quorumLost, at: stage{replicas: 3}, strike: disband}, []cell{
	{request: create, course: anew(stCreating, stRecovering),
		outcome: "unknown, and the session lapses before the quorum is back: the request queues in the next, behind its old node"},
	{request: list, frontLost: true, course: anew(stCreating, stListing, stRecovering),
		outcome: "the session lapses before the quorum is back: the request queues again in the next"},
	{request: watch, frontLost: true, course: anew(stCreating, stListing, stWatching, stRecovering),
		outcome: "the session lapses before the quorum is back: the request queues again in the next"},
	{request: syncing, course: anew(stCreating, stRecovering),
		outcome: "the session lapses before the quorum is back: the request queues in the next, behind its old node"},
	{request: verify, before: true, course: because(messages.ReasonLeaseOver, over[verify].story...),
		outcome: "Lost at the deadline, for good; the node is deleted when the same session comes back"},
	{request: remove, at: stage{replicas: 3, alone: true}, course: over[remove],
		outcome: "waits for the quorum, which says that the node is gone: success"},
	{request: ping, before: true, course: because(messages.ReasonLeaseOver, over[ping].story...),
		outcome: "Lost at the deadline, for good; the node is deleted when the same session comes back"},
})

// A process that is stopped, as its lock sees it: the lock actor stands still in the middle of a transition, and
// nothing is heard of the servers, which end the session meanwhile and let others in. Then it goes on, at
// another time, with all that has come by then. TestProcessIsStopped stops a real process.
var pausedCells = append(cellsOf(cell{fault: paused, strike: pauseIn}, []cell{
	{request: create, at: stoppedIn(stHeld),
		outcome: "the lease of the hold is over when it is told: nobody is granted that, and the call asks anew and holds in the next session",
		course:  andBack(stCreating, stHeld, stLost, stCreating),
		orElse:  andBack(stCreating, stHeld, stCreating, stLost)}, // the next lock actor begins while the first hears of its end
	{request: list, at: stoppedIn(stListing), outcome: "the request queues again in the next session", course: over[list]},
	{request: watch, at: stoppedIn(stWatching), outcome: "the request queues again in the next session", course: over[watch]},
	{request: remove, at: stoppedIn(stReleasing), outcome: "the node went with its session: success", course: over[remove]},
}), absurd(paused, "the lock actor asks for nothing then: where it can stand still meanwhile are the other rows", syncing, verify, ping)...)

// stoppedIn has the subject's lock actor stand still when it comes into a state.
func stoppedIn(state messages.State) stage {
	return stage{dial: func(s *fixture) locks.Option {
		s.newBrake(state).armed.Store(false) // not while the scene is set
		return locks.WithLogger(slog.New(slog.DiscardHandler))
	}}
}

// pauseIn has the lock actor stand still until the servers have ended its session, and somebody else could
// have been let in.
func pauseIn(t *testing.T, s *fixture) {
	s.brake.armed.Store(true)
	s.trigger(t)
	<-s.brake.stopped
	session := s.subject.session()
	s.server.Replica(0).Refuse(true)
	require.NoError(t, s.server.Expire(session))
	time.Sleep(timeout)
	s.server.Replica(0).Refuse(false)
	time.Sleep(timeout)
	close(s.brake.goOn)
}
