package scene

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
)

// Outside looks at a test's servers through a plain connection.
type Outside struct {
	*zk.Conn
	// At are the servers.
	At *Servers
}

// Look connects to the first member.
func Look(t *testing.T, at *Servers) Outside { return Outside{at.Raw(t), at} }

// Get reads what has been committed by now: its member may lag behind the one that has answered a client.
func (o Outside) Get(path string) ([]byte, *zk.Stat, error) {
	if _, err := o.Sync(path); err != nil {
		return nil, nil, err
	}
	return o.Conn.Get(path)
}

// Exists is as up to date as Get.
func (o Outside) Exists(path string) (bool, *zk.Stat, error) {
	if _, err := o.Sync(path); err != nil {
		return false, nil, err
	}
	return o.Conn.Exists(path)
}

// Plant makes a node with data, and those above it.
func (o Outside) Plant(t *testing.T, path, data string) {
	t.Helper()
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			if _, err := o.Create(o.At.Root()+path[:i], nil, 0, zk.WorldACL(zk.PermAll)); err != zk.ErrNodeExists {
				require.NoError(t, err)
			}
		}
	}
	_, err := o.Create(o.At.Root()+path, []byte(data), 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
}

// Queue lists the contenders of a lock path in their order.
func (o Outside) Queue(t *testing.T, path string) []string {
	t.Helper()
	contenders := slices.DeleteFunc(o.At.Children(t, o.Conn, path), func(name string) bool {
		_, ok := queue.Sequence(name)
		return !ok
	})
	slices.SortFunc(contenders, func(a, b string) int {
		x, _ := queue.Sequence(a)
		y, _ := queue.Sequence(b)
		return int(x) - int(y)
	})
	return contenders
}

// AwaitGone waits until a contender's node does not exist any more.
func (o Outside) AwaitGone(t *testing.T, path, node string) {
	t.Helper()
	Eventually(t, func() bool { return !slices.Contains(o.At.Children(t, o.Conn, path), node) },
		"%s/%s was never deleted", path, node)
}

// AwaitQueue waits until the contenders are just these. One that has handed over to another of its session is there
// until its delete is done.
func (o Outside) AwaitQueue(t *testing.T, path string, want []string) {
	t.Helper()
	Eventually(t, func() bool { return slices.Equal(o.Queue(t, path), want) },
		"the queue at %s never was %v", path, want)
}

// Write sets a contender's data, as another client would that asks for the lock.
func (o Outside) Write(t *testing.T, path, node, data string) {
	t.Helper()
	_, err := o.Set(strings.Join([]string{o.At.Root() + path, node}, "/"), []byte(data), -1)
	require.NoError(t, err)
}

// Remove deletes a contender's node, as an operator would.
func (o Outside) Remove(t *testing.T, path, node string) {
	t.Helper()
	require.NoError(t, o.Delete(o.At.Root()+path+"/"+node, -1))
}

// ZKLock is a contender that go-zookeeper's own Lock made.
type ZKLock struct {
	*zk.Lock
	// Held has what Lock returned.
	Held chan error
}

// LockOutside locks a lock path with go-zookeeper's Lock.
func LockOutside(o Outside, path string) *ZKLock {
	l := &ZKLock{zk.NewLock(o.Conn, o.At.Root()+path, zk.WorldACL(zk.PermAll)), make(chan error, 1)}
	go func() { l.Held <- l.Lock.Lock() }()
	return l
}

// Hold waits until it holds.
func (l *ZKLock) Hold(t *testing.T) {
	t.Helper()
	select {
	case err := <-l.Held:
		require.NoError(t, err)
	case <-Deadline(t).Done():
		t.Fatal("zk.Lock was never granted")
	}
}
