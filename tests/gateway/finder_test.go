package gateway

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// finder finds one of the gateways of an office, or none each third time.
type finder struct {
	*office
	finds, asked, again atomic.Int32
}

func (f *finder) find(_ context.Context, _ string, again bool) *actor.PID {
	if again {
		f.again.Add(1)
	}
	time.Sleep(100 * time.Millisecond) // as a cluster may take
	if f.asked.Add(1)%3 == 1 {
		return nil
	}
	return f.pids[f.finds.Load()]
}

// TestFinder: a request stays with the gateway that has accepted it, even where the finder finds
// another one meanwhile. When that gateway is gone, locks held there are lost, and waiters go to
// the gateway that is found then. A finder that finds nothing is asked again.
func TestFinder(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		f := &finder{office: o}
		client := o.over(gateway.Find(f.find))
		lease, other := scene.Locked(t, client.Mutex("/found").Lock), scene.Locked(t, client.Mutex("/other").Lock)
		next := scene.Elsewhere(t.Context(), client.Mutex("/found").Lock)
		time.Sleep(time.Minute)
		f.finds.Store(1)
		time.Sleep(time.Hour)
		require.True(t, lease.Valid(), "it has stayed with the first")
		scene.GiveBack(t, other)
		before := f.again.Load()
		stopped(t, o.system, o.pids[0])
		scene.AwaitLost(t, lease)
		got := <-next
		require.NoError(t, got.Err)
		require.Greater(t, got.Lease.Token(), lease.Token())
		require.Greater(t, f.again.Load(), before)
		scene.GiveBack(t, got.Lease)
	})
}

// TestFinderAndDowngrade: a downgrade goes to the gateway by which the writer holds, even where
// another one is found for others by now.
func TestFinderAndDowngrade(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		f := &finder{office: o}
		at := gateway.Find(f.find)
		writer := o.asksAt(at, messages.Acquire{Path: "/prices", Mode: messages.Write})
		held := writer.reach(messages.StateHeld)
		f.finds.Store(1)
		downgrade := messages.Acquire{Path: "/prices", Mode: messages.Read, Beside: held.Node}
		reader := o.asksAt(at, downgrade)
		read := reader.reach(messages.StateHeld)
		require.Equal(t, held.Token, read.Token)
		require.Equal(t, held.Session, read.Session)
		writer.release()
		require.Equal(t, messages.ReasonHoldGone, o.asksAt(at, downgrade).reach(messages.StateFailed).Reason)
		reader.release()
	})
}
