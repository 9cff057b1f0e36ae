package gssapi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jcmturner/gokrb5/v8/config"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// mechanismName is its name in SASL.
const mechanismName = "GSSAPI"

// Mechanism authenticates by Kerberos; it is for [zkconn.WithSASL]. Several connections may use it
// at the same time, and share its tickets. It is made by [New].
type Mechanism struct {
	state func() *state // behind a function, so that no printer finds the keys
}

type state struct {
	tickets  *tickets
	services *services
	origin   string // the file of the credentials
}

// New makes a mechanism. It reads krb5.conf and, if there is one, the keytab, and fails with
// [zkconn.ErrBadConfig] when they are missing or malformed, or the keytab has no key of the
// principal. A credential cache is read when a connection needs a ticket. Nothing is sent.
func New(opts ...Option) (*Mechanism, error) {
	s := settings{serviceName: "zookeeper", canonicalHost: true, clock: time.Now}
	for _, opt := range opts {
		if opt == nil {
			return nil, fmt.Errorf("%w: GSSAPI: option: must not be nil", zkconn.ErrBadConfig)
		}
		if err := opt(&s); err != nil {
			return nil, err
		}
	}
	cfg, err := readConfig(s.config)
	if err != nil {
		return nil, fmt.Errorf("%w: krb5.conf: %w", zkconn.ErrBadConfig, err)
	}
	kdcs := newKDCs(cfg, s.clock)
	source, origin, err := s.source(cfg, kdcs)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", zkconn.ErrBadConfig, err)
	}
	made := &state{
		tickets: newTickets(source, kdcs),
		services: &services{
			fixed: s.service, name: s.serviceName, canonical: s.canonicalHost, realms: cfg,
			lookUp: lookUp, names: map[string]knownName{},
		},
		origin: origin,
	}
	return &Mechanism{func() *state { return made }}, nil
}

// source makes the source of the first ticket, and names its file.
func (s *settings) source(cfg *config.Config, kdcs *kdcs) (source, string, error) {
	if s.keytab != "" && s.cache != "" {
		return nil, "", fmt.Errorf("both a keytab and a credential cache are given")
	}
	if s.keytab == "" {
		path, err := cachePath(s.cache)
		return &cacheSource{path: path, clock: s.clock}, "credential cache " + path, err
	}
	keys, err := readKeys(s.keytab)
	if err != nil {
		return nil, "", err
	}
	who := parsePrincipal(s.who)
	if s.who == "" {
		if who, err = keys.only(); err != nil {
			return nil, "", fmt.Errorf("keytab %s: %w", s.keytab, err)
		}
	}
	if who.realm == "" {
		who.realm = cfg.LibDefaults.DefaultRealm
	}
	if !who.valid() {
		return nil, "", fmt.Errorf("principal %q: must be name[/instance]@REALM, and krb5.conf has no default realm", s.who)
	}
	if len(keys.of(who)) == 0 {
		return nil, "", fmt.Errorf("keytab %s has no key of %s", s.keytab, who)
	}
	return &keytabSource{path: s.keytab, who: who, kdcs: kdcs}, "keytab " + s.keytab, nil
}

// Name is GSSAPI.
func (m *Mechanism) Name() string { return mechanismName }

// Principal is the client's principal, or words for it before a credential cache was read.
func (m *Mechanism) Principal() string {
	if m.state == nil {
		return ""
	}
	return m.state().tickets.source.owner()
}

// Start gets a ticket for a server, from a KDC where that is needed, within the context. It fails
// with an *[Error].
func (m *Mechanism) Start(ctx context.Context, server zkconn.SASLServer) (zkconn.SASLExchange, error) {
	if m.state == nil {
		return nil, fmt.Errorf("%w: the zero gssapi.Mechanism: must be made by New", zkconn.ErrBadConfig)
	}
	s := m.state()
	service, doubt := s.services.of(ctx, server)
	ticket, err := s.tickets.take(ctx, service)
	if err != nil {
		if errors.Is(err, ErrUnknownService) {
			s.services.forget()
		}
		return nil, judged(err, doubt)
	}
	x := newExchange(ticket, s.tickets.kdcs)
	x.forget = s.services.forget
	return opaque{func() *exchange { return x }}, nil
}

// String gives the client's principal and the file of its credentials, without any secret.
func (m Mechanism) String() string {
	if m.state == nil {
		return mechanismName
	}
	return mechanismName + " as " + m.state().tickets.source.owner() + " by " + m.state().origin
}

// Format writes what String gives, for every verb, so that no verb prints the keys.
func (m Mechanism) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(m.String())) }

// opaque is an exchange as package zkconn sees it.
type opaque struct {
	exchange func() *exchange // behind a function, so that no printer finds the keys
}

// Initial gives the request, with the ticket. It is called once, first.
func (x opaque) Initial() ([]byte, error) { return x.exchange().initial() }

// Step answers the server: first its proof, and then its offer of security layers, which it
// declines. It fails with an *[Error].
func (x opaque) Step(challenge []byte) ([]byte, error) { return x.exchange().step(challenge) }

// Refused is called when the server has answered with an error: the server may not be able to read
// the ticket, or have another name.
func (x opaque) Refused() { x.exchange().refuse() }

// Done reports whether the server has proved its identity, and the last answer to it was given.
func (x opaque) Done() bool { return x.exchange().phase == answered }

// String names the two principals of the exchange.
func (x opaque) String() string {
	ticket := x.exchange().ticket
	return mechanismName + " exchange of " + ticket.client.String() + " with " + ticket.service.String()
}
