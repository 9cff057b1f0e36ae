package leases

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// The server applies the create and the reply is lost: no orphan, one node, and the request goes on
// with it. A watching connection counts the nodes.
func TestReplyToCreateIsLost(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		client := patient.Open(t, proxy.Addr()+zk.Root())
		warm, err := client.Mutex("/create").Lock(patient.Deadline(t)) // so that the create is the lock's own
		require.NoError(t, err)
		require.NoError(t, warm.Unlock(patient.Deadline(t)))

		fault := proxy.Expect(rig.Rule{Op: rig.OpCreate, Action: rig.DropReply})
		mutex, rec := patient.Recorded(t, client, "/create")
		lease, err := mutex.Lock(patient.Deadline(t))
		require.NoError(t, err)
		<-fault.Fired()
		require.Equal(t, []string{lease.Node()}, zk.Children(t, zk.Raw(t), "/create"))
		requireStates(t, rec, messages.StateCreating, messages.StateRecovering, messages.StateListing, messages.StateHeld)
		require.Greater(t, lease.Token(), warm.Token())
		require.NoError(t, lease.Unlock(patient.Deadline(t)))
		require.Empty(t, zk.Children(t, zk.Raw(t), "/create"))
	})
}

// The connection is cut before the create reaches the server: it is made once, later.
func TestCutBeforeCreate(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		client := patient.Open(t, proxy.Addr()+zk.Root())
		fault := proxy.Expect(rig.Rule{Op: rig.OpCreate, Action: rig.CutBefore,
			Path: func(path string) bool { return path != zk.Root()+"/create" }})
		mutex, rec := patient.Recorded(t, client, "/create")
		lease, err := mutex.Lock(patient.Deadline(t))
		require.NoError(t, err)
		<-fault.Fired()
		require.Equal(t, []string{lease.Node()}, zk.Children(t, zk.Raw(t), "/create"))
		requireStates(t, rec, messages.StateCreating, messages.StateRecovering, messages.StateCreating, messages.StateHeld)
		require.NoError(t, lease.Unlock(patient.Deadline(t)))
	})
}

// The server applies the delete and the reply is lost: Unlock reports success once, and the node is
// gone.
func TestReplyToDeleteIsLost(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		client := patient.Open(t, proxy.Addr()+zk.Root())
		mutex, rec := patient.Recorded(t, client, "/delete")
		lease, err := mutex.Lock(patient.Deadline(t))
		require.NoError(t, err)
		fault := proxy.Expect(rig.Rule{Op: rig.OpDelete, Action: rig.DropReply})
		require.NoError(t, lease.Unlock(patient.Deadline(t)))
		<-fault.Fired()
		require.Empty(t, zk.Children(t, zk.Raw(t), "/delete"))
		patient.Await(t, rec, messages.StateReleased)
		requireStates(t, rec, messages.StateCreating, messages.StateHeld, messages.StateReleasing,
			messages.StateRecovering, messages.StateReleased)
		requireNotHeld(t, lease)
	})
}

// The connection is cut before the delete reaches the server: the release is tried again until it is
// known to be done.
func TestCutBeforeDelete(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		client := patient.Open(t, proxy.Addr()+zk.Root())
		mutex, rec := patient.Recorded(t, client, "/delete")
		lease, err := mutex.Lock(patient.Deadline(t))
		require.NoError(t, err)
		fault := proxy.Expect(rig.Rule{Op: rig.OpDelete, Action: rig.CutBefore})
		require.NoError(t, lease.Unlock(patient.Deadline(t)))
		<-fault.Fired()
		require.Empty(t, zk.Children(t, zk.Raw(t), "/delete"))
		patient.Await(t, rec, messages.StateReleased)
		requireStates(t, rec, messages.StateCreating, messages.StateHeld, messages.StateReleasing,
			messages.StateRecovering, messages.StateReleasing, messages.StateReleased)
		requireNotHeld(t, lease)
	})
}
