package matrix

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// A process that is stopped, as its lock sees it: the lock actor stands still in the middle of a transition, and
// nothing is heard of the servers, which end the session meanwhile and let others in. Then it goes on, at
// another time, with all that has come by then. (TestMatrix/*/process-paused stops a real process.)
var pausedInside = append([]cell{
	{request: create, fault: paused, at: stoppedIn(stHeld), strike: pauseIn,
		outcome: "the lease of the hold is over when it is told: nobody is granted that, and the call asks anew and holds in the next session",
		course:  andBack(stCreating, stHeld, stLost, stCreating),
		orElse:  andBack(stCreating, stHeld, stCreating, stLost)}, // the next lock actor begins while the first hears of its end
	{request: list, fault: paused, at: stoppedIn(stListing), strike: pauseIn,
		outcome: "the request queues again in the next session",
		course:  andBack(stCreating, stListing, stRecovering, stCreating, stListing, stWatching)},
	{request: watch, fault: paused, at: stoppedIn(stWatching), strike: pauseIn,
		outcome: "the request queues again in the next session",
		course:  andBack(stCreating, stListing, stWatching, stRecovering, stCreating, stListing, stWatching)},
	{request: remove, fault: paused, at: stoppedIn(stReleasing), strike: pauseIn, end: released,
		outcome: "the node went with its session: success",
		course:  through(stCreating, stHeld, stReleasing, stRecovering, stReleased)},
}, absurd(paused, "the lock actor asks for nothing then: where it can stand still meanwhile are the other rows", syncing, verify, ping)...)

// stoppedIn has the subject's lock actor stand still when it comes into a state.
func stoppedIn(state messages.State) stage {
	return stage{dial: func(s *scene) locks.Option {
		s.newBrake(state).armed.Store(false) // not while the scene is set
		return locks.WithLogger(slog.New(slog.DiscardHandler))
	}}
}

// pauseIn has the lock actor stand still until the servers have ended its session, and somebody else could
// have been let in.
func pauseIn(t *testing.T, s *scene) {
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
