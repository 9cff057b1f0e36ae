package sasl

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Connections that are lost, and sessions that end.
func TestReconnects(t *testing.T) {
	tell(t, []story{
		{"a holder keeps its lock, and a waiter its place", keepsItsPlace},
		{"the next session", nextSession},
		{"before the server has the first token", func(t *testing.T, at *place) { dropped(t, at, rig.CutBefore, 1) }},
		{"before the server has the tokens", func(t *testing.T, at *place) { dropped(t, at, rig.CutBefore, 5) }},
		{"when its answer is lost", func(t *testing.T, at *place) { dropped(t, at, rig.DropReply, 3) }},
		{"in the exchange of a holder", droppedWhileHeld},
	})
}

func keepsItsPlace(t *testing.T, at *place) {
	proxy := at.Proxy(t)
	client := mine(t, proxy.Addr()+at.Root())
	rec := recorder(t, client)
	holder := patient.Locked(t, client.Mutex("/mine", locks.WithObserver(rec.PID())).Lock)
	second := queue(t, mine(t, at.Connect()), "/mine")
	for range 3 {
		before, held := proxy.Requests(rig.OpSASL), times(rec, messages.StateHeld)
		proxy.Cut()
		_, err := rec.AwaitNth(deadline(t), messages.StateHeld, held+1)
		require.NoError(t, err)
		eventually(t, func() bool { return proxy.Requests(rig.OpSASL) >= before+2 }, "it never authenticated again")
		require.True(t, holder.Valid())
	}
	unlock(t, holder)
	unlock(t, second.Granted(t))
}

// times counts how often a request went into a state: a machine that stands still adds some.
func times(rec *actorstest.Recorder, state messages.State) (n int) {
	for _, s := range rec.States() {
		if s == state {
			n++
		}
	}
	return n
}

func nextSession(t *testing.T, at *place) {
	proxy := at.Proxy(t)
	client := mine(t, proxy.Addr()+at.Root())
	holder := lock(t, client, "/mine")
	second := queue(t, client, "/mine")
	before := proxy.Requests(rig.OpSASL)
	id, password, ok := proxy.Session()
	require.True(t, ok)

	proxy.Refuse(true) // so that the client cannot come back before the session has ended
	proxy.Cut()
	cfg, err := zkconn.NewConfig(at.Hosts(), zkconn.WithSASL(digest(t, "alice", passwords["alice"])))
	require.NoError(t, err)
	existed, err := zkconn.CloseSession(deadline(t), cfg, at.Hosts(), id, password)
	require.NoError(t, err)
	require.True(t, existed)
	proxy.Refuse(false)

	patient.Receive(t, holder.Context().Done())
	require.ErrorIs(t, context.Cause(holder.Context()), locks.ErrLost)
	lease := second.Granted(t)
	require.NotEqual(t, id, client.Session().ID())
	require.Greater(t, proxy.Requests(rig.OpSASL), before)
	require.Greater(t, lease.Token(), holder.Token())
	unlock(t, lease)
}

// dropped loses the first requests of exchanges, or their answers.
func dropped(t *testing.T, at *place, action rig.Action, count int) {
	proxy := at.Proxy(t)
	fault := proxy.Expect(rig.Rule{Op: rig.OpSASL, Action: action, Count: count})
	client := mine(t, proxy.Addr()+at.Root())
	patient.Receive(t, fault.Fired())
	unlock(t, lock(t, client, "/mine"))
}

func droppedWhileHeld(t *testing.T, at *place) {
	proxy := at.Proxy(t)
	client := mine(t, proxy.Addr()+at.Root())
	rec := recorder(t, client)
	holder := patient.Locked(t, client.Mutex("/mine", locks.WithObserver(rec.PID())).Lock)
	for n, action := range []rig.Action{rig.CutBefore, rig.DropReply} {
		fault := proxy.Expect(rig.Rule{Op: rig.OpSASL, Action: action, Count: 2})
		proxy.Cut()
		patient.Receive(t, fault.Fired())
		_, err := rec.AwaitNth(deadline(t), messages.StateHeld, n+2)
		require.NoError(t, err)
	}
	require.True(t, holder.Valid())
	unlock(t, holder)
}

// The second request of an exchange, which carries the proof, is lost, or its answer.
func TestSecondTokenIsLost(t *testing.T) {
	for name, action := range map[string]embedded.Action{
		"before": embedded.CutBefore, "after": embedded.CutAfter, "reply": embedded.DropReply,
	} {
		t.Run(name, func(t *testing.T) {
			for attempt := 0; !keptThrough(t, action); attempt++ {
				require.Less(t, attempt, 5, "the lease does not outlive it")
			}
		})
	}
}

// keptThrough is false where the lease ended meanwhile: on a machine that stood still for too long.
func keptThrough(t *testing.T, action embedded.Action) bool {
	t.Helper()
	s := embedded.Run(t, embedded.WithSASL(passwords), embedded.WithSASLRequired())
	client := mine(t, s.Addr(), locks.WithSessionTimeout(6*time.Second)) // a third of it for an answer that never comes
	holder := lock(t, client, "/mine")
	id := client.Session().ID()
	fault, err := s.Inject(embedded.Fault{Op: embedded.OpSASL, Skip: 1, Count: 1, Action: action})
	require.NoError(t, err)
	_, err = s.Inject(embedded.Fault{Op: embedded.OpPing, Count: 1, Action: embedded.CutBefore})
	require.NoError(t, err)
	require.NoError(t, fault.Wait(deadline(t)))
	if err := lock(t, client, "/other").Unlock(deadline(t)); !errors.Is(err, locks.ErrLost) {
		require.NoError(t, err)
	}
	err = holder.Unlock(deadline(t))
	if errors.Is(err, locks.ErrLost) {
		return false
	}
	require.NoError(t, err)
	require.Equal(t, id, client.Session().ID())
	return true
}

// Each member of an ensemble is authenticated with, by the same session, as members die and come back.
func TestRealMembersDie(t *testing.T) {
	e := rig.StartEnsemble(t, 3, rig.WithJAAS(rig.DigestJAAS(passwords)),
		rig.WithConfig("sessionRequireClientSASLAuth", "true"))
	client := mine(t, e.Addrs(), locks.WithSessionTimeout(time.Minute)) // longer than elections take
	rec := recorder(t, client)
	holder := patient.Locked(t, client.Mutex("/mine", locks.WithObserver(rec.PID())).Lock)
	second := queue(t, mine(t, e.Addrs()), "/mine")
	for _, member := range e.Members() {
		require.NoError(t, member.Kill())
		require.NoError(t, member.Restart(deadline(t)))
		_, err := e.Leader(deadline(t))
		require.NoError(t, err)
	}
	eventually(t, holder.Valid, "the lease never runs again")
	require.NoError(t, context.Cause(holder.Context()), "and has never been lost")
	unlock(t, holder)
	unlock(t, second.Granted(t))
}
