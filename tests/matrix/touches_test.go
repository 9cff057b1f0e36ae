package matrix

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// inside is an ensemble: the subject is a client of a follower, the next one of the leader. The subject's lease rests on what
// the leader has heard of its session.
type inside struct {
	*world
	leader, follower, third *embedded.Replica
	subject, next           *player
	suspended               atomic.Int64 // for how long the subject's machine was, in nanoseconds
}

// touching is a scene inside the ensemble.
type touching struct {
	name    string
	outcome string // what must come out, in one sentence
	patient bool   // no stall of the scene lasts for the sync limit
	play    func(t *testing.T, e *inside)
}

// TestTouches plays every scene.
func TestTouches(t *testing.T) {
	t.Parallel()
	for _, play := range touches() {
		t.Run(play.name, func(t *testing.T) {
			t.Logf("required: %s", play.outcome)
			synctest.Test(t, func(t *testing.T) {
				limit := 5
				if play.patient {
					limit = 1000
				}
				play.play(t, enter(t, embedded.WithSyncLimit(limit)))
			})
		})
	}
}

// enter opens the clients. Both know the lock path, and the subject's lease no longer rests on its
// connect request.
func enter(t *testing.T, opts ...embedded.Option) *inside {
	t.Helper()
	e := &inside{world: newWorld(t, 3, opts...)}
	e.leader, e.follower, e.third = e.server.Replica(0), e.server.Replica(1), e.server.Replica(2)
	require.Same(t, e.leader, e.server.Leader())
	e.third.Refuse(true)
	e.next = e.join(t, mutex, e.leader.Addr()+","+e.third.Addr(), locks.WithSessionTimeout(time.Minute))
	e.subject = e.join(t, mutex, e.follower.Addr()+","+e.third.Addr(),
		locks.WithSuspendedTime(func() time.Duration { return time.Duration(e.suspended.Load()) }))
	for _, p := range []*player{e.subject, e.next} {
		scene.GiveBack(t, scene.LockAt(t, p.client, lockPath))
	}
	time.Sleep(2 * timeout)
	return e
}

// holding has the subject hold, and the next wait, for so long that the lease has its usual length.
// The next thing that the subject sends, at once, is a heartbeat.
func (e *inside) holding(t *testing.T) *locks.Lease {
	t.Helper()
	lease := e.subject.hold(t)
	e.next.wait(t)
	time.Sleep(2 * timeout)
	beat := e.inject(t, embedded.Fault{Op: embedded.OpMulti, Path: lockPath + "/" + lease.Node()})
	require.NoError(t, beat.Wait(scene.Deadline(t)))
	time.Sleep(timeout/6 - tick/10)
	return lease
}

// states requires the states of the subject, one after the other.
func (e *inside) states(t *testing.T, want ...messages.State) {
	t.Helper()
	synctest.Wait()
	require.Equal(t, want, e.subject.rec.States())
}

// concludes gives back what is held, and sees the other get it with a greater token.
func (e *inside) concludes(t *testing.T, holder, other *player) {
	t.Helper()
	lease := holder.hold(t)
	require.True(t, lease.Valid())
	require.Empty(t, other.got, "both have it")
	scene.GiveBack(t, lease)
	after := other.hold(t)
	require.Greater(t, after.Token(), lease.Token())
	scene.GiveBack(t, after)
	time.Sleep(timeout + 2*tick)
	require.Empty(t, e.children(t, lockPath))
}

// losesInTime waits until the subject has lost its lock and the next has it, which must come in
// this order.
func (e *inside) losesInTime(t *testing.T) {
	t.Helper()
	lease := e.subject.lease
	next := e.next.hold(t)
	require.False(t, lease.Valid(), "the next was let in first")
	require.Greater(t, next.Token(), lease.Token())
	lost := e.subject.await(t, stLost)
	require.Equal(t, messages.ReasonLeaseOver, lost.Reason)
	require.LessOrEqual(t, lost.At, e.next.await(t, stHeld).At)
	require.ErrorIs(t, lease.Unlock(scene.Deadline(t)), locks.ErrLost)
}

