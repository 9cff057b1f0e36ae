package locks

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lostMeanwhile is the context of a lease that is lost between the first look at it and what
// follows from that.
type lostMeanwhile struct {
	context.Context
	looked atomic.Bool
	lose   func()
}

func (c *lostMeanwhile) Err() error {
	if c.looked.Swap(true) {
		return c.Context.Err()
	}
	c.lose()
	return nil
}

// The loss is the last change, also where it comes while another change is about to be told, as
// with the timer of WithMaxHold.
func TestLossIsToldLast(t *testing.T) {
	told, lost := make(chan ChangeKind, 10), make(chan struct{})
	l := &Lease{from: &lock{client: &Client{changes: newChanges(nil)}, lockSettings: lockSettings{onChange: func(c Change) {
		told <- c.Kind
		if c.Kind == Lost {
			close(lost)
		}
	}}}}
	ctx, cancel := context.WithCancelCause(t.Context())
	l.ctx = ctx
	l.tellLoss()
	l.ctx = &lostMeanwhile{Context: ctx, lose: func() {
		cancel(ErrMaxHold)
		select {
		case <-lost: // it was told in between
		case <-time.After(100 * time.Millisecond): // it waits
		}
	}}
	l.changed(Suspended, time.Time{})
	<-lost
	require.Equal(t, Suspended, <-told)
	require.Equal(t, Lost, <-told)
	require.Empty(t, told)

	l.ctx = ctx
	l.changed(Resumed, time.Time{})
	l.from.client.changes.Tell(func() { told <- "end" })
	require.Equal(t, ChangeKind("end"), <-told)
}
