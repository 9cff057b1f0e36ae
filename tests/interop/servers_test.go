package interop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// kinds are the servers on which the other clients are run.
var kinds = []struct {
	name  string
	start func(t *testing.T) (addr string)
}{
	{"embedded", func(t *testing.T) string { return embedded.Run(t).Addr() }},
	{"zookeeper", func(t *testing.T) string { return lent.take(t).Addr() }},
}

// lent are the real servers.
var lent lending

// lending lends servers to tests. A test has its server for itself, and the next one takes it over: a JVM takes more
// processor time to start and to warm up than most tests take of it.
type lending struct {
	mu        sync.Mutex
	all, idle []*rig.Shared
}

// take gives a server without nodes until the test ends. One of a test that failed is not lent again.
func (l *lending) take(t *testing.T) *rig.Server {
	t.Helper()
	l.mu.Lock()
	var shared *rig.Shared
	if last := len(l.idle) - 1; last >= 0 {
		shared, l.idle = l.idle[last], l.idle[:last]
	} else {
		shared = &rig.Shared{Start: startLent}
		l.all = append(l.all, shared)
	}
	l.mu.Unlock()
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.idle = append(l.idle, shared)
	})
	return shared.Get(t)
}

// startLent starts a server that leaves empty containers alone. It would delete them once a minute, and lock nodes
// below a new one start at number 0 again: a contest would take that for a step backwards.
func startLent(testing.TB) (*rig.Server, error) {
	return rig.NewStandalone(rig.WithSystemProperty("znode.container.checkIntervalMs", "86400000")) // 1 day
}

// stop stops all servers.
func (l *lending) stop() (err error) {
	for _, shared := range l.all {
		err = errors.Join(err, shared.Stop())
	}
	return err
}

// server is a server under test, with a plain connection of go-zookeeper's to look at it.
type server struct {
	addr string
	conn *zk.Conn
	real bool // not the embedded one
}

// eachServer runs a test on every kind of server, and in the end finds out that none of its jobs
// left anything. The test runs beside others, and so do its kinds: each has a server for itself.
func eachServer(t *testing.T, run func(t *testing.T, s *server)) {
	Require(t)
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			addr := kind.start(t)
			s := &server{addr: addr, conn: connect(t, addr), real: kind.name == "zookeeper"}
			s.clear(t)
			run(t, s)
			s.requireNoEphemerals(t)
		})
	}
}

// connect opens a session of go-zookeeper's that ends with the test.
func connect(t *testing.T, addr string) *zk.Conn {
	t.Helper()
	return patient.Raw(t, patient.Session, addr)
}

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
		require.Contains(t, folders, node, "the node of a lock stays")
	}
	require.Empty(t, s.below(t, path+"-__lock__"), "the node of a semaphore's own lock stays")
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

// clear deletes what the test before has left of its lock paths.
func (s *server) clear(t *testing.T) {
	t.Helper()
	for _, node := range slices.Backward(s.below(t, "/")) { // children come before their parents
		if node != "/zookeeper" && !strings.HasPrefix(node, "/zookeeper/") {
			require.NoError(t, s.conn.Delete(node, -1), node)
		}
	}
}

// make makes a persistent node and what is above it. A lock path that Curator makes is a container:
// the server may remove it when it is empty, and numbers start again.
func (s *server) make(t *testing.T, path string) {
	t.Helper()
	for at, c := range path + "/" {
		if c != '/' || at == 0 {
			continue
		}
		_, err := s.conn.Create(path[:at], nil, 0, zk.WorldACL(zk.PermAll))
		if !errors.Is(err, zk.ErrNodeExists) {
			require.NoError(t, err, path[:at])
		}
	}
}

// awaitCount waits until a lock path has so many children, of which no event tells.
func (s *server) awaitCount(t *testing.T, path string, count int) {
	t.Helper()
	require.Eventually(t, func() bool { return len(s.below(t, path)) == count }, bound, 10*time.Millisecond,
		"%s never had %d children", path, count)
}

// bound bounds a wait for something that must come, on a machine of any speed.
const bound = 60 * time.Second

func deadline(t *testing.T) context.Context { return within(t, Job{Limit: bound}) }

// within bounds a job that does not end. A worker bounds it first, and says more about it.
func within(t *testing.T, job Job) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), job.limit()+10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// total is the number of holds of all threads of a contest.
func total(job Job) int { return max(job.Sessions, 1) * max(job.Threads, 1) * max(job.Rounds, 1) }
