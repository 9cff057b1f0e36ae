package scene

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Longest is the longest session timeout that the servers of [EachServer] grant. It is for tests in which a part of
// the timeout must not end: a cohort serves others for a twentieth of it. Nobody waits for its end.
const Longest = 10 * time.Minute

// every has the kinds of servers of EachServer, each started once for a package.
var every = []*ServerKind{
	{Name: "embedded", Start: Embedded(embedded.WithSessionTimeouts(200*time.Millisecond, Longest))},
	{Name: "standalone", Real: true, Start: Standalone(rig.WithMaxSessionTimeout(Longest))},
	{Name: "ensemble", Real: true, Start: Ensemble(3, rig.WithMaxSessionTimeout(Longest),
		// 30 s in which a member may not be heard: a new election, which cuts every client, is no story of theirs.
		rig.WithConfig("syncLimit", "150"), rig.WithConfig("initLimit", "300"))},
}

// Servers are the servers of a test, which the tests of its package share, and a chroot of the test's own.
type Servers struct {
	// Members are the addresses of the servers: one, or those of an ensemble.
	Members []rig.Address
	root    string
}

// EachServer runs a test on an embedded server, a real one and an ensemble of three, in a chroot of its own. Servers
// that are not installed are skipped. The test runs beside others, and so do its kinds of servers: most of the
// time they wait.
func EachServer(t *testing.T, run func(t *testing.T, zk *Servers)) {
	t.Parallel()
	for _, kind := range every {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			run(t, kind.servers(t))
		})
	}
}

// OnEmbedded is the embedded server of EachServer, in a chroot of the test's own, for what does not depend on the server. The
// test runs beside others.
func OnEmbedded(t *testing.T) *Servers {
	t.Helper()
	t.Parallel()
	return every[0].servers(t)
}

// EachServerAlone is EachServer for a test that looks at everything that runs, here or at the
// servers, that keeps the processors busy by itself, or whose story depends on the order of
// arrivals.
func EachServerAlone(t *testing.T, run func(t *testing.T, zk *Servers)) {
	for _, kind := range every {
		t.Run(kind.Name, func(t *testing.T) { run(t, kind.servers(t)) })
	}
}

// servers gives a test a chroot of its own.
func (k *ServerKind) servers(t testing.TB) *Servers {
	s := At(Chroot(), strings.Split(k.addrs(t), ",")...)
	_, err := s.Raw(t).Create(s.root, nil, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	return s
}

// At gives servers that a test has started itself, with a chroot.
func At(chroot string, members ...string) *Servers {
	s := &Servers{root: chroot}
	for _, addr := range members {
		s.Members = append(s.Members, rig.Address(addr))
	}
	return s
}

// Below gives the same servers with a chroot within this one.
func (s *Servers) Below(t testing.TB) *Servers {
	t.Helper()
	below := &Servers{s.Members, s.root + Chroot()}
	_, err := s.Raw(t).Create(below.root, nil, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	return below
}

// Connect is the connect string for Open.
func (s *Servers) Connect() string { return s.Hosts() + s.root }

// Open opens a client that is closed with the test.
func (s *Servers) Open(t testing.TB, opts ...locks.Option) *locks.Client {
	t.Helper()
	return Open(t, s.Connect(), opts...)
}

// Hosts is the list of servers, without the chroot.
func (s *Servers) Hosts() string {
	addresses := make([]string, len(s.Members))
	for i, m := range s.Members {
		addresses[i] = m.Addr()
	}
	return strings.Join(addresses, ",")
}

// Root is the test's chroot, as the connection of Raw sees it.
func (s *Servers) Root() string { return s.root }

// Proxy is a proxy to the first member.
func (s *Servers) Proxy(t *testing.T) *rig.Proxy { return rig.NewProxy(t, s.Members[0].Addr()) }

// Raw is a plain connection of go-zookeeper's, for looking from outside.
func (s *Servers) Raw(t testing.TB) *zk.Conn {
	t.Helper()
	return Raw(t, Session, s.Members[0].Addr())
}

// Children lists a lock path as a server shows it after a sync; nil when it does not exist.
func (s *Servers) Children(t *testing.T, conn *zk.Conn, path string) []string {
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

// AwaitNone waits until a lock path has no children.
func AwaitNone(t *testing.T, s *Servers, path string) {
	t.Helper()
	AwaitCount(t, s, path, 0)
}

// AwaitCount waits until a lock path has n children.
func AwaitCount(t *testing.T, s *Servers, path string, n int) {
	t.Helper()
	conn := s.Raw(t)
	Eventually(t, func() bool { return len(s.Children(t, conn, path)) == n }, "%s never had %d children", path, n)
}

// Written is a node's data and version; Absent where there is no node.
type Written struct {
	Data    string
	Version int32
}

// Absent is the result of Read for a node that does not exist.
var Absent = Written{"", -1}

// Read reads a node after a sync.
func (s *Servers) Read(t *testing.T, path string) Written {
	t.Helper()
	conn := s.Raw(t)
	_, err := conn.Sync(s.root)
	require.NoError(t, err)
	data, stat, err := conn.Get(s.root + path)
	if err == zk.ErrNoNode {
		return Absent
	}
	require.NoError(t, err)
	return Written{string(data), stat.Version}
}

// Write makes a node.
func (s *Servers) Write(t *testing.T, path, data string) {
	t.Helper()
	_, err := s.Raw(t).Create(s.root+path, []byte(data), 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
}
