package access

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// hostName is the server's name in its certificate, beside its address.
const hostName = "zk.turnstile.example"

// secured is a real server with TLS, and what its clients need.
type secured struct {
	*rig.Server
	authority *rig.Authority
}

// startSecured starts one that demands certificates of its clients, or does not ask for any. It speaks these protocols, or
// those of its version's own choice.
func startSecured(t *testing.T, demand bool, protocols ...string) *secured {
	t.Helper()
	rig.Require(t)
	authority, err := rig.NewAuthority("the authority")
	require.NoError(t, err)
	certificate, err := authority.Server(hostName, "127.0.0.1", "localhost")
	require.NoError(t, err)
	server := rig.StartStandalone(t, rig.WithTLS(rig.TLS{Certificate: certificate, Clients: authority, Demand: demand, Protocols: protocols}))
	return &secured{server, authority}
}

// at is the server's port without TLS, for looking from outside.
func (s *secured) at() *place { return &place{Servers: stories.At("", s.Addr())} }

// trusting is the configuration of a client that trusts the server's authority.
func (s *secured) trusting() *tls.Config { return &tls.Config{RootCAs: s.authority.Pool()} }

// as adds a certificate of that name, of the given authority.
func as(t *testing.T, cfg *tls.Config, authority *rig.Authority, name string) *tls.Config {
	t.Helper()
	certificate, err := authority.Client(name)
	require.NoError(t, err)
	cfg.Certificates = []tls.Certificate{certificate}
	return cfg
}

// requireRefused opens a client that cannot get in, and ends its ctx when it has tried and failed:
// a client that dials for the second time has told before why the first time failed. The error says
// why.
func requireRefused(t *testing.T, addr string, why string, opts ...locks.Option) {
	t.Helper()
	for {
		ctx, giveUp := context.WithCancel(patient.Deadline(t))
		var dials atomic.Int32
		client, err := locks.Open(ctx, addr, append(slices.Clone(opts), locks.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials.Add(1) == 2 {
				giveUp()
			}
			return new(net.Dialer).DialContext(ctx, network, address)
		}))...)
		giveUp()
		require.Nil(t, client)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, addr)
		// A dial, TLS included, has two seconds. A busy machine may need longer.
		if text := err.Error(); !strings.Contains(text, "i/o timeout") && !strings.Contains(text, "deadline exceeded") {
			require.ErrorContains(t, err, why)
			return
		}
	}
}

// A server that asks its clients for no certificate.
func TestRealTLS(t *testing.T) {
	server := startSecured(t, false, "TLSv1.2", "TLSv1.3")
	for name, cfg := range map[string]*tls.Config{
		"by its address":                   server.trusting(),
		"by the name in its certificate":   {RootCAs: server.authority.Pool(), ServerName: hostName},
		"with the oldest protocol of ours": {RootCAs: server.authority.Pool(), MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12},
	} {
		t.Run(name, func(t *testing.T) {
			use(t, patient.Open(t, server.SecureAddr(), locks.WithTLS(cfg)), "/tls")
		})
	}
	t.Run("by the name that it was configured with", func(t *testing.T) {
		_, port, err := net.SplitHostPort(server.SecureAddr())
		require.NoError(t, err)
		use(t, patient.Open(t, "localhost:"+port, locks.WithTLS(server.trusting())), "/tls")
	})
	t.Run("in one queue with clients without TLS", func(t *testing.T) {
		first := patient.LockAt(t, patient.Open(t, server.SecureAddr(), locks.WithTLS(server.trusting())), "/both")
		second := patient.Queue(t, patient.Open(t, server.Addr()), "/both")
		patient.GiveBack(t, first)
		lease := second.Granted(t)
		require.Greater(t, lease.Token(), first.Token())
		patient.GiveBack(t, lease)
	})
	t.Run("with a credential", func(t *testing.T) {
		client := patient.Open(t, server.SecureAddr(), locks.WithTLS(server.trusting()), credential(alice), locks.WithACL(onlyMe...))
		lease := patient.LockAt(t, client, "/tls-digest")
		require.Equal(t, []zk.ACL{may(alice, zk.PermAll)}, server.at().acl(t, alice, "/tls-digest/"+lease.Node()))
		patient.GiveBack(t, lease)
	})
	t.Run("a holder reconnects after a cut and refusals", func(t *testing.T) { reconnectWithTLS(t, server) })
}