// comesBack has the subject's client ask once more, which it may as soon as all is well.
func (e *inside) comesBack(t *testing.T) {
	t.Helper()
	again := newPlayer(t, e.subject.client, mutex)
	again.wait(t)
	e.concludes(t, e.next, again)
}

// holdsOn is a scene of a holder that is suspended by what strikes for a fifth of its session timeout, and holds on.
func holdsOn(strike, heal func(e *inside)) func(*testing.T, *inside) {
	return func(t *testing.T, e *inside) {
		e.holding(t)
		strike(e)
		time.Sleep(timeout / 5)
		heal(e)
		time.Sleep(timeout)
		e.states(t, stCreating, stHeld, stRecovering, stHeld)
		e.concludes(t, e.subject, e.next)
	}
}

// lostFor is a scene of a holder that is struck for a part of its session timeout, and loses by the deadline.
func lostFor(part time.Duration, strike, heal func(e *inside)) func(*testing.T, *inside) {
	return func(t *testing.T, e *inside) {
		e.holding(t)
		strike(e)
		time.Sleep(timeout * part / 10)
		e.states(t, stCreating, stHeld, stRecovering, stLost)
		heal(e)
		e.losesInTime(t)
		e.comesBack(t)
	}
}

// moves has the subject's connection go to the third replica, which grants its own session timeouts.
func (e *inside) moves(t *testing.T, least, most time.Duration) *locks.Lease {
	t.Helper()
	e.third.SetSessionTimeouts(least, most)
	lease := e.holding(t)
	e.follower.Refuse(true)
	e.third.Refuse(false)
	e.follower.DropClients()
	e.subject.await(t, stRecovering)
	_, err := e.subject.rec.AwaitNth(scene.Deadline(t), stHeld, 2)
	require.NoError(t, err)
	return lease
}

// staysThere is the end of a scene in which the subject is at the third replica, and falls silent.
func (e *inside) staysThere(t *testing.T) {
	t.Helper()
	e.third.HoldRequests()
	e.losesInTime(t)
	e.third.ReleaseRequests()
	e.comesBack(t)
}

