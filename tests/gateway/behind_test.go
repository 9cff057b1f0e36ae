package gateway

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// TestTimeoutsSayBehindWhomOverGateway: a Lock over a gateway that is given up knows whom it waited for: what the node before
// it says, whether that is of another session, or of the gateway's by another requester.
func TestTimeoutsSayBehindWhomOverGateway(t *testing.T) {
	t.Parallel()
	s := newStage(t, patient.Session)
	client, other := s.outside.client(t, s.pid), s.direct(t)
	second := newNode(t).client(t, s.pid)
	label := locks.WithLabel("nightly run")
	for name, c := range map[string]struct{ holder, waiter locks.Locker }{
		"another session":   {other.Mutex("/a", label), client.Mutex("/a")},
		"this requester":    {client.Mutex("/b", label), client.Mutex("/b")},
		"another requester": {second.Mutex("/c", label), client.Mutex("/c")},
		"a cohort":          {second.Mutex("/d", label, locks.WithCohort(9)), client.Mutex("/d", locks.WithCohort(9))},
		"a contest":         {other.Contest("/e", label), client.Contest("/e")},
		"a reader":          {other.RWMutex("/f", label).Reader(), client.RWMutex("/f")},
		"a writer":          {other.RWMutex("/g", label), client.RWMutex("/g").Reader()},
		"a permit":          {other.Semaphore("/h", 2, label).Weight(2), client.Semaphore("/h", 2).Weight(1)},
	} {
		t.Run(name, func(t *testing.T) {
			patient.RequireBehind(t, c.holder, c.waiter)
		})
	}
}

// TestWaitingSaysBehindWhomOverGateway: whom a Lock waits for is told while it waits, and again when it is another, or
// somebody asks for the lock. TestBehindOverGateway has requesters that share a node of the gateway's.
func TestWaitingSaysBehindWhomOverGateway(t *testing.T) {
	t.Parallel()
	s := newStage(t, patient.Session)
	client, other := s.outside.client(t, s.pid), s.direct(t)
	told := make(chan locks.Change, 16)
	waits := func(t *testing.T) messages.Contender {
		t.Helper()
		change := patient.Receive(t, told)
		require.Equal(t, locks.Waiting, change.Kind)
		return change.Behind
	}
	onChange := locks.WithOnChange(func(c locks.Change) { told <- c })
	label := locks.WithLabel("nightly run")
	for name, c := range map[string]struct{ holder, waiter locks.Locker }{
		"another session": {other.Mutex("/a", label), client.Mutex("/a", onChange)},
		"this requester":  {client.Mutex("/b", label), client.Mutex("/b", onChange)},
		"a cohort":        {client.Mutex("/c", label, locks.WithCohort(9)), client.Mutex("/c", onChange, label, locks.WithCohort(9))},
		"a contest":       {other.Contest("/d", label), client.Contest("/d", onChange)},
		"permits":         {other.Semaphore("/e", 2, label).Weight(2), client.Semaphore("/e", 2, onChange).Weight(1)},
	} {
		t.Run(name, func(t *testing.T) {
			held := patient.Locked(t, c.holder.Lock)
			got := patient.Elsewhere(patient.Deadline(t), c.waiter.Lock)
			behind := waits(t)
			require.Equal(t, held.Node(), behind.Node)
			require.Equal(t, "nightly run", behind.Label)
			require.NotEmpty(t, behind.Host)
			patient.GiveBack(t, held)
			patient.GiveBack(t, patient.Receive(t, got).Lease)
			require.Empty(t, told)
		})
	}
	t.Run("anew", func(t *testing.T) {
		held := patient.Locked(t, other.Mutex("/anew", locks.WithLabel("holder")).Lock)
		ctx, leave := context.WithCancel(patient.Deadline(t))
		rec := patient.Recorder(t, other)
		middle := patient.Elsewhere(ctx, other.Mutex("/anew", locks.WithLabel("middle"), patient.ObservedBy(rec)).Lock)
		patient.Await(t, rec, messages.StateWatching)
		got := patient.Elsewhere(patient.Deadline(t), client.Mutex("/anew", onChange).Lock)
		require.Equal(t, "middle", waits(t).Label)
		leave()
		require.ErrorIs(t, patient.Receive(t, middle).Err, context.Canceled)
		require.Equal(t, held.Token(), waits(t).Token)
		_, err := other.Revoke(patient.Deadline(t), "/anew")
		require.NoError(t, err)
		require.True(t, waits(t).Asked)
		patient.GiveBack(t, held)
		patient.GiveBack(t, patient.Receive(t, got).Lease)
		require.Empty(t, told)
	})
}

// TestBehindOverGateway: the observers of a lock actor over a gateway are told whom it waits for, where the gateway's requesters
// share a node, too.
func TestBehindOverGateway(t *testing.T) {
	for name, opts := range map[string][]gateway.Option{"alone": nil, "a cohort": {gateway.WithCohort(9)}} {
		t.Run(name, func(t *testing.T) {
			inOffice(t, func(o *office) {
				t := o.t
				held := o.lock(t.Context(), o.clients[0].Mutex("/late", locks.WithLabel("holder")))
				observed := actorstest.Observed(o.at)
				lock := o.system.Root.Spawn(actors.NewLock(observed, messages.Acquire{Path: "/late"}))
				first, err := observed.Await(t.Context(), "/late")
				require.NoError(t, err)
				behind, err := actorstest.AwaitNotice[*messages.Behind](t.Context(), first)
				require.NoError(t, err)
				require.Equal(t, held.Token(), behind.Contender.Token)
				require.Equal(t, "holder", behind.Contender.Label)
				late := actorstest.NewRecorder(o.system)
				late.Observe(lock)
				again, err := actorstest.AwaitNotice[*messages.Behind](t.Context(), late)
				require.NoError(t, err)
				require.Equal(t, behind, again)
				require.NoError(t, held.Unlock(t.Context()))
				_, err = actorstest.AwaitNotice[*messages.Held](t.Context(), late)
				require.NoError(t, err)
				require.Len(t, first.Notices(), 2)
				o.system.Root.Send(lock, &messages.Release{})
				_, err = actorstest.AwaitNotice[*messages.Released](t.Context(), late)
				require.NoError(t, err)
			}, opts...)
		})
	}
}
