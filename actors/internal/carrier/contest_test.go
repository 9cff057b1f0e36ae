package carrier

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestRemoveContest: the node goes with its guard, however the session finds that. Of a node that is gone the guard goes,
// and the node that somebody has made since stays, with its own.
func TestRemoveContest(t *testing.T) {
	const guid = "0d6f3f0e-3c5e-4a35-9c1f-0123456789ab"
	for name, c := range map[string]struct {
		unknown  bool // the session does not know the guard
		asked    bool // a revoke request has replaced the data
		unguard  bool // somebody has deleted the guard by itself
		deleted  bool // somebody has deleted the node by itself
		replaced bool // and the session has made another
	}{
		"known":                                   {},
		"as the data say":                         {unknown: true},
		"searched":                                {unknown: true, asked: true},
		"without a guard":                         {unguard: true},
		"without a guard, unknown":                {unknown: true, unguard: true},
		"without a guard, searched":               {unknown: true, asked: true, unguard: true},
		"a guard without a node":                  {deleted: true},
		"a guard without a node, searched":        {unknown: true, deleted: true},
		"a guard beside another node":             {deleted: true, replaced: true},
		"a guard beside another node, searched":   {unknown: true, deleted: true, replaced: true},
		"nothing is left beside another node":     {deleted: true, replaced: true, unguard: true},
		"nothing is left, searched, of the other": {unknown: true, deleted: true, replaced: true, unguard: true},
	} {
		for parent, under := range map[string]string{"below": "/a", "below the root": ""} {
			t.Run(name+"/"+parent, func(t *testing.T) {
				_, k, stranger := sessions(t)
				made := func(create uint64) (zkconn.Created, string) {
					guard := queue.GuardName("c", guid, create)
					made, err := k.Conn.CreateGuarded(under, "c", guard, contestData(specOf(guid, messages.Contest, under+"/c"), 0, guard))
					require.NoError(t, err)
					return made, guard
				}
				exists := func(path string) bool {
					_, exists, err := k.Conn.Exists(path)
					require.NoError(t, err)
					return exists
				}
				node, guard := made(1)
				if c.asked {
					require.NoError(t, stranger.SetData(under+"/c", []byte(queue.RevokeRequest)))
				}
				if c.unguard {
					require.NoError(t, stranger.Delete(under+"/"+guard))
				}
				if c.deleted {
					require.NoError(t, stranger.Delete(under+"/c"))
				}
				others := ""
				if c.replaced {
					_, others = made(2)
				}
				q := &coordinator.RemoveContest{Path: under + "/c", Guard: guard, Czxid: node.Czxid}
				if c.unknown {
					q.Guard = ""
				}
				failure := k.CarryOut(q).(*coordinator.Ack).Failure
				if c.deleted && !c.replaced {
					require.Equal(t, coordinator.NoNode, failure.Cause)
				} else {
					require.Zero(t, failure)
				}
				require.Equal(t, c.replaced, exists(under+"/c"))
				require.False(t, exists(under+"/"+guard))
				require.True(t, others == "" || exists(under+"/"+others))
			})
		}
	}
}
