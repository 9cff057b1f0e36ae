package access

import (
	"context"
	"crypto/tls"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// hostName is the server's name in its certificate, beside its address.
const hostName = "zk.turnstile.example"

// secured is a real server with TLS, and what its clients need.
type secured struct {
	*rig.Server
	authority *rig.Authority
}

// startSecured starts one whose certificate has its address and its names.
func startSecured(t *testing.T, with rig.TLS, opts ...rig.Option) *secured {
	t.Helper()
	rig.Require(t)
	authority, err := rig.NewAuthority("the authority")
	require.NoError(t, err)
	with.Clients = authority
	with.Certificate, err = authority.Server(hostName, "127.0.0.1", "localhost")
	require.NoError(t, err)
	return &secured{rig.StartStandalone(t, append(opts, rig.WithTLS(with))...), authority}
}

// at is the server's port without TLS, for looking from outside.
func (s *secured) at() *place { return &place{Servers: scene.At("", s.Addr())} }

// trusting is the configuration of a client that trusts the server's authority.
func (s *secured) trusting() *tls.Config { return &tls.Config{RootCAs: s.authority.Pool()} }

// as is the option of a client that trusts the server and has a certificate of that name, of an authority.
func (s *secured) as(t *testing.T, authority *rig.Authority, name string) locks.Option {
	t.Helper()
	certificate, err := authority.Client(name)
	require.NoError(t, err)
	cfg := s.trusting()
	cfg.Certificates = []tls.Certificate{certificate}
	return locks.WithTLS(cfg)
}

// requireRefused opens a client that cannot get in, and ends its ctx when it has tried and failed:
// a client that dials for the second time has told before why the first time failed. The error says
// why.
func requireRefused(t *testing.T, addr string, why string, opts ...locks.Option) {
	t.Helper()
	for {
		ctx, giveUp := context.WithCancel(scene.Deadline(t))
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
	server := startSecured(t, rig.TLS{Protocols: []string{"TLSv1.2", "TLSv1.3"}})
	for name, cfg := range map[string]*tls.Config{
		"by its address":                   server.trusting(),
		"by the name in its certificate":   {RootCAs: server.authority.Pool(), ServerName: hostName},
		"with the oldest protocol of ours": {RootCAs: server.authority.Pool(), MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12},
	} {
		t.Run(name, func(t *testing.T) {
			use(t, scene.Open(t, server.SecureAddr(), locks.WithTLS(cfg)), "/tls")
		})
	}
	t.Run("by the name that it was configured with", func(t *testing.T) {
		_, port, err := net.SplitHostPort(server.SecureAddr())
		require.NoError(t, err)
		use(t, scene.Open(t, "localhost:"+port, locks.WithTLS(server.trusting())), "/tls")
	})
	t.Run("in one queue with clients without TLS", func(t *testing.T) {
		first := scene.LockAt(t, scene.Open(t, server.SecureAddr(), locks.WithTLS(server.trusting())), "/both")
		second := scene.Queue(t, scene.Open(t, server.Addr()), "/both")
		scene.GiveBack(t, first)
		lease := second.Granted(t)
		require.Greater(t, lease.Token(), first.Token())
		scene.GiveBack(t, lease)
	})
	t.Run("with a credential", func(t *testing.T) {
		client := scene.Open(t, server.SecureAddr(), locks.WithTLS(server.trusting()), credential(alice), locks.WithACL(onlyMe...))
		lease := scene.LockAt(t, client, "/tls-digest")
		require.Equal(t, []zk.ACL{may(alice, zk.PermAll)}, server.at().acl(t, alice, "/tls-digest/"+lease.Node()))
		scene.GiveBack(t, lease)
	})
	t.Run("a holder reconnects after a cut and refusals", func(t *testing.T) { reconnectWithTLS(t, server) })
}

func reconnectWithTLS(t *testing.T, server *secured) {
	const refusals = 3
	var conns []net.Conn
	var dials atomic.Int32
	client := scene.Open(t, server.SecureAddr(), locks.WithTLS(server.trusting()),
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
	mutex, rec := scene.Recorded(t, client, "/tls-cut")
	lease := scene.Locked(t, mutex.Lock)
	session := client.Session().ID()
	require.NoError(t, conns[0].Close()) // under the TLS that is on it
	_, err := rec.AwaitNth(scene.Deadline(t), messages.StateHeld, 2)
	require.NoError(t, err)
	require.Equal(t, session, client.Session().ID())
	require.True(t, lease.Valid())
	scene.GiveBack(t, lease)
	require.GreaterOrEqual(t, dials.Load(), int32(2+refusals))
}

// A client that is not let in is told why when its ctx ends.
func TestRealTLSRefused(t *testing.T) {
	server, demanding := startSecured(t, rig.TLS{Protocols: []string{"TLSv1.2"}}), startSecured(t, rig.TLS{Demand: true})
	certificate, err := server.authority.Server(hostName)
	require.NoError(t, err)
	other := rig.StartStandalone(t, rig.WithTLS(rig.TLS{Certificate: certificate, Clients: server.authority})).SecureAddr()
	stranger, err := rig.NewAuthority("a stranger")
	require.NoError(t, err)
	trusting := func(change func(*tls.Config)) locks.Option {
		cfg := server.trusting()
		change(cfg)
		return locks.WithTLS(cfg)
	}
	named := trusting(func(cfg *tls.Config) { cfg.ServerName = hostName })
	// The server's word on a client's certificate. With TLS 1.3 the client has shaken hands then, and reads it in place of its
	// session.
	const bad = "remote error: tls: bad certificate"
	for name, c := range map[string]struct {
		addr, why string
		opts      []locks.Option
	}{
		"a server of an authority that the client does not know": {server.SecureAddr(), "certificate signed by unknown authority",
			[]locks.Option{locks.WithTLS(&tls.Config{RootCAs: stranger.Pool()})}},
		"a server that has another name than the client expects": {server.SecureAddr(), "not elsewhere.example",
			[]locks.Option{trusting(func(cfg *tls.Config) { cfg.ServerName = "elsewhere.example" })}},
		"a server that is too old": {server.SecureAddr(), "TLS",
			[]locks.Option{trusting(func(cfg *tls.Config) { cfg.MinVersion = tls.VersionTLS13 })}},
		"a server whose certificate does not have its address": {other, "127.0.0.1", []locks.Option{locks.WithTLS(server.trusting())}},
		"a client with TLS at a port without":                  {server.Addr(), "TLS", []locks.Option{locks.WithTLS(server.trusting())}},
		"a client without TLS at a port with it":               {server.SecureAddr(), "expect TLS", nil},
		"a client without a certificate":                       {demanding.SecureAddr(), bad, []locks.Option{locks.WithTLS(demanding.trusting())}},
		"a client with one of an authority that the server does not know": {demanding.SecureAddr(), bad,
			[]locks.Option{demanding.as(t, stranger, alice)}},
	} {
		t.Run(name, func(t *testing.T) { requireRefused(t, c.addr, c.why, c.opts...) })
	}
	use(t, scene.Open(t, other, named), "/named")
}

// A server that demands certificates of its clients, and knows them by those in ACLs.
func TestRealTLSWithClientCertificates(t *testing.T) {
	server := startSecured(t, rig.TLS{Demand: true})
	hers, his := server.as(t, server.authority, alice), server.as(t, server.authority, bob)
	a := scene.Open(t, server.SecureAddr(), hers, locks.WithACL(onlyMe...))
	lease := scene.LockAt(t, a, "/hers")
	for _, stranger := range []*locks.Client{scene.Open(t, server.SecureAddr(), his), scene.Open(t, server.Addr())} {
		_, err := stranger.Mutex("/hers").Lock(scene.Deadline(t))
		require.ErrorIs(t, err, zkconn.ErrNoAuth)
		require.ErrorContains(t, err, "/hers")
	}
	scene.GiveBack(t, lease)
	use(t, a, "/hers")
	// A session must be able to read its own nodes, so this is how the servers name her.
	named := locks.WithACL(zk.ACL{Perms: zk.PermAll, Scheme: "x509", ID: "CN=" + alice})
	use(t, scene.Open(t, server.SecureAddr(), hers, named, locks.WithParentACL(everyone...)), "/named")
	_, err := scene.Open(t, server.SecureAddr(), his, named, locks.WithParentACL(everyone...)).Mutex("/named").Lock(scene.Deadline(t))
	require.ErrorContains(t, err, "its own session may not read it")
}

// TestRealSASLBelowTLS: the exchange, on servers that use Netty.
func TestRealSASLBelowTLS(t *testing.T) {
	s := startSecured(t, rig.TLS{}, jaas, rig.WithConfig("sessionRequireClientSASLAuth", "true"))
	secure := locks.WithTLS(s.trusting())
	proxy := rig.NewProxy(t, s.Addr()) // of the port without, which Netty serves too
	for _, client := range []*locks.Client{saslClient(t, s.SecureAddr(), secure), saslClient(t, proxy.Addr())} {
		lease := scene.LockAt(t, client, "/mine")
		proxy.Cut()
		scene.GiveBack(t, lease)
	}
	for addr, opts := range map[string][]locks.Option{s.SecureAddr(): {secure}, s.Addr(): nil} {
		ctx := scene.Deadline(t)
		_, err := locks.Open(ctx, addr, append(opts, locks.WithSASL(mechanism(t, bob, "a guess")))...)
		require.NoError(t, ctx.Err())
		require.ErrorIs(t, err, zkconn.ErrAuthFailed)
	}
}
