package matrix

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// expire ends the subject's session at the servers.
func (s *scene) expire(t *testing.T) {
	t.Helper()
	require.NoError(t, s.server.Expire(s.subject.session()))
	synctest.Wait() // the connection is closed before what was held on it could go out
}

// unplug cuts the subject off, with everybody else, and lets nobody back in.
func (s *scene) unplug(t *testing.T) {
	t.Helper()
	s.refuse(true)
	s.server.Replica(0).DropClients()
	s.subject.await(t, stRecovering)
}

// expiredIn has the outcome of a request whose session ends, for each of its states.
var expiredIn = []struct {
	state string
	cell
}{
	{"creating", cell{request: create, strike: meanwhile((*scene).expire),
		outcome: "a node that was made goes with its session: the request queues in the next",
		course:  andBack(stCreating, stRecovering, stCreating)}},
	{"listing", cell{request: list, strike: meanwhile((*scene).expire),
		outcome: "the request queues again, at the tail, in the next session",
		course:  andBack(stCreating, stListing, stRecovering, stCreating, stListing, stWatching)}},
	{"watching", cell{request: watch, outcome: "the request queues again, at the tail, in the next session",
		course: andBack(stCreating, stListing, stWatching, stRecovering, stCreating, stListing, stWatching),
		// A waiter that watches the whole queue may be told of its own node's end before its
		// session's.
		orElse: andBack(stCreating, stListing, stWatching, stListing, stRecovering, stCreating, stListing, stWatching),
		strike: func(t *testing.T, s *scene) {
			s.trigger(t)
			s.subject.await(t, stWatching)
			s.expire(t)
		}}},
	{"held", cell{request: verify, end: lost, outcome: "Lost, for good",
		course: because(messages.ReasonSessionExpired, stCreating, stHeld, stRecovering, stLost), orElse: atOnce,
		strike: func(t *testing.T, s *scene) { s.expire(t) }}},
	{"revoking", cell{request: verify, end: lost, outcome: "Lost, for good",
		course: because(messages.ReasonSessionExpired, stCreating, stHeld, stRevoking, stRecovering, stLost),
		orElse: through(stCreating, stHeld, stRevoking, stLost),
		strike: func(t *testing.T, s *scene) {
			_, err := s.operator.Set(lockPath+"/"+s.subject.lease.Node(), []byte("unlock"), -1)
			require.NoError(t, err)
			<-s.subject.lease.Revoked()
			s.expire(t)
		}}},
	{"releasing", cell{request: remove, end: released, strike: meanwhile((*scene).expire),
		outcome: "the node is gone, by the delete or with its session: success, told once",
		course:  through(stCreating, stHeld, stReleasing, stRecovering, stReleased)}},
	{"recovering, held before", cell{request: verify, end: lost,
		outcome: "Lost, for good",
		course:  because(messages.ReasonSessionExpired, stCreating, stHeld, stRecovering, stLost),
		strike: func(t *testing.T, s *scene) {
			s.unplug(t)
			s.expire(t)
			s.refuse(false)
		}}},
	{"recovering, creating before", cell{request: create, outcome: "the request queues in the next session",
		course: andBack(stCreating, stRecovering, stCreating),
		strike: func(t *testing.T, s *scene) {
			s.freeze(t)
			s.unplug(t)
			s.expire(t)
			s.refuse(false)
		}}},
	{"recovering, releasing before", cell{request: remove, end: released,
		outcome: "the node is gone, by the delete or with its session: success, told once",
		course:  through(stCreating, stHeld, stReleasing, stRecovering, stReleased),
		strike: func(t *testing.T, s *scene) {
			s.freeze(t)
			s.unplug(t)
			s.expire(t)
			s.refuse(false)
		}}},
}

// TestExpiredIn: the session ends while the request stands in each of its states.
func TestExpiredIn(t *testing.T) {
	for _, c := range expiredIn {
		t.Run(c.state, c.test)
	}
}
