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
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// touching is a scene inside the ensemble: the subject is a client of a follower, the next one of
// the leader. The subject's lease rests on what the leader has heard of its session.
type touching struct {
	name    string
	outcome string // what must come out, in one sentence
	opts    []embedded.Option
	play    func(t *testing.T, e *inside)
}

// inside is the ensemble of such a scene.
type inside struct {
	*world
	leader, follower, third *embedded.Replica
	subject, next           *player
	suspended               atomic.Int64 // for how long the subject's machine was, in nanoseconds
}

// patientLink is a sync limit that no stall of a scene lasts for.
var patientLink = embedded.WithSyncLimit(1000)

// TestTouches plays every scene.
func TestTouches(t *testing.T) {
	t.Parallel()
	for _, scene := range touches() {
		t.Run(scene.name, func(t *testing.T) {
			t.Logf("required: %s", scene.outcome)
			synctest.Test(t, func(t *testing.T) { scene.play(t, enter(t, scene.opts...)) })
		})
	}
}

func touches() (all []touching) {
	for _, down := range []bool{true, false} {
		all = append(all, stalls(down)...)
	}
	all = append(all, deaths...)
	all = append(all, pauses...)
	all = append(all, connections...)
	return append(all, suspensions()...)
}

// enter opens the clients. Both know the lock path, and the subject's lease no longer rests on its
// connect request.
func enter(t *testing.T, opts ...embedded.Option) *inside {
	t.Helper()
	e := &inside{world: newWorld(t, 3, opts...)}
	e.leader, e.follower, e.third = e.server.Replica(0), e.server.Replica(1), e.server.Replica(2)
	require.Same(t, e.leader, e.server.Leader())
	e.third.Refuse(true)
	e.next = e.join(t, e.leader.Addr()+","+e.third.Addr(), locks.WithSessionTimeout(time.Minute))
	e.subject = e.join(t, e.follower.Addr()+","+e.third.Addr(),
		locks.WithSuspendedTime(func() time.Duration { return time.Duration(e.suspended.Load()) }))
	for _, p := range []*player{e.subject, e.next} {
		lease, err := p.client.Mutex(lockPath).Lock(patient(t))
		require.NoError(t, err)
		require.NoError(t, lease.Unlock(patient(t)))
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
	beat, err := e.server.Inject(embedded.Fault{Op: embedded.OpMulti, Path: lockPath + "/" + lease.Node()})
	require.NoError(t, err)
	require.NoError(t, beat.Wait(patient(t)))
	time.Sleep(timeout/6 - tick/10)
	return lease
}

// stall stalls one direction of the link between the leader and the subject's follower.
func (e *inside) stall(down bool) {
	if down {
		e.leader.StallTo(e.follower)
	} else {
		e.follower.StallTo(e.leader)
	}
}

func (e *inside) heal() {
	e.leader.HealTo(e.follower)
	e.follower.HealTo(e.leader)
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
	require.NoError(t, lease.Unlock(patient(t)))
	after := other.hold(t)
	require.Greater(t, after.Token(), lease.Token())
	require.NoError(t, after.Unlock(patient(t)))
	time.Sleep(timeout + 2*tick)
	require.Empty(t, e.children(t))
}

// losesInTime waits until the subject has lost its lock and the next has it, which must come in
// this order.
func (e *inside) losesInTime(t *testing.T) {
	t.Helper()
	lease := e.subject.lease
	next := e.next.hold(t)
	require.False(t, lease.Valid(), "the next was let in first")
	require.Greater(t, next.Token(), lease.Token())
	lost := e.subject.await(t, messages.StateLost)
	require.Equal(t, messages.ReasonLeaseOver, lost.Reason)
	require.LessOrEqual(t, lost.At, e.next.await(t, messages.StateHeld).At)
	require.ErrorIs(t, lease.Unlock(patient(t)), locks.ErrLost)
}

// comesBack has the subject's client ask once more, which it may as soon as all is well.
func (e *inside) comesBack(t *testing.T) {
	t.Helper()
	again := newPlayer(t, e.subject.client, lockPath)
	again.wait(t)
	e.concludes(t, e.next, again)
}

// stalls: one direction of the quorum link stalls.
func stalls(down bool) (all []touching) {
	direction := map[bool]string{true: "leader-to-follower", false: "follower-to-leader"}[down]
	add := func(name, outcome string, play func(*testing.T, *inside), opts ...embedded.Option) {
		all = append(all, touching{direction + "/" + name, outcome, opts, play})
	}
	add("stalls-for-0.2T", "the heartbeat has no answer for a while: suspended, and the holder holds on", func(t *testing.T, e *inside) {
		e.holding(t)
		e.stall(down)
		time.Sleep(timeout / 5)
		e.heal()
		time.Sleep(timeout)
		e.states(t, stCreating, stHeld, stRecovering, stHeld)
		e.concludes(t, e.subject, e.next)
	}, patientLink)
	for _, part := range []time.Duration{5, 10, 15, 20, 30} { // tenths of T
		add(fmt.Sprintf("stalls-for-%v.%vT", int(part/10), int(part%10)),
			"suspended, then Lost by the deadline, before the servers let the next in", func(t *testing.T, e *inside) {
				e.holding(t)
				e.stall(down)
				time.Sleep(timeout * part / 10)
				e.states(t, stCreating, stHeld, stRecovering, stLost)
				e.heal()
				e.losesInTime(t)
				e.comesBack(t)
			}, patientLink)
	}
	add("outlasts-the-sync-limit", "the follower drops its clients; the subject has lost by then, and goes on elsewhere",
		func(t *testing.T, e *inside) {
			e.holding(t)
			e.third.Refuse(false)
			e.stall(down)
			e.losesInTime(t)
			e.comesBack(t)
		})
	for _, idle := range []time.Duration{30, 50, 55, 60, 64, 90} { // hundredths of T
		add(fmt.Sprintf("asks-after-0.%dT", idle), "a session that was idle is granted nothing whose end the leader may have fixed already",
			func(t *testing.T, e *inside) {
				e.stall(down)
				time.Sleep(timeout * idle / 100)
				e.subject.ask(t)
				time.Sleep(tick / 100)
				e.next.ask(t)
				next := e.next.hold(t) // at once, or when the subject's session has expired
				e.heal()
				for range 1000 {
					require.Empty(t, e.subject.got, "two holders")
					time.Sleep(tick / 1000)
				}
				require.True(t, next.Valid())
				e.subject.await(t, stWatching)
				e.concludes(t, e.next, e.subject)
			}, patientLink)
	}
	return all
}
