package queues

import (
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestMissing: an empty queue is not all that there is to say of a path, or a chroot, that was mistyped.
func TestMissing(t *testing.T) {
	at := scene.OnEmbedded(t)
	client, o := at.Open(t), scene.Look(t, at)
	missing := func(path, want string) {
		t.Helper()
		got, err := client.Missing(scene.Deadline(t), path)
		require.NoError(t, err)
		require.Equal(t, want, got, path)
	}
	o.Plant(t, "/a/b", "") // and with it the chroot
	missing("/", "")
	missing("/a/b", "")
	missing("/a/b/c", "/a/b/c")
	missing("/a/x/c", "/a/x")
	missing("/x/b/c", "/x")

	_, err := o.Create(at.Root()+"/private", nil, 0, zk.DigestACL(zk.PermAll, "ann", "secret"))
	require.NoError(t, err)
	missing("/private", "")
	missing("/private/x", "/private/x")

	wrong := scene.Open(t, at.Connect()+"/nowhere")
	for _, path := range []string{"/", "/a", "/a/b"} {
		got, err := wrong.Missing(scene.Deadline(t), path)
		require.NoError(t, err)
		require.Equal(t, "/", got, "the chroot")
	}
	_, err = client.Missing(scene.Deadline(t), "a")
	require.ErrorIs(t, err, locks.ErrBadPath)
	exists, _, err := o.Exists(at.Root() + "/nowhere")
	require.NoError(t, err)
	require.False(t, exists, "who asks makes nothing")
}
