package gssapi

import (
	"context"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// longestLookup bounds the look-ups of a server's name: without an answer the configured one is taken.
const longestLookup = 5 * time.Second

// services gives the principals of servers.
type services struct {
	fixed     *principal // of all; nil: they differ by host
	name      string
	canonical bool
	realms    *config.Config
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
		host = canonicalHost(ctx, server)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	name := types.PrincipalName{NameType: nametype.KRB_NT_SRV_HST, NameString: []string{s.name, host}}
	return principal{name, s.realms.ResolveRealm(host)}
}

// canonicalHost is what Java's getCanonicalHostName gives: the name of the address, if it leads back to the address.
func canonicalHost(ctx context.Context, server zkconn.SASLServer) string {
	ctx, cancel := context.WithTimeout(ctx, longestLookup)
	defer cancel()
	address, _, err := net.SplitHostPort(server.Address)
	if err != nil || net.ParseIP(address) == nil {
		return server.Host // a dialer that knows better what the address means
	}
	names, err := net.DefaultResolver.LookupAddr(ctx, address)
	if err != nil || len(names) == 0 {
		return server.Host
	}
	back, err := net.DefaultResolver.LookupHost(ctx, strings.TrimSuffix(names[0], "."))
	if err != nil || !slices.Contains(back, address) {
		return server.Host
	}
	return names[0]
}
