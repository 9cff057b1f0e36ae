package interop

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// kinds are the servers on which the clients meet. The real one leaves empty containers alone: it would delete them once
// a minute, and lock nodes below a new one start at number 0 again. A contest would take that for a step backwards.
var kinds = []*scene.ServerKind{
	{Name: "embedded", Start: scene.Embedded()},
	{Name: "standalone", Real: true, Start: scene.Standalone(rig.WithSystemProperty("znode.container.checkIntervalMs", "86400000"))},
}

// server is a server in a chroot of the test's own, with a plain connection of go-zookeeper's to look at it.
type server struct {
	*scene.Servers
	conn *zk.Conn
	real bool // not the embedded one
}

// eachServer runs a test on every kind of server, and in the end finds out that none of its jobs
// left a node. The test runs beside others.
func eachServer(t *testing.T, run func(t *testing.T, s *server)) {
	Require(t)
	t.Parallel()
	scene.Each(t, kinds, func(t *testing.T, kind *scene.ServerKind, addrs string) {
		t.Parallel()
		s := &server{Servers: scene.At(scene.Chroot(), addrs), real: kind.Real}
		s.conn = s.Raw(t)
		s.make(t, "")
		run(t, s)
		for _, node := range s.below(t, "") {
			exists, stat, err := s.conn.Exists(s.Root() + node)
			require.NoError(t, err)
			require.False(t, exists && stat.EphemeralOwner != 0, "%s is left", node)
		}
	})
}

// below lists all nodes below a path, as a server shows them after a sync.
func (s *server) below(t *testing.T, path string) []string {
	t.Helper()
	var all []string
	for _, child := range s.Children(t, s.conn, path) {
		all = append(append(all, path+"/"+child), s.below(t, path+"/"+child)...)
	}
	return all
}

// requireEmpty finds out that no lock's node is below a lock path: only the folders that a semaphore keeps there.
func (s *server) requireEmpty(t *testing.T, path string) {
	t.Helper()
	folders := []string{path + "/leases", path + "/locks"}
	require.Empty(t, slices.DeleteFunc(s.below(t, path), func(node string) bool { return slices.Contains(folders, node) }))
	require.Empty(t, s.below(t, path+"-__lock__"), "the node of a semaphore's own lock stays")
}

// make makes a persistent node and what is above it. A lock path that Curator makes is a container:
// the server may remove it when it is empty, and numbers start again.
func (s *server) make(t *testing.T, path string) {
	t.Helper()
	path = s.Root() + path + "/"
	for at := 1; at < len(path); at++ {
		if path[at] != '/' {
			continue
		}
		_, err := s.conn.Create(path[:at], nil, 0, zk.WorldACL(zk.PermAll))
		if !errors.Is(err, zk.ErrNodeExists) {
			require.NoError(t, err, path[:at])
		}
	}
}

// sequential makes an ephemeral node as locks do.
func (s *server) sequential(t *testing.T, path, prefix string) (remove func()) {
	t.Helper()
	node, err := s.conn.Create(s.Root()+path+"/"+prefix, nil, int32(zk.FlagEphemeral|zk.FlagSequence), zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	return func() { require.NoError(t, s.conn.Delete(node, -1)) }
}

// awaitCount waits until a lock path has so many children, of which no event tells.
func (s *server) awaitCount(t *testing.T, path string, count int) {
	t.Helper()
	scene.Eventually(t, func() bool { return len(s.Children(t, s.conn, path)) == count }, "%s never had %d children", path, count)
}

// awaitCreates waits until so many children have been made, of which no event tells.
func (s *server) awaitCreates(t *testing.T, path string, count int32) {
	t.Helper()
	scene.Eventually(t, func() bool {
		_, stat, err := s.conn.Get(s.Root() + path)
		// The cversion that servers show counts creates and deletes.
		return err == nil && (stat.Cversion+stat.NumChildren)/2 >= count
	}, "%s never had %d children, one after the other", path, count)
}

// within bounds a job that does not end. A worker bounds it first, and says more about it.
func within(t *testing.T, job Job) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), job.limit()+10*time.Second)
	t.Cleanup(cancel)
	return ctx
}
