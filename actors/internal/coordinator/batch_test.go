package coordinator

import (
	"fmt"
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
	c := &crowd{Coordinator: New(0, sessionTimeout, bounds, 0), t: t}
	c.Apply(Connected{sessionTimeout}, At{})
	c.epoch.pathOf("/p").info = Info{Exists: true}
	return c
}

// ask has so many more requests create a node, each with a label of so many bytes.
func (c *crowd) ask(many, label int) (sent []Query) {
	for range many {
		c.last++
		want := &messages.Acquire{Path: "/p", Label: strings.Repeat("x", label)}
		for _, out := range c.Apply(&Order{Request: c.last, Spec: NewSpec(want, "guid", "", time.Time{}),
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

// giveBack has so many requests make their nodes, hold one after the other and give back. All of
// their deletes need the node of the next holder; they wait to be sent.
func (c *crowd) giveBack(many int) (next string) {
	first := c.last + 1
	c.ask(many+1, 0)
	c.epoch.batch.waiting = nil
	name := func(id RequestID) string { return fmt.Sprintf("_c_guid-lock-%010d", id) }
	for id := first; id <= c.last; id++ {
		token, err := messages.NewToken(int64(id), 0)
		require.NoError(c.t, err)
		c.have(c.requests[id], name(id), int32(id), token)
	}
	for id := first; id < c.last; id++ {
		r := c.requests[id]
		r.node.phase = deleting
		r.node.successor = c.requests[id+1].node
		c.submit(change{operation{id, 2}, r.node.name})
	}
	return name(c.last)
}

// TestDeletesThatNeedAnother: in one transaction with creates they could be refused, and the creates with them, when one
// that is sent later is carried out earlier. Where there is one transaction they all share it.
func TestDeletesThatNeedAnother(t *testing.T) {
	for name, tt := range map[string]struct{ deletes, creates, sent int }{
		"one transaction": {enough/2 - 1, enough / 2, 1},
		"several":         {enough, enough, 2},
		"several of one":  {maxTogether, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrowd(t)
			c.epoch.batch.underway = maxUnderway
			next := c.giveBack(tt.deletes)
			require.Empty(t, c.ask(tt.creates, 0))
			c.epoch.batch.underway = 0
			c.out = nil
			c.flush()
			var sent []Commit
			for _, out := range c.out {
				commit := out.(*Ask).Query.(*Commit)
				sent = append(sent, Commit{Creates: make([]NewNode, len(commit.Creates)), Deletes: make([]string, len(commit.Deletes)),
					Exist: commit.Exist})
			}
			creates, deletes := make([]NewNode, tt.creates), make([]string, tt.deletes)
			need := []string{"/p/" + next}
			if tt.sent == 1 {
				require.Equal(t, []Commit{{creates, deletes, need}}, sent)
				return
			}
			require.Equal(t, []Commit{{creates, []string{}, nil}, {[]NewNode{}, deletes, need}}, sent)
		})
	}
}

// TestDeletesHaveTheirTurn: creates pass them a few times, and not for ever.
func TestDeletesHaveTheirTurn(t *testing.T) {
	c := newCrowd(t)
	c.epoch.batch.underway = maxUnderway
	c.giveBack(1)
	for range mayPass {
		require.Empty(t, c.ask(enough, 0))
		c.epoch.batch.underway = maxUnderway - 1
		c.out = nil
		c.flush()
		require.Len(t, c.out, 1)
		require.Empty(t, c.out[0].(*Ask).Query.(*Commit).Deletes)
	}
	require.Empty(t, c.ask(enough, 0))
	c.epoch.batch.underway = maxUnderway - 1
	c.out = nil
	c.flush()
	require.Len(t, c.out, 1)
	require.Len(t, c.out[0].(*Ask).Query.(*Commit).Deletes, 1)
	require.Zero(t, c.epoch.batch.passed)
}

// TestLocalRunsAreBounded: creates that are delayed while the session waits behind another one are sent when there is
// enough for a transaction.
func TestLocalRunsAreBounded(t *testing.T) {
	c := newCrowd(t)
	p := c.epoch.pathOf("/p")
	q := &ownQueue{path: p}
	p.queues = []*ownQueue{q}
	q.burst.remote = 1
	require.Empty(t, c.ask(enough-1, 0))
	require.Len(t, q.burst.creates, enough-1)
	sent := c.ask(1, 0)
	require.Len(t, sent, 1)
	require.Equal(t, enough, c.creates(sent[0]))
	require.Empty(t, q.burst.creates)
	require.Zero(t, q.burst.timer)
}
