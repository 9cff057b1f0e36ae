package matrix

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// deaths: a follower dies at the instant of a grant, after its client's requests were held up. The
// leader has not heard of the ones that came through just before.
var deaths = func() (all []touching) {
	for _, phase := range []time.Duration{0, 1, 2, 3} { // tenths of T: when the client last sent something by itself
		for _, hold := range []time.Duration{1, 3, 5, 6} {
			all = append(all, touching{
				name:    fmt.Sprintf("follower-dies/frames-held-for-0.%dT-after-0.%dT", hold, phase),
				outcome: "granted only for as long as the leader had heard of the session before: Lost before the next is let in",
				play: func(t *testing.T, e *inside) {
					time.Sleep(timeout * phase / 10)
					e.follower.HoldRequests()
					time.Sleep(timeout * hold / 10)
					e.subject.ask(t)
					e.follower.ReleaseRequests()
					lease := e.subject.hold(t)
					require.True(t, lease.Valid())
					e.follower.Stop()
					e.losesInTime(t)
					e.third.Refuse(false)
					e.comesBack(t)
				},
			})
		}
	}
	return all
}()

var pauses = []touching{
	{name: "leader-pauses/for-0.2T", outcome: "suspended, and the holder holds on",
		play: func(t *testing.T, e *inside) {
			e.holding(t)
			e.leader.Pause()
			time.Sleep(timeout / 5)
			e.leader.Resume()
			time.Sleep(timeout)
			require.Same(t, e.leader, e.server.Leader())
			e.states(t, stCreating, stHeld, stRecovering, stHeld)
			e.concludes(t, e.subject, e.next)
		}},
	{name: "leader-pauses/for-0.8T", outcome: "Lost by the deadline, before anybody else is let in",
		opts: []embedded.Option{patientLink},
		play: func(t *testing.T, e *inside) {
			e.holding(t)
			e.leader.Pause()
			time.Sleep(timeout * 8 / 10)
			e.states(t, stCreating, stHeld, stRecovering, stLost)
			e.leader.Resume()
			e.losesInTime(t)
			e.comesBack(t)
		}},
	{name: "leader-pauses/past-the-sync-limit", outcome: "as a leader change that comes too late: Lost by the deadline",
		play: func(t *testing.T, e *inside) {
			e.holding(t)
			e.third.Refuse(false)
			e.leader.Pause()
			time.Sleep(timeout)
			require.NotSame(t, e.leader, e.server.Leader())
			e.leader.Resume()
			e.losesInTime(t)
			e.comesBack(t)
		}},
	{name: "leader-pauses/and-is-killed", outcome: "as a leader change: the holder holds on",
		play: func(t *testing.T, e *inside) {
			e.holding(t)
			e.third.Refuse(false)
			e.leader.Pause()
			time.Sleep(timeout / 5)
			e.leader.Stop()
			time.Sleep(timeout)
			e.states(t, stCreating, stHeld, stRecovering, stHeld)
			e.concludes(t, e.subject, e.next)
		}},
	{name: "follower-pauses/for-0.2T", outcome: "suspended, and the holder holds on",
		play: func(t *testing.T, e *inside) {
			e.holding(t)
			e.follower.Pause()
			time.Sleep(timeout / 5)
			e.follower.Resume()
			time.Sleep(timeout)
			e.states(t, stCreating, stHeld, stRecovering, stHeld)
			e.concludes(t, e.subject, e.next)
		}},
}

// moves has the subject's connection go to the third replica.
func (e *inside) moves(t *testing.T) {
	t.Helper()
	e.follower.Refuse(true)
	e.third.Refuse(false)
	e.follower.DropClients()
	e.subject.await(t, stRecovering)
	eventually(t, func() bool {
		states := e.subject.rec.States()
		return states[len(states)-1] == stHeld
	}, "the holder holds on")
}

var connections = []touching{
	{name: "reconnect/shorter-timeout", outcome: "the deadline is that of the shorter one at once",
		play: func(t *testing.T, e *inside) {
			const shorter = 4 * tick
			e.third.SetSessionTimeouts(2*tick, shorter)
			lease := e.holding(t)
			e.moves(t)
			require.LessOrEqual(t, time.Until(lease.Deadline()), shorter*9/10)
			require.True(t, lease.Valid())
			e.third.HoldRequests()
			e.losesInTime(t)
			e.third.ReleaseRequests()
			e.comesBack(t)
		}},
	{name: "reconnect/longer-timeout", outcome: "the deadline stays that of the shorter one, by which a new leader goes",
		play: func(t *testing.T, e *inside) {
			e.third.SetSessionTimeouts(3*timeout, time.Minute)
			lease := e.holding(t)
			e.moves(t)
			for range 40 {
				require.True(t, lease.Valid())
				require.LessOrEqual(t, time.Until(lease.Deadline()), timeout*9/10)
				time.Sleep(timeout / 10)
			}
			e.third.HoldRequests()
			e.losesInTime(t)
			e.third.ReleaseRequests()
			e.comesBack(t)
		}},
	{name: "client-to-server/stalls", outcome: "suspended, then Lost by the deadline, before the next is let in",
		play: func(t *testing.T, e *inside) {
			e.holding(t)
			e.follower.HoldRequests()
			time.Sleep(timeout / 2)
			e.states(t, stCreating, stHeld, stRecovering, stLost)
			e.losesInTime(t)
			e.follower.ReleaseRequests()
			e.comesBack(t)
		}},
	{name: "server-to-client/stalls", outcome: "suspended, then Lost by the deadline, before the next is let in",
		play: func(t *testing.T, e *inside) {
			e.holding(t)
			e.follower.HoldReplies()
			time.Sleep(timeout / 2)
			e.states(t, stCreating, stHeld, stRecovering, stLost)
			e.follower.ReleaseReplies()
			e.losesInTime(t)
			e.comesBack(t)
		}},
}

// suspensions: the subject's machine is suspended. Its clock stands still while the servers' go on.
func suspensions() (all []touching) {
	for _, part := range []time.Duration{5, 10, 20, 50, 100, 200} { // hundredths of T
		all = append(all, touching{
			name:    fmt.Sprintf("machine-suspended/for-%d.%02dT", part/100, part%100),
			outcome: "the time that has passed counts: the deadline is nearer by it, and a lease that is over stays over",
			play: func(t *testing.T, e *inside) {
				lease := e.holding(t)
				left := time.Until(lease.Deadline())
				require.Greater(t, left, timeout/5)
				require.LessOrEqual(t, left, timeout*4/10)
				gone := timeout * part / 100
				e.suspended.Add(int64(gone))
				require.Equal(t, gone < left, lease.Valid())
				if gone < left {
					require.Equal(t, left-gone, time.Until(lease.Deadline()))
					time.Sleep(timeout)
					e.states(t, stCreating, stHeld)
					e.concludes(t, e.subject, e.next)
					return
				}
				e.subject.await(t, stLost)
				require.False(t, lease.Valid())
				require.ErrorIs(t, lease.Unlock(patient(t)), locks.ErrLost)
				e.states(t, stCreating, stHeld, stLost)
				e.next.hold(t)
				e.comesBack(t)
			},
		})
	}
	return all
}
