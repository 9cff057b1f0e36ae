package tests

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// The server applies the create and the reply is lost: no orphan, one node, and the request goes on
// with it. A watching connection counts the nodes.
func TestReplyToCreateIsLost(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		proxy := zk.Proxy(t)
		client := open(t, proxy.Addr()+zk.Root())
		warm, err := client.Mutex("/create").Lock(deadline(t)) // so that the create is the lock's own
		require.NoError(t, err)
		require.NoError(t, warm.Unlock(deadline(t)))

		fault := proxy.Expect(rig.Rule{Op: rig.OpCreate, Action: rig.DropReply})
		mutex, rec := recorded(t, client, "/create")
		lease, err := mutex.Lock(deadline(t))
		require.NoError(t, err)
		<-fault.Fired()
		require.Equal(t, []string{lease.Node()}, zk.Children(t, zk.Raw(t), "/create"))
		requireStates(t, rec, messages.StateCreating, messages.StateRecovering, messages.StateListing, messages.StateHeld)
		require.Greater(t, lease.Token(), warm.Token())
		require.NoError(t, lease.Unlock(deadline(t)))
		require.Empty(t, zk.Children(t, zk.Raw(t), "/create"))
	})
}

// The connection is cut before the create reaches the server: it is made once, later.
func TestCutBeforeCreate(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		proxy := zk.Proxy(t)
		client := open(t, proxy.Addr()+zk.Root())
		fault := proxy.Expect(rig.Rule{Op: rig.OpCreate, Action: rig.CutBefore,
			Path: func(path string) bool { return path != zk.Root()+"/create" }})
		mutex, rec := recorded(t, client, "/create")
		lease, err := mutex.Lock(deadline(t))
		require.NoError(t, err)
		<-fault.Fired()
		require.Equal(t, []string{lease.Node()}, zk.Children(t, zk.Raw(t), "/create"))
		requireStates(t, rec, messages.StateCreating, messages.StateRecovering, messages.StateCreating, messages.StateHeld)
		require.NoError(t, lease.Unlock(deadline(t)))
	})
}

// The server applies the delete and the reply is lost: Unlock reports success once, and the node is
// gone.
func TestReplyToDeleteIsLost(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		proxy := zk.Proxy(t)
		client := open(t, proxy.Addr()+zk.Root())
		mutex, rec := recorded(t, client, "/delete")
		lease, err := mutex.Lock(deadline(t))
		require.NoError(t, err)
		fault := proxy.Expect(rig.Rule{Op: rig.OpDelete, Action: rig.DropReply})
		require.NoError(t, lease.Unlock(deadline(t)))
		<-fault.Fired()
		require.Empty(t, zk.Children(t, zk.Raw(t), "/delete"))
		await(t, rec, messages.StateReleased)
		requireStates(t, rec, messages.StateCreating, messages.StateHeld, messages.StateReleasing,
			messages.StateRecovering, messages.StateReleased)
		requireNotHeld(t, lease)
	})
}

// The connection is cut before the delete reaches the server: the release is tried again until it is
// known to be done.
func TestCutBeforeDelete(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		proxy := zk.Proxy(t)
		client := open(t, proxy.Addr()+zk.Root())
		mutex, rec := recorded(t, client, "/delete")
		lease, err := mutex.Lock(deadline(t))
		require.NoError(t, err)
		fault := proxy.Expect(rig.Rule{Op: rig.OpDelete, Action: rig.CutBefore})
		require.NoError(t, lease.Unlock(deadline(t)))
		<-fault.Fired()
		require.Empty(t, zk.Children(t, zk.Raw(t), "/delete"))
		await(t, rec, messages.StateReleased)
		requireStates(t, rec, messages.StateCreating, messages.StateHeld, messages.StateReleasing,
			messages.StateRecovering, messages.StateReleasing, messages.StateReleased)
		requireNotHeld(t, lease)
	})
}
