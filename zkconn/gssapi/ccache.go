package gssapi

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jcmturner/gokrb5/v8/credentials"
)

const (
	// A file may be read while it is being written. It is then read again, up to readTries times in
	// all, with readPause between.
	readTries = 10
	readPause = 100 * time.Millisecond
)

// cachePath gives the file of a credential cache: the given name, KRB5CCNAME, or the default of
// Kerberos.
func cachePath(name string) (string, error) {
	if name == "" {
		name = os.Getenv("KRB5CCNAME")
	}
	if name == "" {
		return defaultCache(), nil
	}
	kind, path, found := strings.Cut(name, ":")
	switch {
	case !found:
		return name, nil
	case kind == "FILE":
		return path, nil
	}
	return "", fmt.Errorf("credential cache %s: caches of type %s cannot be read, only files (FILE:path)", name, kind)
}

func defaultCache() string { return fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid()) }

// ownerOfCache gives who must own a cache: anybody may write into /tmp, so the default one must be ours.
func ownerOfCache(path string) int {
	if path == defaultCache() {
		return os.Getuid()
	}
	return anybody
}

// cacheSource takes tickets from a credential cache that somebody else keeps fresh.
type cacheSource struct {
	path  string
	clock func() time.Time

	mu      sync.Mutex // guards what follows; owner is asked at any time
	seen    fs.FileInfo
	who     principal
	tickets []*credential
}

func (s *cacheSource) owner() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.who.realm == "" {
		return "the owner of " + s.path
	}
	return s.who.String()
}

func (s *cacheSource) realm() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.who.realm
}

// refresh reads the file if it has changed since it was last read.
func (s *cacheSource) refresh(ctx context.Context) (changed bool, err error) {
	err = patiently(ctx, func() error {
		info, err := os.Stat(s.path)
		if err != nil {
			return because(ErrNoCredentials, err, "credential cache: run kinit")
		}
		s.mu.Lock()
		seen := s.seen
		s.mu.Unlock()
		changed = seen == nil || !os.SameFile(seen, info) ||
			!seen.ModTime().Equal(info.ModTime()) || seen.Size() != info.Size()
		if !changed {
			return nil
		}
		return s.read(ctx, info)
	})
	return changed, err
}

// patiently reads a file, and again if that fails, because the file may be in the midst of being
// written.
func patiently(ctx context.Context, read func() error) error {
	for try := 1; ; try++ {
		err := read()
		if err == nil || try == readTries || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(readPause):
		}
	}
}

// read takes a file in. A file without a valid ticket counts as not read yet: kinit empties a cache
// before it puts the first ticket in.
func (s *cacheSource) read(ctx context.Context, info fs.FileInfo) error {
	content, err := readFile(s.path, ownerOfCache(s.path))
	if err != nil {
		return because(ErrNoCredentials, err, "credential cache")
	}
	var cache credentials.CCache
	var tickets []*credential
	err = parse(func() error {
		if err := cache.Unmarshal(content); err != nil {
			return err
		}
		for _, entry := range cache.GetEntries() {
			c := &credential{client: principal{entry.Client.PrincipalName, entry.Client.Realm},
				key: entry.Key, start: entry.StartTime, end: entry.EndTime}
			if c.start.Unix() == 0 {
				c.start = entry.AuthTime
			}
			// Entries that are not tickets are configuration, of kinds that come and go.
			if c.ticket.Unmarshal(entry.Ticket) == nil && len(c.ticket.SName.NameString) > 0 {
				tickets = append(tickets, c)
			}
		}
		return nil
	})
	// The library's words quote the file.
	if err != nil || cache.DefaultPrincipal.Realm == "" || len(cache.DefaultPrincipal.PrincipalName.NameString) == 0 {
		return failure(ErrNoCredentials, "credential cache %s: malformed", s.path)
	}
	of := principal{cache.DefaultPrincipal.PrincipalName, cache.DefaultPrincipal.Realm}
	now := s.clock()
	if !slices.ContainsFunc(tickets, func(c *credential) bool { return c.valid(now) }) {
		s.replace(nil, of, tickets)
		_, err := s.login(ctx)
		return err
	}
	s.replace(info, of, tickets)
	return nil
}

func (s *cacheSource) replace(seen fs.FileInfo, who principal, tickets []*credential) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, s.who, s.tickets = seen, who, tickets
}

// find gives the newest ticket for a service that the cache has.
func (s *cacheSource) find(service principal) *credential {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *credential
	for _, c := range s.tickets {
		fits := c.ticket.SName.Equal(service.name) && c.ticket.Realm == service.realm && c.client.String() == s.who.String()
		if fits && (found == nil || c.end.After(found.end)) {
			found = c
		}
	}
	return found
}

func (s *cacheSource) login(context.Context) (*credential, error) {
	realm := s.realm()
	found := s.find(ticketGranter(realm, realm))
	switch {
	case found == nil:
		return nil, failure(ErrNoCredentials, "credential cache %s has no ticket-granting ticket: run kinit", s.path)
	case !found.valid(s.clock()):
		return nil, failure(ErrTicketExpired, "that of credential cache %s at %s, and it is %s: run kinit",
			s.path, clock(found.end), clock(s.clock()))
	case !supported(found.key.KeyType):
		return nil, failure(ErrUnsupported, "the session key in credential cache %s is of %s; it needs one of %s",
			s.path, typeName(found.key.KeyType), typeNames(supportedTypes))
	}
	return found, nil
}
