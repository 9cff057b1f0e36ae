package zkconn

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// certificate gives one for the name, signed by itself, and a pool that trusts it.
func certificate(t *testing.T, name string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// secured lays TLS over what the fake server's dialer gives, as a server would.
func secured(t *testing.T, s *fakeServer, cert tls.Certificate) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		plain, err := s.dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		client, server := net.Pipe()
		inside := tls.Server(server, &tls.Config{Certificates: []tls.Certificate{cert}})
		s.running.Go(func() { relay(inside, plain) })
		s.running.Go(func() { relay(plain, inside) })
		return client, nil
	}
}

func relay(to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func TestTLSVerifiesTheNameAsConfigured(t *testing.T) {
	cert, pool := certificate(t, "zk1.example")
	settings := &tls.Config{RootCAs: pool}

	server := newFakeServer(t)
	c, events := dialFake(t, server, "zk1.example:2281", WithTLS(settings), WithDialer(secured(t, server, cert)))
	expect(t, events, Connected)
	require.NoError(t, c.Sync("/a"))
	server.cut()
	expect(t, events, Disconnected)
	expect(t, events, Connected)
	require.Empty(t, settings.ServerName, "the caller's configuration is left alone")
	c.Close()

	c, events = dialFake(t, server, "zk2.example:2281", WithTLS(settings), WithDialer(secured(t, server, cert)))
	require.Eventually(t, func() bool { return c.LastError() != nil }, minute, tick)
	require.ErrorContains(t, c.LastError(), "zk2.example:2281")
	require.ErrorContains(t, c.LastError(), "TLS")
	require.Empty(t, events)
	c.Close()

	own := &tls.Config{RootCAs: pool, ServerName: "zk1.example"}
	_, events = dialFake(t, server, "zk2.example:2281", WithTLS(own), WithDialer(secured(t, server, cert)))
	expect(t, events, Connected)
}
