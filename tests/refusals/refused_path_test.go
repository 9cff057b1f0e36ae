package refusals

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// lockOfEachKind are the locks at a path, one of each kind that makes nodes of its own.
func lockOfEachKind(client *locks.Client, path string) map[string]func(context.Context) (*locks.Lease, error) {
	return map[string]func(context.Context) (*locks.Lease, error){
		"mutex": client.Mutex(path).Lock, "reader": client.RWMutex(path).RLock, "writer": client.RWMutex(path).Lock,
		"semaphore": func(ctx context.Context) (*locks.Lease, error) { return client.Semaphore(path, 2).Acquire(ctx, 1) },
		"try":       client.Mutex(path).TryLock,
		"contest":   client.Contest(path + "/one").Lock,
	}
}

// TestRefusedLockLeavesNoPath: a lock that is refused leaves its servers as they were. A lock path that never had a
// child is one that no server ever reaps.
func TestRefusedLockLeavesNoPath(t *testing.T) {
	for name, refused := range map[string]struct {
		at   string
		code int32
		want error
	}{
		"contender over a quota":   {"/over/*/*/*", -125, locks.ErrQuota},
		"lock path over a quota":   {"/over/*/*", -125, locks.ErrQuota},
		"contender not permitted":  {"/over/*/*/*", -102, locks.ErrNoAuth},
		"contender of local ones":  {"/over/*/*/*", -120, locks.ErrLocalSession},
		"contender not understood": {"/over/*/*/*", -8, locks.ErrFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := embedded.Run(t)
			at := &scene.Servers{Members: []rig.Address{rig.Address(server.Addr())}}
			o := scene.Look(t, at)
			o.Plant(t, "/over/kept", "somebody's")
			client := scene.Open(t, server.Addr())
			for _, op := range []embedded.Op{embedded.OpCreate, embedded.OpCreate2, embedded.OpCreateContainer, embedded.OpMulti} {
				injected, err := server.Inject(embedded.Fault{Op: op, Path: refused.at, Action: embedded.RefusePart, Code: refused.code, Count: -1})
				require.NoError(t, err)
				defer injected.Remove()
			}
			for kind, lock := range lockOfEachKind(client, "/over/a/b") {
				_, err := lock(scene.Deadline(t))
				require.ErrorIs(t, err, refused.want, kind)
				children, _, err := o.Children("/over")
				require.NoError(t, err)
				require.Equal(t, []string{"kept"}, children, "%s leaves a path behind", kind)
			}
			for kind, lock := range lockOfEachKind(client, "/over/kept/b") {
				_, err := lock(scene.Deadline(t))
				require.ErrorIs(t, err, refused.want, kind)
			}
			children, _, err := o.Children("/over/kept")
			require.NoError(t, err)
			require.Empty(t, children)
			data, _, err := o.Get("/over/kept")
			require.NoError(t, err)
			require.Equal(t, "somebody's", string(data))
		})
	}
}

// TestRefusedPermitsLeaveNoPath: neither does a number of permits that may not be written.
func TestRefusedPermitsLeaveNoPath(t *testing.T) {
	t.Parallel()
	server := embedded.Run(t)
	o := scene.Look(t, &scene.Servers{Members: []rig.Address{rig.Address(server.Addr())}})
	o.Plant(t, "/over/kept", "somebody's")
	client := scene.Open(t, server.Addr())
	injected, err := server.Inject(embedded.Fault{Op: embedded.OpSetData, Path: "/over/**", Action: embedded.RefusePart, Code: -102, Count: -1})
	require.NoError(t, err)
	defer injected.Remove()
	require.ErrorIs(t, client.SetPermits(scene.Deadline(t), "/over/a/b", 3), locks.ErrNoAuth)
	children, _, err := o.Children("/over")
	require.NoError(t, err)
	require.Equal(t, []string{"kept"}, children)
}
