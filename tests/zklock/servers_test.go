package zklock

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// place is a server, and a chroot of the test's own.
type place struct {
	addr   string
	chroot string
}

// connect is the value of --zk.
func (p place) connect() string { return p.addr + p.chroot }

// client looks from outside, and locks beside zklock.
func (p place) client(t *testing.T) *locks.Client { return scene.Open(t, p.connect()) }

// make makes the chroot, and nodes in it, as the first lock does, and nobody reaps them.
func (p place) make(t *testing.T, paths ...string) {
	t.Helper()
	conn := p.raw(t)
	for _, path := range append([]string{""}, paths...) {
		_, err := conn.Create(p.chroot+path, nil, 0, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
	}
}

// behind is the place seen through a proxy that can lose what passes.
func (p place) behind(t *testing.T) (place, *rig.Proxy) {
	proxy := rig.NewProxy(t, p.addr)
	return place{proxy.Addr(), p.chroot}, proxy
}

var kinds = []*scene.ServerKind{
	{Name: "embedded", Start: scene.Embedded()},
	{Name: "standalone", Real: true, Start: scene.Standalone()},
	{Name: "ensemble", Real: true, Start: scene.Ensemble(3, rig.WithConfig("syncLimit", "100"))}, // 20 s: a stall is no reason to elect
}

// eachServer runs a test on every kind of servers. Servers that are not installed are skipped. The test
// runs beside others, and so do its kinds.
func eachServer(t *testing.T, run func(t *testing.T, at place)) {
	t.Parallel()
	scene.Each(t, kinds, func(t *testing.T, _ *scene.ServerKind, addrs string) {
		t.Parallel()
		addr, _, _ := strings.Cut(addrs, ",")
		run(t, place{addr, scene.Chroot()})
	})
}

// here is an embedded server, for tests that do not depend on servers.
func here(t *testing.T) place { return place{embedded.Run(t).Addr(), "/test"} }
