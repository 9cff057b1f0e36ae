package carrier

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

const guid = "01234567-89ab-cdef-0123-456789abcdef"

// ring is a contest, /p/c, whose node a request of this session has made.
type ring struct {
	*testing.T
	Carrier
	spec  *coordinator.Spec
	guard string
	czxid int64
}

func newRing(t *testing.T) *ring {
	t.Helper()
	_, k, _ := sessions(t)
	r := &ring{T: t, Carrier: k, spec: specOf(guid, messages.Contest, "/p/c")}
	r.guard = queue.GuardName("c", guid, 1)
	made, is := r.CarryOut(&coordinator.Create{Spec: r.spec, Guard: r.guard}).(*coordinator.Created)
	require.True(t, is)
	require.Zero(t, made.Failure)
	r.czxid = made.Node.Czxid
	return r
}

// write replaces the data of the node.
func (r *ring) write(data []byte) {
	r.Helper()
	_, err := r.Conn.Write("/p/c", data)
	require.NoError(r, err)
}

func (r *ring) children() []string {
	r.Helper()
	children, err := r.Conn.Children("/p")
	require.NoError(r, err)
	return children
}

// askedBefore gives data that a revoke request for the holder before this one has left in its node: see queue.Asked.
func askedBefore() []byte {
	return queue.Asked(queue.Owner{Host: "there", Mode: messages.Contest.String(), ID: "another", Guard: queue.GuardName("c", guid, 9)}.Encode())
}

// TestContestSearchedByAnothersData: a revoke request that was meant for the holder before names the guard of that one.
// The search believes none of it: the guard stays beside its node, and the removal finds it, also where an operator
// has deleted the node.
func TestContestSearchedByAnothersData(t *testing.T) {
	for name, deleted := range map[string]bool{"the node is there": false, "the node is deleted": true} {
		t.Run(name, func(t *testing.T) {
			r := newRing(t)
			r.write(askedBefore())
			found, is := r.CarryOut(&coordinator.Find{Spec: r.spec, GUID: guid, Guard: r.guard}).(*coordinator.Found)
			require.True(t, is)
			require.Equal(t, &coordinator.Found{One: &coordinator.OneNode{Ours: true, Czxid: r.czxid}}, found)
			require.Len(t, r.children(), 2)
			if deleted {
				require.NoError(t, r.Conn.Delete("/p/c"))
			}
			r.CarryOut(&coordinator.RemoveContest{Path: "/p/c", Guard: found.One.Guard, Czxid: r.czxid})
			require.Empty(t, r.children())
		})
	}
}

// TestContestSearchDeletesAGuardThatWasLeft: the node that is there now is of another create, and does not say of which.
func TestContestSearchDeletesAGuardThatWasLeft(t *testing.T) {
	for name, data := range map[string][]byte{"overwritten": []byte(queue.RevokeRequest), "asked": askedBefore()} {
		t.Run(name, func(t *testing.T) {
			r := newRing(t)
			require.NoError(t, r.Conn.Delete("/p/c"))
			later := queue.GuardName("c", "fedcba98-89ab-cdef-0123-456789abcdef", 1)
			made, err := r.Conn.CreateGuarded("/p", "c", later, data)
			require.NoError(t, err)
			require.Len(t, r.children(), 3)
			found := r.CarryOut(&coordinator.Find{Spec: r.spec, GUID: guid, Guard: r.guard})
			require.Equal(t, &coordinator.Found{One: &coordinator.OneNode{Ours: true, Czxid: made.Czxid}}, found)
			require.ElementsMatch(t, []string{"c", later}, r.children())
		})
	}
}

// TestRemoveContest: the node goes with its guard, however the session finds that. Of a node that is gone the guard goes,
// and the node that somebody has made since stays, with its own.
func TestRemoveContest(t *testing.T) {
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
