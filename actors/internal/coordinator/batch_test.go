package coordinator

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// crowd has many requests ask for nodes of one lock path at the same time. It gives the transactions that are sent.
type crowd struct {
	*Coordinator
	t    *testing.T
	last RequestID
}

// newCrowd makes a session that knows its lock path, so that creates may share a transaction.
func newCrowd(t *testing.T) *crowd {
	bounds := DefaultBounds()
	bounds.Waiting = 2 * maxTogether
	c := &crowd{Coordinator: New(0, sessionTimeout, bounds), t: t}
	c.Apply(Connected{sessionTimeout}, At{})
	c.epoch.pathOf("/p").info = Info{Exists: true}
	return c
}

// ask has so many more requests create a node, each with a label of so many bytes.
func (c *crowd) ask(many, label int) (sent []Query) {
	for range many {
		c.last++
		want := &messages.Acquire{Path: "/p", Label: strings.Repeat("x", label)}
		for _, out := range c.Apply(&Order{Request: c.last, Spec: NewSpec(want, "guid", "", false, time.Time{}),
			Effect: machine.Effect{Do: machine.Create, Op: 1}}, At{}) {
			if ask, ok := out.(*Ask); ok {
				sent = append(sent, ask.Query)
			}
		}
		require.NoError(c.t, c.Check())
	}
	return sent
}

func (c *crowd) creates(sent Query) int {
	if commit, ok := sent.(*Commit); ok {
		return len(commit.Creates)
	}
	return 1
}

// TestEnoughForAnother: while a transaction is under way another is sent when there is enough for it, up to a few.
func TestEnoughForAnother(t *testing.T) {
	c := newCrowd(t)
	require.Len(t, c.ask(1, 0), 1, "the first is sent at once")
	require.Empty(t, c.ask(enough-1, 0))
	for range maxUnderway - 1 {
		sent := c.ask(1, 0)
		require.Len(t, sent, 1)
		require.Equal(t, enough, c.creates(sent[0]))
		require.Empty(t, c.ask(enough-1, 0))
	}
	require.Empty(t, c.ask(2*enough, 0))
	require.Equal(t, maxUnderway, c.epoch.batch.underway)
}

// TestTransactionsAreBounded by operations and by bytes.
func TestTransactionsAreBounded(t *testing.T) {
	for name, tt := range map[string]struct{ many, label, together int }{
		"operations": {maxTogether + 10, 0, maxTogether},
		"bytes":      {10, maxBytes / 2, 1}, // two would be more than fit
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrowd(t)
			c.epoch.batch.underway = maxUnderway
			require.Empty(t, c.ask(tt.many, tt.label))
			c.epoch.batch.underway = 0
			c.out = nil
			c.flush()
			require.Equal(t, tt.together, c.creates(c.out[0].(*Ask).Query))
			require.Len(t, c.epoch.batch.waiting, tt.many-tt.together)
		})
	}
}

// TestLocalRunsAreBounded: creates that are delayed while the session waits behind another one are sent when there is
// enough for a transaction.
func TestLocalRunsAreBounded(t *testing.T) {
	c := newCrowd(t)
	q := c.epoch.pathOf("/p").queueOf(&Spec{})
	q.run.remote = 1
	require.Empty(t, c.ask(enough-1, 0))
	require.Len(t, q.run.creates, enough-1)
	sent := c.ask(1, 0)
	require.Len(t, sent, 1)
	require.Equal(t, enough, c.creates(sent[0]))
	require.Empty(t, q.run.creates)
	require.Zero(t, q.run.timer)
}
