package adapters

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// certmagic takes these values directly, without a wrapper.
var (
	_ certmagic.Locker    = (*locks.Named)(nil)
	_ certmagic.TryLocker = (*locks.Named)(nil)
)

const domain = "example.com"

// locker is the part of certmagic's Storage that locks.
type locker interface {
	certmagic.Locker
	TryLock(ctx context.Context, name string) (bool, error)
}

// storage keeps certificates in files, which all processes share, and locks elsewhere.
type storage struct {
	*certmagic.FileStorage
	locks locker
}

func (s storage) Lock(ctx context.Context, name string) error   { return s.locks.Lock(ctx, name) }
func (s storage) Unlock(ctx context.Context, name string) error { return s.locks.Unlock(ctx, name) }
func (s storage) TryLock(ctx context.Context, name string) (bool, error) {
	return s.locks.TryLock(ctx, name)
}

// noLock lets everybody in.
type noLock struct{}

func (noLock) Lock(context.Context, string) error            { return nil }
func (noLock) Unlock(context.Context, string) error          { return nil }
func (noLock) TryLock(context.Context, string) (bool, error) { return true, nil }

// authority issues certificates. Requests are counted, and wait until they are let go on.
type authority struct {
	*gate
	key  *ecdsa.PrivateKey
	root *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(1000 * time.Hour), BasicConstraintsValid: true}
	return &authority{newGate(), key, root}
}

// IssuerKey names the authority.
func (*authority) IssuerKey() string { return "test" }

// Issue signs what is asked for.
func (a *authority) Issue(ctx context.Context, csr *x509.CertificateRequest) (*certmagic.IssuedCertificate, error) {
	n, err := a.pass(ctx)
	if err != nil {
		return nil, err
	}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(int64(n) + 1), DNSNames: csr.DNSNames, NotBefore: a.root.NotBefore,
		NotAfter: a.root.NotAfter}
	signed, err := x509.CreateCertificate(rand.Reader, leaf, a.root, csr.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return &certmagic.IssuedCertificate{Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})}, nil
}

// obtain has a process of its own obtain the certificate, if the store has none.
func (a *authority) obtain(t *testing.T, folder string, by locker) <-chan error {
	t.Helper()
	var config *certmagic.Config
	cache := certmagic.NewCache(certmagic.CacheOptions{Logger: zap.NewNop(),
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return config, nil }})
	t.Cleanup(cache.Stop)
	config = certmagic.New(cache, certmagic.Config{Issuers: []certmagic.Issuer{a}, Logger: zap.NewNop(),
		Storage: storage{&certmagic.FileStorage{Path: folder}, by}})
	obtained := make(chan error, 1)
	go func() { obtained <- config.ObtainCertSync(scene.Deadline(t), domain) }()
	return obtained
}

// TestCertMagic: three processes want one certificate. With the lock it is issued once; without it, three times.
func TestCertMagic(t *testing.T) {
	const processes = 3
	eachServer(t, func(t *testing.T, servers string) {
		a, folder := newAuthority(t), t.TempDir()
		var obtained []<-chan error
		for range processes {
			obtained = append(obtained, a.obtain(t, folder, scene.Open(t, servers).Keyed("/certificates").ByName()))
		}
		scene.Receive(t, a.inside)
		awaitQueue(t, servers, "/certificates/issue_cert_"+domain, processes)
		close(a.opened)
		for _, o := range obtained {
			require.NoError(t, scene.Receive(t, o))
		}
		require.EqualValues(t, 1, a.came.Load())
	})
	t.Run("without a lock", func(t *testing.T) {
		a, folder := newAuthority(t), t.TempDir()
		var obtained []<-chan error
		for range processes {
			obtained = append(obtained, a.obtain(t, folder, noLock{}))
		}
		for range processes {
			scene.Receive(t, a.inside)
		}
		close(a.opened)
		for _, o := range obtained {
			require.NoError(t, scene.Receive(t, o))
		}
		require.EqualValues(t, processes, a.came.Load())
	})
}

// TestCertMagicLosesItsLock: the session of the process that obtains the certificate expires. OnLost names the key, and the
// next process goes on meanwhile. certmagic itself hears nothing, and obtains the certificate, too.
func TestCertMagicLosesItsLock(t *testing.T) {
	server := embedded.Run(t)
	a, folder := newAuthority(t), t.TempDir()
	lost := make(chan string, 1)
	first := scene.Open(t, server.Addr()).Keyed("/certificates", locks.WithOnLost(func(key string, err error) {
		lost <- key
	})).ByName()
	const key = "issue_cert_" + domain
	one := a.obtain(t, folder, first)
	scene.Receive(t, a.inside)
	require.NoError(t, server.Expire(first.Lease(key).Session()))
	require.Equal(t, key, scene.Receive(t, lost))
	two := a.obtain(t, folder, scene.Open(t, server.Addr()).Keyed("/certificates").ByName())
	scene.Receive(t, a.inside)
	close(a.opened)
	require.NoError(t, scene.Receive(t, one))
	require.NoError(t, scene.Receive(t, two))
	require.EqualValues(t, 2, a.came.Load())
	require.ErrorIs(t, first.Unlock(scene.Deadline(t), key), locks.ErrNotHeld, "certmagic has given it back")
}
