package zklock

import (
	"strings"
	"syscall"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

// said waits until a process has said a line, and gives it.
func (p *process) said(t *testing.T) string {
	t.Helper()
	scene.Eventually(t, func() bool { return strings.Contains(p.stdout(t), "\n") || !p.Running() }, "it never says a word")
	return strings.TrimSuffix(p.stdout(t), "\n")
}

// TestHold: it says that it holds, and gives the lock back after each signal that asks for that, and when its input
// ends.
func TestHold(t *testing.T) {
	t.Parallel()
	at := here(t)
	for _, end := range []syscall.Signal{0, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		p := start(t, at, "hold --label % /hold", "by hand")
		require.Regexp(t, `^holds /hold, token \d+$`, p.said(t))
		queue := awaitQueue(t, at, "/hold", 1, 0)
		require.Equal(t, "by hand", queue[0].Label)
		require.Equal(t, p.Pid(), queue[0].PID)
		if end == 0 {
			p.letGo()
		} else {
			p.send(t, end)
		}
		p.ends(t, 0)
		require.Empty(t, p.stderr(t))
		awaitQueue(t, at, "/hold", 0, 0)
	}
}

// TestHoldGivesWay to a revoke request, unless it is told to go on; a lock that is broken is lost.
func TestHoldGivesWay(t *testing.T) {
	t.Parallel()
	at := here(t)
	p := start(t, at, "hold /hold")
	p.said(t)
	says(t, at, 0, "revoke /hold")
	p.ends(t, 80)
	require.Contains(t, p.stderr(t), "somebody asks for the lock")

	p = start(t, at, "hold --keep --json /hold")
	require.Regexp(t, `^\{"path":"/hold","node":"_c_\S+","token":"\d+"\}$`, p.said(t))
	says(t, at, 0, "revoke /hold")
	scene.Eventually(t, func() bool { return strings.Contains(p.stderr(t), "held on (--keep)") }, "it does not hear of it")
	all := parsed[[]shown](t, at, 0, "queue --json /hold")
	require.Len(t, all, 1)
	require.True(t, all[0].Asked)
	require.Equal(t, p.Pid(), all[0].PID, "it is seen who was asked")
	says(t, at, 0, "break --yes /hold 1")
	p.ends(t, 79)
	require.Contains(t, p.stderr(t), "the lock was lost")
}

// TestHoldThatWaits ends with its input, with a signal, and with its patience.
func TestHoldThatWaits(t *testing.T) {
	t.Parallel()
	at := here(t)
	holder := start(t, at, "hold /hold")
	holder.said(t)
	for _, line := range []string{"hold -n /hold", "hold --wait 0 /hold", "hold -w 0 /hold", "hold -w 2.5 /hold", "hold --timeout 2500ms /hold"} {
		_, stderr := says(t, at, 75, line)
		require.Contains(t, stderr, "/hold", line)
		require.NotContains(t, stderr, "command", line)
	}
	waiter := start(t, at, "hold /hold")
	awaitQueue(t, at, "/hold", 1, 1)
	waiter.letGo()
	waiter.ends(t, 75)
	require.Contains(t, waiter.stderr(t), "the input has ended")
	waiter = start(t, at, "hold /hold")
	awaitQueue(t, at, "/hold", 1, 1)
	waiter.send(t, syscall.SIGTERM)
	waiter.ends(t, 143)
	holder.leaves(t)
	shared := start(t, at, "hold --shared /shared")
	shared.said(t)
	says(t, at, 0, "run --shared -n /shared -- true")
	says(t, at, 75, "run -n /shared -- true")
	shared.leaves(t)
}

// TestPermitsAreSet: the number is set before the first holder comes, changed while some hold, and read.
func TestPermitsAreSet(t *testing.T) {
	t.Parallel()
	at := here(t)
	stdout, _ := says(t, at, 0, "permits /pool 1")
	require.Equal(t, "/pool: 1 permit\n", stdout)
	one := start(t, at, "hold --permits 1 /pool")
	one.said(t)
	says(t, at, 75, "run --permits 2 -n /pool -- true") // the number at the path counts
	waiter := start(t, at, "hold --permits 3 /pool")
	awaitQueue(t, at, "/pool", 1, 1)
	stdout, _ = says(t, at, 0, "queue /pool")
	require.Contains(t, stdout, "/pool: 1 holds, 1 waits, 1 of 1 permit taken\n")
	stdout, _ = says(t, at, 0, "permits /pool 2")
	require.Equal(t, "/pool: 2 permits\n", stdout)
	waiter.said(t)
	stdout, _ = says(t, at, 0, "permits /pool")
	require.Equal(t, "2\n", stdout)
	says(t, at, 75, "run --permits 2 -n /pool -- true")
	for _, p := range []*process{one, waiter} {
		p.leaves(t)
	}
	says(t, at, 0, "run --permits 2 -n /pool -- true")

	conn := at.raw(t)
	_, err := conn.Create(at.chroot+"/config", []byte("mine"), 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	for _, line := range []string{"permits /config 2", "permits /config"} {
		_, stderr := says(t, at, 70, line)
		require.Contains(t, stderr, "other data")
	}
	_, stderr := says(t, at, 70, "run --permits 2 -n /config -- true")
	require.Contains(t, stderr, "/config is no semaphore")
	data, _, err := conn.Get(at.chroot + "/config")
	require.NoError(t, err)
	require.Equal(t, "mine", string(data))

	_, err = conn.Create(at.chroot+"/empty", nil, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	stdout, stderr = says(t, at, 1, "permits /empty")
	require.Empty(t, stdout)
	require.Contains(t, stderr, "/empty has no number of permits")
}

// raw is a plain connection.
func (at place) raw(t *testing.T) *zk.Conn {
	t.Helper()
	return scene.Raw(t, scene.Session, at.addr)
}

// TestACLFlags: the nodes that are made have the lists that are named, the lock path one of its own.
func TestACLFlags(t *testing.T) {
	eachServer(t, func(t *testing.T, at place) {
		conn := at.raw(t)
		p := start(t, at, "hold --auth digest:ann:secret --acl auth::cdrwa --acl world:anyone:r --parent-acl world:anyone:cdrw --parent-acl ip:127.0.0.1:a /acl/lock")
		p.said(t)
		parent, _, err := conn.GetACL(at.chroot + "/acl/lock")
		require.NoError(t, err)
		require.Equal(t, []zk.ACL{{Perms: zk.PermAll &^ zk.PermAdmin, Scheme: "world", ID: "anyone"},
			{Perms: zk.PermAdmin, Scheme: "ip", ID: "127.0.0.1"}}, parent)
		nodes, _, err := conn.Children(at.chroot + "/acl/lock")
		require.NoError(t, err)
		require.Len(t, nodes, 1)
		node := at.chroot + "/acl/lock/" + nodes[0]
		_, err = conn.Set(node, nil, -1)
		require.ErrorIs(t, err, zk.ErrNoAuth)
		_, _, err = conn.Get(node)
		require.NoError(t, err)
		own, _, err := conn.GetACL(node)
		require.NoError(t, err)
		require.Len(t, own, 2)
		require.Equal(t, "digest", own[0].Scheme)
		require.Equal(t, zk.ACL{Perms: zk.PermRead, Scheme: "world", ID: "anyone"}, own[1])
		_, stderr := says(t, at, 70, "revoke /acl/lock")
		require.Contains(t, stderr, "may not be written")
		p.leaves(t)
	})
}

// TestRetakingIsNamed: graph and doctor name a process that waits for a lock that it holds; it is no sure deadlock.
func TestRetakingIsNamed(t *testing.T) {
	t.Parallel()
	at := here(t)
	client := at.client(t)
	lease := scene.Locked(t, client.Mutex("/twice").Lock)
	over := make(chan error, 1)
	go func() {
		second, err := client.Mutex("/twice").Lock(scene.Deadline(t))
		if err == nil {
			err = second.Unlock(scene.Deadline(t))
		}
		over <- err
	}()
	awaitQueue(t, at, "/twice", 1, 1)
	stdout, _ := says(t, at, 0, "graph /")
	require.Contains(t, stdout, "below /: 1 waits, 0 deadlocks, 1 possible one\n")
	require.Contains(t, stdout, "POSSIBLE DEADLOCK 1: ")
	require.Regexp(t, `(?m)^    holds /twice \(number 0\) and waits for /twice \(number 1\)$`, stdout)
	require.Regexp(t, `(?m) ago  possible 1$`, stdout)
	dot, _ := says(t, at, 0, "graph --dot /")
	require.Equal(t, 1, strings.Count(dot, `tooltip="possible deadlock 1"`), dot)
	g := parsed[struct {
		Deadlocks []any
		Possible  [][]struct{ Who string } `json:"possible_deadlocks"`
	}](t, at, 0, "graph", "--json", "/")
	require.Empty(t, g.Deadlocks)
	require.Len(t, g.Possible, 1)
	require.Contains(t, g.Possible[0][0].Who, "process ")
	found, do := finds(t, at, 0, "", "deadlock?", "warn")
	require.Contains(t, found, "holds /twice (number 0) and waits for /twice (number 1)")
	require.Contains(t, do, "zklock graph /")
	_, err := at.raw(t).Create(at.chroot+"/elsewhere", nil, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	found, _ = finds(t, at, 0, "--root /elsewhere", "deadlocks", "ok")
	require.Equal(t, "none below /elsewhere", found)
	scene.GiveBack(t, lease)
	require.NoError(t, <-over)
	finds(t, at, 0, "", "deadlocks", "ok")
}