func touches() (all []touching) {
	const suspendedOnly, lostInTime = "suspended, and the holder holds on", "suspended, then Lost by the deadline, before the servers let the next in"
	heal := func(e *inside) { e.leader.HealTo(e.follower); e.follower.HealTo(e.leader) }
	for direction, stall := range map[string]func(e *inside){
		"leader-to-follower": func(e *inside) { e.leader.StallTo(e.follower) },
		"follower-to-leader": func(e *inside) { e.follower.StallTo(e.leader) },
	} {
		all = append(all, touching{direction + "/stalls-for-0.2T", suspendedOnly, true, holdsOn(stall, heal)},
			touching{direction + "/outlasts-the-sync-limit", "the follower drops its clients; the subject has lost by then, and goes on elsewhere", false,
				func(t *testing.T, e *inside) {
					e.holding(t)
					e.third.Refuse(false)
					stall(e)
					e.losesInTime(t)
					e.comesBack(t)
				}})
		for _, part := range []time.Duration{5, 10, 15, 20, 30} { // tenths of T
			all = append(all, touching{fmt.Sprintf("%s/stalls-for-%v.%vT", direction, int(part/10), int(part%10)), lostInTime, true, lostFor(part, stall, heal)})
		}
		for _, idle := range []time.Duration{30, 50, 55, 60, 64, 90} { // hundredths of T
			all = append(all, touching{fmt.Sprintf("%s/asks-after-0.%dT", direction, idle),
				"a session that was idle is granted nothing whose end the leader may have fixed already", true,
				func(t *testing.T, e *inside) {
					stall(e)
					time.Sleep(timeout * idle / 100)
					e.subject.ask(t)
					time.Sleep(tick / 100)
					e.next.ask(t)
					next := e.next.hold(t) // at once, or when the subject's session has expired
					heal(e)
					for range 1000 {
						require.Empty(t, e.subject.got, "two holders")
						time.Sleep(tick / 1000)
					}
					require.True(t, next.Valid())
					e.subject.await(t, stWatching)
					e.concludes(t, e.next, e.subject)
				}})
		}
	}
	// A follower dies at the instant of a grant, after its client's requests were held up. The leader has not heard of the
	// ones that came through just before.
	for _, phase := range []time.Duration{0, 1, 2, 3} { // tenths of T: when the client last sent something by itself
		for _, hold := range []time.Duration{1, 3, 5, 6} {
			all = append(all, touching{fmt.Sprintf("follower-dies/frames-held-for-0.%dT-after-0.%dT", hold, phase),
				"granted only for as long as the leader had heard of the session before: Lost before the next is let in", false,
				func(t *testing.T, e *inside) {
					time.Sleep(timeout * phase / 10)
					e.follower.HoldRequests()
					time.Sleep(timeout * hold / 10)
					e.subject.ask(t)
					e.follower.ReleaseRequests()
					require.True(t, e.subject.hold(t).Valid())
					e.follower.Stop()
					e.losesInTime(t)
					e.third.Refuse(false)
					e.comesBack(t)
				}})
		}
	}
	for _, part := range []time.Duration{5, 10, 20, 50, 100, 200} { // hundredths of T
		all = append(all, touching{fmt.Sprintf("machine-suspended/for-%d.%02dT", part/100, part%100),
			"the subject's clock stands still, the servers' go on: the deadline is nearer by it, and a lease that is over stays over", false,
			func(t *testing.T, e *inside) {
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
				require.ErrorIs(t, lease.Unlock(scene.Deadline(t)), locks.ErrLost)
				e.states(t, stCreating, stHeld, stLost)
				e.next.hold(t)
				e.comesBack(t)
			}})
	}
	pause, resume := func(e *inside) { e.leader.Pause() }, func(e *inside) { e.leader.Resume() }
	return append(all,
		touching{"leader-pauses/for-0.2T", suspendedOnly, false, holdsOn(pause, resume)},
		touching{"leader-pauses/for-0.8T", lostInTime, true, lostFor(8, pause, resume)},
		touching{"leader-pauses/past-the-sync-limit", "as a leader change that comes too late: Lost by the deadline", false,
			func(t *testing.T, e *inside) {
				e.holding(t)
				e.third.Refuse(false)
				e.leader.Pause()
				time.Sleep(timeout)
				require.NotSame(t, e.leader, e.server.Leader())
				e.leader.Resume()
				e.losesInTime(t)
				e.comesBack(t)
			}},
		touching{"leader-pauses/and-is-killed", "as a leader change: the holder holds on", false,
			holdsOn(func(e *inside) { e.third.Refuse(false); pause(e) }, func(e *inside) { e.leader.Stop() })},
		touching{"follower-pauses/for-0.2T", suspendedOnly, false,
			holdsOn(func(e *inside) { e.follower.Pause() }, func(e *inside) { e.follower.Resume() })},
		touching{"reconnect/shorter-timeout", "the deadline is that of the shorter one at once", false,
			func(t *testing.T, e *inside) {
				const shorter = 4 * tick
				lease := e.moves(t, 2*tick, shorter)
				require.LessOrEqual(t, time.Until(lease.Deadline()), shorter*9/10)
				require.True(t, lease.Valid())
				e.staysThere(t)
			}},
		touching{"reconnect/longer-timeout", "the deadline stays that of the shorter one, by which a new leader goes", false,
			func(t *testing.T, e *inside) {
				lease := e.moves(t, 3*timeout, time.Minute)
				for range 40 {
					require.True(t, lease.Valid())
					require.LessOrEqual(t, time.Until(lease.Deadline()), timeout*9/10)
					time.Sleep(timeout / 10)
				}
				e.staysThere(t)
			}},
		touching{"client-to-server/stalls", lostInTime, false,
			lostFor(5, func(e *inside) { e.follower.HoldRequests() }, func(e *inside) { e.follower.ReleaseRequests() })},
		touching{"server-to-client/stalls", lostInTime, false,
			lostFor(5, func(e *inside) { e.follower.HoldReplies() }, func(e *inside) { e.follower.ReleaseReplies() })},
	)
}
