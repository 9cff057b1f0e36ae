package gssapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/turnstile-locks/turnstile/zkconn"
)

const (
	// longestLookup bounds the look-ups of a server's name. They take at most half of the time
	// until the context ends.
	longestLookup = 5 * time.Second
	// nameLasts is the time for which a name is used without another look-up: connections may be
	// made many times a second.
	nameLasts = 10 * time.Minute
	// nameRetry is the same after a look-up that the DNS did not answer.
	nameRetry = time.Minute
)

// services gives the principals of servers.
type services struct {
	fixed     *principal // of all servers; nil: the principals differ by host
	name      string
	canonical bool
	realms    *config.Config
	lookUp    func(ctx context.Context, address string) (string, error) // lookUp, or a test's

	mu    sync.Mutex           // guards what follows
	names map[string]knownName // by addresses
}

// knownName is an answer of the DNS.
type knownName struct {
	host  string
	until time.Time // it is looked up again
}

// of gives the principal of a server. Its realm is empty where the configuration has no realm for
// the host. doubt is the reason why the server may have another name; nil where the name is
// certain.
func (s *services) of(ctx context.Context, server zkconn.SASLServer) (service principal, doubt error) {
	if s.fixed != nil {
		p := *s.fixed
		if p.realm == "" && len(p.name.NameString) > 1 {
			p.realm = s.realms.ResolveRealm(p.name.NameString[1])
		}
		return p, nil
	}
	host := server.Host
	if s.canonical {
		host, doubt = s.canonicalHost(ctx, server)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	name := types.PrincipalName{NameType: nametype.KRB_NT_SRV_HST, NameString: []string{s.name, host}}
	return principal{name, s.realms.ResolveRealm(host)}, doubt
}

// canonicalHost gives the name that the DNS has for a server, and the configured one where it has
// none. Where the DNS does not answer, or is not asked, it guesses the name that the DNS gave last,
// or else the configured one, and gives the doubt.
func (s *services) canonicalHost(ctx context.Context, server zkconn.SASLServer) (host string, doubt error) {
	address, _, err := net.SplitHostPort(server.Address)
	if err != nil || net.ParseIP(address) == nil {
		return server.Host, nil // only its dialer understands the address
	}
	s.mu.Lock()
	known, seen := s.names[address]
	s.mu.Unlock()
	if seen && time.Now().Before(known.until) {
		return known.host, errNotAsked
	}
	patience := longestLookup
	if deadline, bounded := ctx.Deadline(); bounded {
		patience = min(patience, time.Until(deadline)/2)
	}
	if seen {
		patience /= refreshShare / 2
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	host, err = s.lookUp(ctx, address)
	switch {
	case err == nil:
		s.remember(address, host, nameLasts)
		return host, nil
	case seen:
		s.remember(address, known.host, nameRetry)
		return known.host, err
	case errors.Is(err, errNoName):
		return server.Host, nil
	}
	return server.Host, err
}

func (s *services) remember(address, host string, lasts time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[address] = knownName{host, time.Now().Add(lasts)}
}

// forget drops the names of all servers: one of them had another name, and may have changed places
// with the next.
func (s *services) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.names)
}

// errNotAsked is the doubt about a name from an earlier look-up.
var errNotAsked = errors.New("it is from an earlier look-up, and is looked up again")

// judged turns a failure into one that may pass, if a wrong guess at the server's name may be its
// only cause.
func judged(err, doubt error) error {
	var unknown *Error
	if doubt == nil || !errors.As(err, &unknown) || unknown.Kind != ErrUnknownService {
		return err
	}
	// It does not wrap err, which is final.
	return &Error{Principal: unknown.Principal, Service: unknown.Service, Kind: ErrNameInDoubt,
		Detail: "the KDC does not know the principal of this one", Err: doubt}
}

// errNoName is the definite answer of the DNS: the address has no name that resolves to the address
// again.
var errNoName = errors.New("no name")

// lookUp gives the name of an address, if the name resolves to the address again, as Java's
// getCanonicalHostName does.
func lookUp(ctx context.Context, address string) (string, error) {
	names, err := net.DefaultResolver.LookupAddr(ctx, address)
	if err != nil {
		return "", definite(err)
	}
	if len(names) == 0 {
		return "", errNoName
	}
	back, err := net.DefaultResolver.LookupHost(ctx, strings.TrimSuffix(names[0], "."))
	if err != nil {
		return "", definite(err)
	}
	if !slices.Contains(back, address) {
		return "", fmt.Errorf("%w: %q has other addresses", errNoName, names[0])
	}
	return names[0], nil
}

// definite tells a negative answer from no answer, such as a time-out or SERVFAIL: it wraps the
// former in errNoName.
func definite(err error) error {
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return fmt.Errorf("%w: %w", errNoName, err)
	}
	return err
}
