package rig_test

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// Up stalls requests alone, and Hold answers: the server's events still reach the client, and the client's requests the
// server. Delay holds a reply and all that comes after it. A fault that was meant for a reply that never came, because the
// connection was lost before, is meant for the next one.
func TestProxy(t *testing.T) {
	server := sharedServer.Get(t)
	proxy, direct := rig.NewProxy(t, server.Addr()), connect(t, server.Addr())
	client := connect(t, proxy.Addr())
	root, err := direct.Create("/proxy-", nil, zk.FlagSequence, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	asked := func(path string) <-chan error {
		answered := make(chan error, 1)
		go func() {
			_, err := client.Create(root+path, nil, 0, zk.WorldACL(zk.PermAll))
			answered <- err
		}()
		return answered
	}
	_, _, changed, err := client.ChildrenW(root)
	require.NoError(t, err)
	proxy.Stall(rig.Up)
	up := asked("/up")
	create(t, direct, root+"/event")
	require.Equal(t, zk.EventNodeChildrenChanged, scene.Receive(t, changed).Type)
	require.False(t, len(up) > 0 || exists(t, direct, root+"/up"), "a request has passed")
	proxy.Resume(rig.Up)
	require.NoError(t, scene.Receive(t, up))

	fault := proxy.Expect(rig.Rule{Op: rig.OpCreate, Action: rig.Delay})
	late := asked("/late")
	scene.Receive(t, fault.Fired())
	require.True(t, exists(t, direct, root+"/late"))
	behind := asked("/behind")
	scene.Eventually(t, func() bool { return exists(t, direct, root+"/behind") }, "the next request passes")
	require.True(t, len(late) == 0 && len(behind) == 0, "a reply has passed")
	fault.Release()
	require.NoError(t, scene.Receive(t, late))
	require.NoError(t, scene.Receive(t, behind))

	proxy.Hold(true)
	fault = proxy.Expect(rig.Rule{Op: rig.OpCreate, Action: rig.DropReply})
	lost := asked("/held")
	scene.Eventually(t, func() bool { return exists(t, direct, root+"/held") }, "the node is there")
	require.Empty(t, lost, "a reply has passed")
	proxy.Cut()
	require.Error(t, scene.Receive(t, lost))
	require.False(t, isClosed(fault.Fired()), "the reply had not come")
	proxy.Hold(false)
	scene.Eventually(t, func() bool { return client.State() == zk.StateHasSession }, "a session again")
	require.Error(t, scene.Receive(t, asked("/dropped")))
	scene.Receive(t, fault.Fired())
	require.True(t, exists(t, direct, root+"/dropped"))

	fault = proxy.Expect(rig.Rule{Op: rig.OpCreate, Action: rig.CutBefore})
	scene.Eventually(t, func() bool { return client.State() == zk.StateHasSession }, "a session again")
	require.Error(t, scene.Receive(t, asked("/cut")))
	scene.Receive(t, fault.Fired())
	require.False(t, exists(t, direct, root+"/cut"))
}
