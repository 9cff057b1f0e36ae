package carrier

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/dial"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
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
	r := &ring{T: t, Carrier: Carrier{Conn: dial.Session(t, embedded.Run(t).Addr())}}
	r.spec = coordinator.NewSpec(&messages.Acquire{Path: "/p/c", Mode: messages.Contest}, guid, "actor", true, time.Unix(0, 0))
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
