package interop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// kinds are the servers on which the other clients are run.
var kinds = []struct {
	name  string
	start func(t *testing.T) (addr string)
}{
	{"embedded", func(t *testing.T) string { return embedded.Run(t).Addr() }},
	{"zookeeper", func(t *testing.T) string { return rig.StartStandalone(t).Addr() }},
}

// server is what a test runs on, looked at over a plain connection of go-zookeeper's.
type server struct {
	addr string
	conn *zk.Conn
}

// eachServer runs a test on every kind of server, and in the end finds out that none of its jobs
// left anything.
func eachServer(t *testing.T, run func(t *testing.T, s *server)) {
	Require(t)
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			addr := kind.start(t)
			conn, events, err := zk.Connect([]string{addr}, 30*time.Second, zk.WithLogger(quiet{}))
			require.NoError(t, err)
			t.Cleanup(func() {
				conn.Close()
				for range events { // its goroutines have ended when the channel is closed
				}
			})
			s := &server{addr: addr, conn: conn}
			run(t, s)
			s.requireNoEphemerals(t)
		})
	}
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// below lists all nodes below a path, as a server shows them after a sync.
func (s *server) below(t *testing.T, path string) []string {
	t.Helper()
	_, err := s.conn.Sync("/")
	require.NoError(t, err)
	var all []string
	var walk func(path string)
	walk = func(path string) {
		children, _, err := s.conn.Children(path)
		if errors.Is(err, zk.ErrNoNode) {
			return
		}
		require.NoError(t, err)
		for _, child := range children {
			node := strings.TrimSuffix(path, "/") + "/" + child
			all = append(all, node)
			walk(node)
		}
	}
	walk(path)
	slices.Sort(all)
	return all
}

// requireEmpty finds out that no lock's node is below a lock path: only the folders that a semaphore
// and a multi-lock keep there.
func (s *server) requireEmpty(t *testing.T, path string) {
	t.Helper()
	folders := []string{path + "/leases", path + "/locks", path + "/a", path + "/b"}
	for _, node := range s.below(t, path) {
		require.Contains(t, folders, node, "what is left of a lock")
	}
	require.Empty(t, s.below(t, path+"-__lock__"), "what is left of a semaphore's own lock")
}

// requireNoEphemerals finds out that no session has left a node anywhere.
func (s *server) requireNoEphemerals(t *testing.T) {
	t.Helper()
	for _, node := range s.below(t, "/") {
		exists, stat, err := s.conn.Exists(node)
		require.NoError(t, err)
		require.False(t, exists && stat.EphemeralOwner != 0, "%s is left", node)
	}
}

// awaitCount waits until a lock path has so many children, of which no event tells.
func (s *server) awaitCount(t *testing.T, path string, count int) {
	t.Helper()
	require.Eventually(t, func() bool { return len(s.below(t, path)) == count }, bound, 10*time.Millisecond,
		"%s never had %d children", path, count)
}

// bound is how long a test waits for what must come, however slow the machine is.
const bound = 60 * time.Second

func deadline(t *testing.T) context.Context {
	t.Helper()
	// A job bounds itself first, and says more about it.
	ctx, cancel := context.WithTimeout(context.Background(), bound+10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// total is how often all threads of a contest hold.
func total(job Job) int { return max(job.Sessions, 1) * max(job.Threads, 1) * max(job.Rounds, 1) }
