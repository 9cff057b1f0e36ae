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
	// longestLookup bounds the look-ups of a server's name, which take half of the time that there is at most.
	longestLookup = 5 * time.Second
	// nameLasts is how long a name is taken without looking it up again: connections may be made many times a second.
	nameLasts = 10 * time.Minute
)

// services gives the principals of servers.
type services struct {
	fixed     *principal // of all; nil: they differ by host
	name      string
	canonical bool
	realms    *config.Config

	mu    sync.Mutex           // guards what follows
	names map[string]knownName // by addresses
}

// knownName is what the DNS has said.
type knownName struct {
	host string
	at   time.Time
}

// of gives the principal of a server. Its realm is empty where the configuration has none for the host.
func (s *services) of(ctx context.Context, server zkconn.SASLServer) principal {
	if s.fixed != nil {
		p := *s.fixed
		if p.realm == "" && len(p.name.NameString) > 1 {
			p.realm = s.realms.ResolveRealm(p.name.NameString[1])
		}
		return p
	}
	host := server.Host
	if s.canonical {
		host = s.canonicalHost(ctx, server, lookUp)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	name := types.PrincipalName{NameType: nametype.KRB_NT_SRV_HST, NameString: []string{s.name, host}}
	return principal{name, s.realms.ResolveRealm(host)}
}

// canonicalHost gives the name that the DNS has for a server: the last one that it said, where it does not answer;
// and the configured one, where it never did.
func (s *services) canonicalHost(
	ctx context.Context, server zkconn.SASLServer, lookUp func(context.Context, string) (string, error),
) string {
	address, _, err := net.SplitHostPort(server.Address)
	if err != nil || net.ParseIP(address) == nil {
		return server.Host // a dialer that knows better what the address means
	}
	s.mu.Lock()
	known, seen := s.names[address]
	s.mu.Unlock()
	if seen && time.Since(known.at) < nameLasts {
		return known.host
	}
	patience := longestLookup
	if deadline, bounded := ctx.Deadline(); bounded {
		patience = min(patience, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	host, err := lookUp(ctx, address)
	switch {
	case err == nil:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.names[address] = knownName{host, time.Now()}
		return host
	case seen:
		return known.host
	}
	return server.Host
}

// lookUp is what Java's getCanonicalHostName does: it gives the name of an address, if that leads back to it.
func lookUp(ctx context.Context, address string) (string, error) {
	names, err := net.DefaultResolver.LookupAddr(ctx, address)
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		return "", errors.New("no name")
	}
	back, err := net.DefaultResolver.LookupHost(ctx, strings.TrimSuffix(names[0], "."))
	if err != nil {
		return "", err
	}
	if !slices.Contains(back, address) {
		return "", fmt.Errorf("%s has other addresses", names[0])
	}
	return names[0], nil
}
