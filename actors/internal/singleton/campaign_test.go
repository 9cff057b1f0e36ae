package singleton

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestTermEndsByTheClock: the context of a term ends at the deadline, though nobody tells of it.
func TestTermEndsByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := zkconn.NewLeaseClock(nil)
		clock.Extend(time.Now().Add(10 * time.Second))
		number, _ := clock.Term()
		term := newTerm(&messages.Held{Term: number}, clock)
		time.Sleep(10*time.Second - 1)
		require.NoError(t, term.Context.Err())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.ErrorIs(t, context.Cause(term.Context), ErrLost)
		require.False(t, term.Valid())
	})
}
