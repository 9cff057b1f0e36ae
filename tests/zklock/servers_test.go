package zklock

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// place is a server, and a chroot of the test's own.
type place struct {
	addr   string
	chroot string
	// version is the version that the server reports.
	version string
}

// connect is the value of --zk.
func (p place) connect() string { return p.addr + p.chroot }

// client looks from outside, and locks beside zklock.
func (p place) client(t *testing.T) *locks.Client { return patient.Open(t, p.connect()) }

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
	return place{proxy.Addr(), p.chroot, p.version}, proxy
}

// kind is a kind of servers, started once for the package.
type kind struct {
	name    string
	require func(testing.TB)
	start   func() (addr string, stop func(), err error)

	once sync.Once
	addr string
	stop func()
	err  error
}

var kinds = []*kind{
	{name: "embedded", require: func(testing.TB) {}, start: func() (string, func(), error) {
		s, err := embedded.Start()
		if err != nil {
			return "", nil, err
		}
		return s.Addr(), s.Close, nil
	}},
	{name: "standalone", require: rig.Require, start: func() (string, func(), error) {
		s, err := rig.NewStandalone()
		if err != nil {
			return "", nil, err
		}
		return s.Addr(), func() { _ = s.Stop() }, nil
	}},
	{name: "ensemble", require: rig.Require, start: func() (string, func(), error) {
		e, err := rig.NewEnsemble(3, rig.WithConfig("syncLimit", "100")) // 20 s: a stall is no reason to elect
		if err != nil {
			return "", nil, err
		}
		return e.Members()[0].Addr(), func() { _ = e.Stop() }, nil
	}},
}

var chroots atomic.Int64

func (k *kind) place(t *testing.T) place {
	k.require(t)
	k.once.Do(func() { k.addr, k.stop, k.err = k.start() })
	require.NoError(t, k.err)
	version := rig.Version()
	if k.name == "embedded" {
		version, _, _ = strings.Cut(embedded.Version, "-")
	}
	return place{k.addr, fmt.Sprintf("/test-%d", chroots.Add(1)), version}
}

func stopServers() {
	for _, k := range kinds {
		if k.stop != nil {
			k.stop()
		}
	}
}

// eachServer runs a test on every kind of servers. Servers that are not installed are skipped. The test
// runs beside others, and so do its kinds.
func eachServer(t *testing.T, run func(t *testing.T, at place)) {
	t.Parallel()
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			run(t, k.place(t))
		})
	}
}

// here is the embedded server, for tests that do not depend on servers.
func here(t *testing.T) place { return kinds[0].place(t) }
