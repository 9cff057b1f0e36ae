package carrier_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

const guid = "01234567-89ab-cdef-0123-456789abcdef"

// TestRemoveContest: the node goes with its guard. Of a node that is gone the guard goes, and the node that somebody has
// made since stays, with its own.
func TestRemoveContest(t *testing.T) {
	for name, c := range map[string]struct {
		asked    bool // a revoke request has replaced the data
		unguard  bool // somebody has deleted the guard by itself
		deleted  bool // somebody has deleted the node by itself
		replaced bool // and the session has made another
	}{
		"together":                          {},
		"asked for":                         {asked: true},
		"without a guard":                   {unguard: true},
		"a guard without a node":            {deleted: true},
		"a guard beside another node":       {deleted: true, replaced: true},
		"nothing is left beside another":    {deleted: true, replaced: true, unguard: true},
		"nothing is left":                   {deleted: true, unguard: true},
		"asked for and without a guard too": {asked: true, unguard: true},
	} {
		for parent, under := range map[string]string{"below": "/a", "below the root": ""} {
			t.Run(name+"/"+parent, func(t *testing.T) {
				_, k, stranger := sessions(t)
				made := func(guid string) (zkconn.Created, string) {
					spec := specOf(guid, messages.Contest, under+"/c")
					created := k.CarryOut(&coordinator.Create{Spec: spec, GUID: guid}).(*coordinator.Created)
					require.Zero(t, created.Failure)
					return zkconn.Created{Czxid: created.Node.Czxid}, spec.Guard(guid)
				}
				exists := func(path string) bool {
					_, exists, err := k.Conn.Exists(path)
					require.NoError(t, err)
					return exists
				}
				node, guard := made(guid)
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
					_, others = made(strings.Replace(guid, "01", "02", 1))
				}
				failure := k.CarryOut(&coordinator.RemoveContest{Path: under + "/c", Guard: under + "/" + guard, Czxid: node.Czxid}).(*coordinator.Ack).Failure
				if c.deleted {
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

// TestContestIsTaken: the one that comes second is told so, whoever has made the node.
func TestContestIsTaken(t *testing.T) {
	_, k, _ := sessions(t)
	spec := specOf(guid, messages.Contest, "/p/c")
	require.Zero(t, k.CarryOut(&coordinator.Create{Spec: spec, GUID: guid}).(*coordinator.Created).Failure)
	second := k.CarryOut(&coordinator.Create{Spec: spec, GUID: strings.Replace(guid, "01", "02", 1)}).(*coordinator.Created)
	require.Equal(t, coordinator.NodeExists, second.Failure.Cause)
	require.Empty(t, second.Node.Name)
}
