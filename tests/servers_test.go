package tests

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// servers are the servers of a test: an embedded server, a standalone one or an ensemble that the tests of
// the package share, and a chroot of the test's own.
type servers struct {
	members []rig.Address
	root    string
}

// kind is one kind of servers, started once for the package.
type kind struct {
	name    string
	require func(testing.TB) // skips where they cannot be started
	start   func() (members []rig.Address, stop func() error, err error)

	once sync.Once
	ran  []rig.Address
	stop func() error
	err  error
}

var kinds = []*kind{
	{name: "embedded", require: func(testing.TB) {}, start: startEmbedded},
	{name: "standalone", require: rig.Require, start: startStandalone},
	{name: "ensemble", require: rig.Require, start: startEnsemble},
}

// longest is a session timeout for tests in which a part of it must not end: a cohort serves others for a twentieth of
// it. The shared servers grant it, and nobody waits for its end.
const longest = 10 * time.Minute

func startEmbedded() ([]rig.Address, func() error, error) {
	s, err := embedded.Start(embedded.WithSessionTimeouts(200*time.Millisecond, longest))
	if err != nil {
		return nil, nil, err
	}
	return []rig.Address{rig.Address(s.Addr())}, func() error { s.Close(); return nil }, nil
}

func startStandalone() ([]rig.Address, func() error, error) {
	s, err := rig.NewStandalone(rig.WithMaxSessionTimeout(longest))
	if err != nil {
		return nil, nil, err
	}
	return []rig.Address{s.Address()}, s.Stop, nil
}

func startEnsemble() ([]rig.Address, func() error, error) {
	e, err := rig.NewEnsemble(3, rig.WithMaxSessionTimeout(longest),
		// 30 s in which a member may not be heard: a new election, which cuts every client, is no story of theirs.
		rig.WithConfig("syncLimit", "150"), rig.WithConfig("initLimit", "300"))
	if err != nil {
		return nil, nil, err
	}
	var members []rig.Address
	for _, m := range e.Members() {
		members = append(members, m.Address())
	}
	return members, e.Stop, nil
}

func (k *kind) members(t *testing.T) []rig.Address {
	k.require(t)
	k.once.Do(func() { k.ran, k.stop, k.err = k.start() })
	require.NoError(t, k.err)
	return k.ran
}

func stopServers() {
	for _, kind := range kinds {
		if kind.stop != nil {
			_ = kind.stop()
		}
	}
}

var chroots atomic.Int64

// eachServer runs a test on every kind of server, in a chroot of its own. What is not installed is skipped.
// The test runs beside others, and so do its kinds: most of what they do is to wait.
func eachServer(t *testing.T, run func(t *testing.T, zk *servers)) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			run(t, kind.servers(t))
		})
	}
}

// eachServerAlone is eachServer for a test that looks at all that runs, here or at the servers, that keeps the
// processors busy by itself, or whose story depends on who comes first.
func eachServerAlone(t *testing.T, run func(t *testing.T, zk *servers)) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) { run(t, kind.servers(t)) })
	}
}

// servers gives a test a chroot of its own.
func (k *kind) servers(t *testing.T) *servers {
	s := &servers{members: k.members(t), root: fmt.Sprintf("/test-%d", chroots.Add(1))}
	conn := s.Raw(t)
	_, err := conn.Create(s.root, nil, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	return s
}

// Connect is the connect string for Open.
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
	return patient.Raw(t, patient.Session, s.members[0].Addr())
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

// awaitNone waits until a lock path has no children.
func awaitNone(t *testing.T, s *servers, path string) { awaitCount(t, s, path, 0) }

// awaitCount waits until a lock path has n children.
func awaitCount(t *testing.T, s *servers, path string, n int) {
	t.Helper()
	conn := s.Raw(t)
	eventually(t, func() bool { return len(s.Children(t, conn, path)) == n }, "%s never had %d children", path, n)
}
