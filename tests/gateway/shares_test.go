package gateway

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestSharedHold: over a gateway the owner of a hold is told what it needs to let others have it, as
// by a lock actor of its own process, and a waiter behind how many it waits. A silence of the gateway
// makes void what the owner has asked for.
func TestSharedHold(t *testing.T) {
	inOffice(t, func(t *testing.T, o *office) {
		other := o.clients[1]
		before := scene.Locked(t, other.Mutex("/shared").Lock)
		s := o.asks(messages.Acquire{Path: "/shared", TellMore: true})
		require.Equal(t, 1, s.hears().(*messages.Waiting).Before)
		scene.GiveBack(t, before)
		held := s.hears().(*messages.Held)
		grant := held.Grant
		require.Equal(t, messages.MaxPlace, held.Places)
		watched := &messages.Watched{Grant: grant, Readable: true}
		require.Equal(t, watched, s.hears())
		s.send(&messages.Check{})
		require.Equal(t, &messages.Checked{Grant: grant}, s.hears())
		s.send(messages.WatchContention{})
		s.quiet(time.Hour)

		o.silent[0].Store(true)
		begun := time.Now()
		s.send(&messages.Check{}) // nobody hears it
		require.IsType(t, &messages.Suspended{}, s.hears())
		require.LessOrEqual(t, time.Since(begun), scene.Session/3)
		s.send(&messages.Check{})
		o.silent[0].Store(false)
		require.IsType(t, &messages.Resumed{}, s.hears())
		require.Equal(t, watched, s.hears())
		s.quiet(time.Minute)
		s.send(messages.Check{})
		require.Equal(t, &messages.Checked{Grant: grant}, s.hears())

		waiting := scene.Elsewhere(t.Context(), other.Mutex("/shared").Lock)
		s.quiet(time.Minute) // the ask of before the silence is void
		s.send(&messages.WatchContention{})
		require.Equal(t, &messages.Contended{Grant: grant}, s.hears())

		begun = time.Now()
		require.NoError(t, other.Break(t.Context(), scene.QueueOf(t, other, "/shared")[0]))
		require.Equal(t, messages.ReasonNodeDeleted, s.hears().(*messages.Lost).Reason)
		require.Less(t, time.Since(begun), time.Second)
		got := <-waiting
		require.NoError(t, got.Err)
		scene.GiveBack(t, got.Lease)
	})
}
