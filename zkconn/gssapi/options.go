package gssapi

import (
	"fmt"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// Option changes a mechanism.
type Option func(*settings) error

type settings struct {
	keytab, who   string
	cache         string
	config        string
	serviceName   string
	service       *principal
	canonicalHost bool
	clock         func() time.Time
}

// WithKeytab takes the keys of a file. The principal is name[/instance][@REALM]; without a realm it
// is in the default one of krb5.conf. An empty one stands for the principal of the file's keys, if
// all are the same principal's.
func WithKeytab(path, who string) Option {
	return func(s *settings) error {
		if path == "" {
			return fmt.Errorf("%w: keytab: path must not be empty", zkconn.ErrBadConfig)
		}
		s.keytab, s.who = path, who
		return nil
	}
}

// WithCredentialCache takes the tickets of a file: a path, maybe with FILE: before it. An empty
// one, which is the default, stands for KRB5CCNAME, or /tmp/krb5cc_<user id>; default_ccache_name
// in krb5.conf is not looked at. Caches of other types (KCM, KEYRING, DIR) are refused.
func WithCredentialCache(name string) Option {
	return func(s *settings) error {
		s.cache = name
		return nil
	}
}

// WithConfig names krb5.conf. An empty name, which is the default, means the files of KRB5_CONFIG,
// or /etc/krb5.conf. The file is read once, by New. It sets default_realm, the KDCs of realms,
// dns_lookup_kdc, domain_realm, the encryption types, clockskew, ticket_lifetime and
// udp_preference_limit (1: TCP alone); files that it includes are read, too.
func WithConfig(path string) Option {
	return func(s *settings) error {
		s.config = path
		return nil
	}
}

// WithService changes the first part of the servers' principals; zookeeper unless told otherwise.
// With Java it is zookeeper.sasl.client.username.
func WithService(name string) Option {
	return func(s *settings) error {
		if name == "" || strings.ContainsAny(name, "/@ \t\r\n") {
			return fmt.Errorf("%w: service %q: must be the first part of a principal", zkconn.ErrBadConfig, name)
		}
		s.serviceName = name
		return nil
	}
}

// WithServerPrincipal sets one principal for all servers, on any host: name[/instance][@REALM].
// With Java it is zookeeper.server.principal.
func WithServerPrincipal(name string) Option {
	return func(s *settings) error {
		p := parsePrincipal(name)
		for _, part := range append(p.name.NameString, "@") {
			if part == "" {
				return fmt.Errorf("%w: server principal %q: must be name/host@REALM", zkconn.ErrBadConfig, name)
			}
		}
		s.service = &p
		return nil
	}
}

// WithoutCanonicalHost has the servers' principals contain the hosts as they were configured.
// Otherwise, as with Java's client, it is the name that the DNS gives for the address, where that
// name leads back to it: an ensemble may be configured by addresses. With Java it is
// zookeeper.sasl.client.canonicalize.hostname=false.
func WithoutCanonicalHost() Option {
	return func(s *settings) error {
		s.canonicalHost = false
		return nil
	}
}

// WithClock sets the clock for the lifetimes of tickets and the stamps of requests; by default it
// is the machine's. It is for tests, and for programs that know the KDCs' time better than the
// machine.
func WithClock(now func() time.Time) Option {
	return func(s *settings) error {
		if now == nil {
			return fmt.Errorf("%w: clock: must not be nil", zkconn.ErrBadConfig)
		}
		s.clock = now
		return nil
	}
}
