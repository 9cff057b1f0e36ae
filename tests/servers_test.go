package tests

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// servers are what a test runs on: a standalone server or an ensemble that the tests of the package
// share, and a chroot of the test's own.
type servers struct {
	members []*rig.Server
	root    string
}

// shared starts servers once for the package.
type shared struct {
	once  sync.Once
	start func() ([]*rig.Server, func() error, error)
	ran   []*rig.Server
	stop  func() error
	err   error
}

var kinds = []struct {
	name string
	*shared
}{
	{"standalone", &shared{start: func() ([]*rig.Server, func() error, error) {
		s, err := rig.NewStandalone()
		if err != nil {
			return nil, nil, err
		}
		return []*rig.Server{s}, s.Stop, nil
	}}},
	{"ensemble", &shared{start: func() ([]*rig.Server, func() error, error) {
		e, err := rig.NewEnsemble(3)
		if err != nil {
			return nil, nil, err
		}
		return e.Members(), e.Stop, nil
	}}},
}

func (s *shared) members(t *testing.T) []*rig.Server {
	s.once.Do(func() { s.ran, s.stop, s.err = s.start() })
	require.NoError(t, s.err)
	return s.ran
}

func stopServers() {
	for _, kind := range kinds {
		if kind.stop != nil {
			_ = kind.stop()
		}
	}
}

var chroots atomic.Int64

// eachServer runs a test on a standalone server and on an ensemble, in a chroot of its own.
func eachServer(t *testing.T, run func(t *testing.T, zk *servers)) {
	rig.Require(t)
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			s := &servers{members: kind.members(t), root: fmt.Sprintf("/test-%d", chroots.Add(1))}
			conn := s.Raw(t)
			_, err := conn.Create(s.root, nil, 0, zk.WorldACL(zk.PermAll))
			require.NoError(t, err)
			run(t, s)
		})
	}
}

// Connect is what Open takes.
func (s *servers) Connect() string { return s.Hosts() + s.root }

// Hosts is the list of servers, without the chroot.
func (s *servers) Hosts() string {
	addresses := make([]string, len(s.members))
	for i, m := range s.members {
		addresses[i] = m.Addr()
	}
	return strings.Join(addresses, ",")
}

// Root is the test's chroot, as the connection of Raw sees it.
func (s *servers) Root() string { return s.root }

// Proxy is a proxy to the first member.
func (s *servers) Proxy(t *testing.T) *rig.Proxy { return rig.NewProxy(t, s.members[0].Addr()) }

// Raw is a plain connection of go-zookeeper's, for looking from outside.
func (s *servers) Raw(t *testing.T) *zk.Conn {
	t.Helper()
	conn, events, err := zk.Connect([]string{s.members[0].Addr()}, 10*time.Second, zk.WithLogger(quiet{}))
	require.NoError(t, err)
	t.Cleanup(func() {
		conn.Close()
		for range events { // its goroutines have ended when the channel is closed
		}
	})
	return conn
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// Children lists a lock path as a server shows it after a sync; nil when it does not exist.
func (s *servers) Children(t *testing.T, conn *zk.Conn, path string) []string {
	t.Helper()
	_, err := conn.Sync(s.root)
	require.NoError(t, err)
	children, _, err := conn.Children(s.root + path)
	if err == zk.ErrNoNode {
		return nil
	}
	require.NoError(t, err)
	slices.Sort(children)
	return children
}

// bound is how long a test waits for what must come, however slow the machine is.
const bound = 60 * time.Second

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	t.Cleanup(cancel)
	return ctx
}

// eventually polls a condition that no event tells of.
func eventually(t *testing.T, condition func() bool, what string, args ...any) {
	t.Helper()
	require.Eventually(t, condition, bound, 20*time.Millisecond, fmt.Sprintf(what, args...))
}

// awaitNone waits until a lock path has no children.
func awaitNone(t *testing.T, s *servers, path string) { awaitCount(t, s, path, 0) }

// awaitCount waits until a lock path has n children.
func awaitCount(t *testing.T, s *servers, path string, n int) {
	t.Helper()
	conn := s.Raw(t)
	eventually(t, func() bool { return len(s.Children(t, conn, path)) == n }, "%s never had %d children", path, n)
}
