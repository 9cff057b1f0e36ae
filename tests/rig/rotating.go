package rig

import (
	"crypto/tls"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// Rotating is a Proxy with TLS before a server without, and the PEM files of a client: certificates and the authority that
// both sides trust, which are replaced together.
type Rotating struct {
	*Proxy
	CA, Cert, Key string      // files
	Shaken        chan string // the name in the client's certificate, for each handshake
	folder        string
	current       atomic.Pointer[tls.Config]
}

// NewRotating begins with a client's certificate of that name.
func NewRotating(t testing.TB, target, name string) *Rotating {
	t.Helper()
	folder := t.TempDir()
	r := &Rotating{CA: filepath.Join(folder, "ca.pem"), Cert: filepath.Join(folder, "cert.pem"), Key: filepath.Join(folder, "key.pem"),
		Shaken: make(chan string, 1000), folder: folder}
	r.Rotate(t, name)
	listener, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	r.Proxy = serve(tls.NewListener(listener, &tls.Config{
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return r.current.Load(), nil },
	}), target)
	t.Cleanup(r.Proxy.Close)
	return r
}

// Rotate replaces everything, for the handshakes from here on. It is not for a moment at which a client connects.
func (r *Rotating) Rotate(t testing.TB, name string) {
	t.Helper()
	authority, err := NewAuthority("authority of " + name)
	if err != nil {
		t.Fatal(err)
	}
	server, err := authority.Server("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	client, err := authority.Client(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := authority.Write(r.folder, client); err != nil {
		t.Fatal(err)
	}
	r.current.Store(&tls.Config{
		Certificates: []tls.Certificate{server}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authority.Pool(),
		VerifyConnection: func(state tls.ConnectionState) error {
			r.Shaken <- state.PeerCertificates[0].Subject.CommonName
			return nil
		},
	})
}