func reconnectWithTLS(t *testing.T, server *secured) {
	const refusals = 3
	var conns []net.Conn
	var dials atomic.Int32
	client := patient.Open(t, server.SecureAddr(), locks.WithTLS(server.trusting()),
		locks.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			n := dials.Add(1)
			if 1 < n && n <= 1+refusals {
				return nil, net.ErrClosed
			}
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if n == 1 {
				conns = append(conns, conn)
			}
			return conn, err
		}))
	mutex, rec := patient.Recorded(t, client, "/tls-cut")
	lease := patient.Locked(t, mutex.Lock)
	session := client.Session().ID()
	require.NoError(t, conns[0].Close()) // under the TLS that is on it
	_, err := rec.AwaitNth(patient.Deadline(t), messages.StateHeld, 2)
	require.NoError(t, err)
	require.Equal(t, session, client.Session().ID())
	require.True(t, lease.Valid())
	patient.GiveBack(t, lease)
	require.GreaterOrEqual(t, dials.Load(), int32(2+refusals))
}

// A client that is not let in is told why when its ctx ends.
func TestRealTLSRefused(t *testing.T) {
	server := startSecured(t, false, "TLSv1.2")
	stranger, err := rig.NewAuthority("a stranger")
	require.NoError(t, err)
	for name, refused := range map[string]struct {
		cfg *tls.Config
		why string
	}{
		"a server of an authority that the client does not know": {&tls.Config{RootCAs: stranger.Pool()},
			"certificate signed by unknown authority"},
		"a server that has another name than the client expects": {
			&tls.Config{RootCAs: server.authority.Pool(), ServerName: "elsewhere.example"},
			"not elsewhere.example"},
		"a server that is too old": {&tls.Config{RootCAs: server.authority.Pool(), MinVersion: tls.VersionTLS13}, "TLS"},
	} {
		t.Run(name, func(t *testing.T) { requireRefused(t, server.SecureAddr(), refused.why, locks.WithTLS(refused.cfg)) })
	}
	t.Run("a server whose certificate does not have its address", func(t *testing.T) {
		certificate, err := server.authority.Server(hostName)
		require.NoError(t, err)
		other := rig.StartStandalone(t, rig.WithTLS(rig.TLS{Certificate: certificate, Clients: server.authority}))
		requireRefused(t, other.SecureAddr(), "127.0.0.1", locks.WithTLS(server.trusting()))
		named := server.trusting()
		named.ServerName = hostName
		use(t, patient.Open(t, other.SecureAddr(), locks.WithTLS(named)), "/named")
	})
	t.Run("a client with TLS at a port without", func(t *testing.T) {
		requireRefused(t, server.Addr(), "TLS", locks.WithTLS(server.trusting()))
	})
	t.Run("a client without TLS at a port with it", func(t *testing.T) {
		requireRefused(t, server.SecureAddr(), "expect TLS")
	})
}

// badCertificate is the server's word on a client's. With TLS 1.3 the client has shaken hands then, and reads it in
// place of its session.
const badCertificate = "remote error: tls: bad certificate"

