package digestmd5

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// Mechanism authenticates one user. It is immutable, and may be used by any number of connections at once.
type Mechanism struct {
	user     string
	realm    string // empty: the server's
	service  string
	host     string
	password func() string // behind a function, so that no printer finds it
	cnonce   func() string
}

// Option changes a Mechanism.
type Option func(*Mechanism) error

// WithRealm insists on a realm, among those that the server offers. By default the first one is taken; ZooKeeper's
// servers offer one, "zk-sasl-md5".
func WithRealm(realm string) Option {
	return func(m *Mechanism) error {
		if realm == "" {
			return fmt.Errorf("%w: DIGEST-MD5: realm %q: must not be empty", zkconn.ErrBadConfig, realm)
		}
		m.realm = realm
		return nil
	}
}

// WithService sets the client's name for the server: service and host of the digest-uri.
// ZooKeeper's servers are all called zookeeper and zk-sasl-md5 (SaslServerPrincipal), which is the
// default.
func WithService(service, host string) Option {
	return func(m *Mechanism) error {
		if service == "" || host == "" {
			return fmt.Errorf("%w: DIGEST-MD5: service %q at %q: must not be empty", zkconn.ErrBadConfig, service, host)
		}
		m.service, m.host = service, host
		return nil
	}
}

// New makes a mechanism for a user with a password; neither may be empty. It fails with zkconn.ErrBadConfig, and a
// text that does not show the password.
func New(user, password string, opts ...Option) (*Mechanism, error) {
	switch {
	case user == "":
		return nil, fmt.Errorf("%w: DIGEST-MD5: user %q: must not be empty", zkconn.ErrBadConfig, user)
	case password == "":
		return nil, fmt.Errorf("%w: DIGEST-MD5: password of %q: must not be empty", zkconn.ErrBadConfig, user)
	}
	m := &Mechanism{
		user: user, service: "zookeeper", host: "zk-sasl-md5",
		password: func() string { return password }, cnonce: randomNonce,
	}
	for _, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("%w: DIGEST-MD5: option: must not be nil", zkconn.ErrBadConfig)
		}
		if err := opt(m); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Name gives "DIGEST-MD5".
func (m *Mechanism) Name() string { return "DIGEST-MD5" }

// Principal gives the user.
func (m *Mechanism) Principal() string { return m.user }

// String gives mechanism and user.
func (m *Mechanism) String() string { return fmt.Sprintf("%s as %q", m.Name(), m.user) }

// GoString is String: %#v prints no more.
func (m *Mechanism) GoString() string { return m.String() }

// randomNonce gives 128 bits that nobody has used before.
func randomNonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, see its documentation
	return hex.EncodeToString(b[:])
}
