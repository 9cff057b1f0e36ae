package activation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/term"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestContextEndsWithTheStep: the actor's goroutine tells that the actor has ended, and then stands still. Meanwhile the
// lock actor tells of the loss, and deletes its node. The lease of the actor is over by then, for goroutines that the
// actor has left behind.
func TestContextEndsWithTheStep(t *testing.T) {
	clock := zkconn.NewLeaseClock(nil)
	clock.Extend(time.Now().Add(time.Hour))
	number, _ := clock.Term()
	g := &gate{m: term.Machine{Policy: term.Activation}}
	g.step(term.Event{Kind: term.Begin}, nil)
	g.lease = newLease(&messages.Held{Term: number}, clock)
	g.step(term.Event{Kind: term.Held, Valid: true}, nil)
	require.True(t, g.held().Valid())

	g.step(term.Event{Kind: term.Stop}, nil) // what is left to do is not done yet
	g.Moved(messages.StateReleasing, "")
	require.False(t, g.held().Valid())
	require.Error(t, g.held().Context().Err())
}