// A server that demands certificates of its clients, and knows them by those.
func TestRealTLSWithClientCertificates(t *testing.T) {
	server := startSecured(t, true)
	t.Run("with one", func(t *testing.T) {
		use(t, patient.Open(t, server.SecureAddr(), locks.WithTLS(as(t, server.trusting(), server.authority, alice))), "/with")
		server.at().requireCount(t, 0, "/with")
	})
	t.Run("without one", func(t *testing.T) {
		requireRefused(t, server.SecureAddr(), badCertificate, locks.WithTLS(server.trusting()))
	})
	t.Run("with one of an authority that the server does not know", func(t *testing.T) {
		stranger, err := rig.NewAuthority("a stranger")
		require.NoError(t, err)
		requireRefused(t, server.SecureAddr(), badCertificate, locks.WithTLS(as(t, server.trusting(), stranger, alice)))
	})
	t.Run("a certificate is an identity for ACLs", func(t *testing.T) {
		a := patient.Open(t, server.SecureAddr(), locks.WithTLS(as(t, server.trusting(), server.authority, alice)), locks.WithACL(onlyMe...))
		lease := patient.LockAt(t, a, "/hers")
		require.Equal(t, []zk.ACL{{Perms: zk.PermAll, Scheme: "x509", ID: "CN=" + alice}},
			aclAs(t, server, alice, "/hers/"+lease.Node()))
		b := patient.Open(t, server.SecureAddr(), locks.WithTLS(as(t, server.trusting(), server.authority, bob)))
		for _, stranger := range []*locks.Client{b, patient.Open(t, server.Addr())} {
			_, err := stranger.Mutex("/hers").Lock(patient.Deadline(t))
			require.ErrorIs(t, err, zkconn.ErrNoAuth)
			require.ErrorContains(t, err, "/hers")
		}
		patient.GiveBack(t, lease)
		use(t, a, "/hers")
	})
}

// aclAs reads a node's list with a certificate of that name.
func aclAs(t *testing.T, server *secured, name, path string) []zk.ACL {
	t.Helper()
	cfg := as(t, server.trusting(), server.authority, name)
	cfg.ServerName = "127.0.0.1"
	conn, events, err := zk.Connect([]string{server.SecureAddr()}, patient.Session, zk.WithLogger(rig.Silent{}),
		zk.WithDialer(func(network, address string, _ time.Duration) (net.Conn, error) {
			return tls.DialWithDialer(&net.Dialer{Timeout: patient.Bound}, network, address, cfg) // the library's second is short
		}))
	require.NoError(t, err)
	t.Cleanup(func() {
		conn.Close()
		for range events { // its goroutines have ended when the channel is closed
		}
	})
	acl, _, err := conn.GetACL(path)
	require.NoError(t, err)
	return acl
}

// TestRealSASLBelowTLS: the exchange, on servers that use Netty.
func TestRealSASLBelowTLS(t *testing.T) {
	rig.Require(t)
	authority, err := rig.NewAuthority("the authority")
	require.NoError(t, err)
	certificate, err := authority.Server("localhost", "127.0.0.1")
	require.NoError(t, err)
	s := rig.StartStandalone(t, rig.WithTLS(rig.TLS{Certificate: certificate, Clients: authority}), jaas,
		rig.WithConfig("sessionRequireClientSASLAuth", "true"))
	secure := locks.WithTLS(&tls.Config{RootCAs: authority.Pool()})
	proxy := rig.NewProxy(t, s.Addr()) // of the port without, which Netty serves too
	for _, client := range []*locks.Client{saslClient(t, s.SecureAddr(), secure), saslClient(t, proxy.Addr())} {
		lease := patient.LockAt(t, client, "/mine")
		proxy.Cut()
		patient.GiveBack(t, lease)
	}
	for addr, opts := range map[string][]locks.Option{s.SecureAddr(): {secure}, s.Addr(): nil} {
		ctx := patient.Deadline(t)
		_, err = locks.Open(ctx, addr, append(opts, locks.WithSASL(mechanism(t, bob, "a guess")))...)
		require.NoError(t, ctx.Err())
		require.ErrorIs(t, err, zkconn.ErrAuthFailed)
	}
}
