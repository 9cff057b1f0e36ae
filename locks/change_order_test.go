package locks

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLossIsToldLast: the loss is the last change, also where it comes while another change is about
// to be told, as with the timer of WithMaxHold.
func TestLossIsToldLast(t *testing.T) {
	told := make(chan ChangeKind, 10)
	for range 100 {
		l := &Lease{from: &lock{client: &Client{changes: newChanges(nil)}, lockSettings: lockSettings{onChange: func(c Change) {
			told <- c.Kind
		}}}}
		var both sync.WaitGroup
		both.Go(func() { l.changed(Suspended, time.Time{}) })
		both.Go(func() { l.end(ErrMaxHold) })
		both.Wait()
		l.changed(Resumed, time.Time{})
		l.from.client.changes.Tell(func() { told <- "end" })
		first := <-told
		if first == Suspended {
			first = <-told
		}
		require.Equal(t, Lost, first)
		require.Equal(t, ChangeKind("end"), <-told)
	}
}
