package carrier

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestSaysAgain: beside a revoke request a holder writes what its node said, where the request has overwritten that. In a
// contest it does so, too, where the request tells of the holder before. It never writes to a node that has become
// another's, which its czxid shows.
func TestSaysAgain(t *testing.T) {
	const czxid = 7
	says := func(mode messages.Mode, label string) coordinator.NewNode {
		return coordinator.NewNode{Place: 2, Spec: coordinator.NewSpec(
			&messages.Acquire{Path: "/a/b", Mode: mode, Label: label}, "guid", "actor", time.Unix(0, 0))}
	}
	data := func(n coordinator.NewNode) []byte {
		return ownerData(n.Spec, n.Place, n.GUID)
	}
	queued, contest, before := says(messages.Exclusive, "now"), says(messages.Contest, "now"), says(messages.Contest, "before")
	contest.GUID = "its"
	otherGuard := contest
	otherGuard.GUID = "that of the node before"
	for name, c := range map[string]struct {
		says  coordinator.NewNode
		data  []byte
		czxid int64
		again bool
	}{
		"nobody asks":                      {queued, data(queued), czxid, false},
		"Turnstile asks":                   {queued, queue.Asked(data(queued)), czxid, false},
		"Curator asks":                     {queued, []byte(queue.CuratorRevokeRequest), czxid, true},
		"a recipe asks":                    {queued, []byte(queue.RevokeRequest), czxid, true},
		"nobody asks in a contest":         {contest, data(contest), czxid, false},
		"a contest's holder is asked":      {contest, queue.Asked(data(contest)), czxid, false},
		"Curator asks a contest's holder":  {contest, []byte(queue.CuratorRevokeRequest), czxid, true},
		"the holder before was asked":      {contest, queue.Asked(data(before)), czxid, true},
		"the guard is another's":           {contest, queue.Asked(data(otherGuard)), czxid, true},
		"another's node, overwritten":      {contest, []byte(queue.RevokeRequest), czxid + 1, false},
		"another's node, asked":            {contest, queue.Asked(data(before)), czxid + 1, false},
		"a queue's node by another's name": {queued, queue.Asked(data(says(messages.Exclusive, "another"))), czxid, false},
	} {
		t.Run(name, func(t *testing.T) {
			said := saysAgain(&coordinator.ReadOwn{Says: c.says, Czxid: czxid}, c.data, c.czxid)
			if !c.again {
				require.Nil(t, said)
				return
			}
			require.Equal(t, queue.Asked(data(c.says)), said)
			require.True(t, queue.IsRevokeRequest(said), "the request stays")
			owner, ours := queue.ParseOwner(said)
			require.True(t, ours)
			require.Equal(t, "now", owner.Label)
			if c.says.Spec.One != "" {
				require.Equal(t, c.says.Spec.Guard(c.says.GUID), owner.Guard)
			}
		})
	}
}
