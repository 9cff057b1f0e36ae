package kerberos

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig/kdc"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/gssapi"
)

const (
	// servers is the principal of all ZooKeeper servers: they are on loopback.
	servers = "zookeeper/localhost"
	// serversPassword gives the servers' principal the same keys at every KDC: a shared server can read the tickets of
	// each test's KDC.
	serversPassword = "only-for-tests"
)

// newRealm starts a KDC that knows servers and two people.
func newRealm(t *testing.T) *kdc.KDC {
	t.Helper()
	k := kdc.Start(t)
	k.AddWith(t, servers, "-pw", serversPassword)
	k.Add(t, "alice", "bob")
	return k
}

// as makes the mechanism of somebody with a keytab.
func as(t *testing.T, k *kdc.KDC, who string, opts ...gssapi.Option) *gssapi.Mechanism {
	t.Helper()
	return mechanism(t, k, append([]gssapi.Option{gssapi.WithKeytab(k.Keytab(t, who), who)}, opts...)...)
}

func mechanism(t *testing.T, k *kdc.KDC, opts ...gssapi.Option) *gssapi.Mechanism {
	t.Helper()
	m, err := gssapi.New(append([]gssapi.Option{gssapi.WithConfig(k.Config())}, opts...)...)
	require.NoError(t, err)
	return m
}

// here is a server that is not asked for anything.
var here = zkconn.SASLServer{Host: "localhost", Address: "127.0.0.1:2181"}

// start begins an exchange with a server.
func start(ctx context.Context, m *gssapi.Mechanism) error {
	x, err := m.Start(ctx, here)
	if err == nil {
		_, err = x.Initial()
	}
	return err
}

// refused is start with a server that answers with an error.
func refused(ctx context.Context, m *gssapi.Mechanism) error {
	x, err := m.Start(ctx, here)
	if err == nil {
		x.(interface{ Refused() }).Refused()
	}
	return err
}

// deadline bounds a test that hangs.
func deadline(t *testing.T) context.Context { return scene.Deadline(t) }

// shifted is a clock that can be set.
type shifted struct{ by time.Duration }

func (s *shifted) now() time.Time { return time.Now().Add(s.by) }
