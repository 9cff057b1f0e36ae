package sasl

import (
	"crypto/tls"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TLS below the exchange, on servers that use Netty for it.
func TestRealTLS(t *testing.T) {
	rig.Require(t)
	authority, err := rig.NewAuthority("the authority")
	require.NoError(t, err)
	certificate, err := authority.Server("localhost", "127.0.0.1")
	require.NoError(t, err)
	s := rig.StartStandalone(t, rig.WithTLS(rig.TLS{Certificate: certificate, Clients: authority}),
		rig.WithJAAS(rig.DigestJAAS(passwords)), rig.WithConfig("sessionRequireClientSASLAuth", "true"))
	secure := locks.WithTLS(&tls.Config{RootCAs: authority.Pool()})
	proxy := rig.NewProxy(t, s.Addr()) // of the port without, which Netty serves too
	for _, client := range []*locks.Client{mine(t, s.SecureAddr(), secure), mine(t, proxy.Addr())} {
		lease := lock(t, client, "/mine")
		proxy.Cut()
		unlock(t, lease)
	}
	for addr, opts := range map[string][]locks.Option{s.SecureAddr(): {secure}, s.Addr(): nil} {
		ctx := deadline(t)
		_, err = locks.Open(ctx, addr, append(opts, locks.WithSASL(digest(t, "bob", "a guess")))...)
		require.NoError(t, ctx.Err())
		require.ErrorIs(t, err, zkconn.ErrAuthFailed)
	}
}
