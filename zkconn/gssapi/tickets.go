package gssapi

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// refreshShare is the divisor of the time that a connection spends on replacing a ticket or a name
// that is still good. A silent KDC or DNS costs each connection that much, for as long as the old
// ticket or name lasts: an eighth of a third of the session timeout.
const refreshShare = 8

// source provides the first ticket.
type source interface {
	// owner names the principal of the tickets, or describes it while it is not known.
	owner() string
	// realm is the realm of the owner.
	realm() string
	// refresh looks whether somebody else has changed the source; older tickets are then useless.
	// It may be called by several at once.
	refresh(ctx context.Context) (changed bool, err error)
	// find gives the source's own ticket for a service, maybe an expired one; nil for none.
	find(service principal) *credential
	// login gives a ticket-granting ticket that is valid.
	login(ctx context.Context) (*credential, error)
}

// tickets keeps tickets between connections.
type tickets struct {
	source source
	kdcs   *kdcs
	// turn is held while a call asks the source or a KDC for tickets, which may take as long as its
	// context lets it. Calls whose ticket is kept do not wait for it.
	turn chan struct{}

	mu       sync.Mutex // guards what follows
	changes  int        // of the source; a ticket that was asked for before a change is not kept after it
	granting *credential
	held     map[string]*heldTicket
}

func newTickets(source source, kdcs *kdcs) *tickets {
	return &tickets{source: source, kdcs: kdcs, turn: make(chan struct{}, 1), held: map[string]*heldTicket{}}
}

// heldTicket is a ticket for a service.
type heldTicket struct {
	*credential
	service principal
	// refused: an exchange with it has failed. The server's key may have changed since.
	refused atomic.Bool
}

// usable reports whether a server may accept the ticket: it has not expired, and no exchange with
// it has failed. h may be nil.
func (h *heldTicket) usable(now time.Time) bool { return h != nil && h.valid(now) && !h.refused.Load() }

// take gives a ticket for a service. A service without a realm is in the owner's.
func (t *tickets) take(ctx context.Context, service principal) (*heldTicket, error) {
	held, err := t.takeAs(ctx, &service)
	if err != nil {
		return nil, named(err, t.source.owner(), strings.TrimSuffix(service.String(), "@"))
	}
	return held, nil
}

func (t *tickets) takeAs(ctx context.Context, service *principal) (*heldTicket, error) {
	changed, err := t.source.refresh(ctx)
	if err != nil {
		return nil, err
	}
	if changed {
		t.forget()
	}
	if service.realm == "" {
		service.realm = t.source.realm()
	}
	if held, good := t.kept(*service); good {
		return held, nil
	}
	ctx, cancel := t.within(ctx, *service)
	defer cancel()
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		if held, _ := t.kept(*service); held.usable(t.kdcs.now()) {
			return held, nil
		}
		return nil, because(ErrNoKDC, context.Cause(ctx), "another connection waits for one already")
	}
	changes := t.changesSoFar()
	held, good := t.kept(*service)
	if good { // the call that had the turn before has fetched it
		return held, nil
	}
	got, err := t.fetch(ctx, *service, held == nil)
	switch now := t.kdcs.now(); {
	case err == nil:
	case passes(err) && held != nil && held.valid(now):
		return held, nil
	case ctx.Err() != nil && held.usable(now): // a keytab that is being written has less time, too
		return held, nil
	default:
		return nil, err
	}
	held = &heldTicket{credential: got, service: *service}
	t.keep(changes, func() { t.held[service.String()] = held })
	return held, nil
}

// within bounds the requests for a ticket. While the kept ticket is usable, they get only a part of
// the time.
func (t *tickets) within(ctx context.Context, service principal) (context.Context, context.CancelFunc) {
	if held, _ := t.kept(service); !held.usable(t.kdcs.now()) {
		return context.WithCancel(ctx)
	}
	patience := longestAsk
	if deadline, bounded := ctx.Deadline(); bounded {
		patience = min(patience, time.Until(deadline))
	}
	return context.WithTimeout(ctx, patience/refreshShare)
}

// forget drops the tickets of a source that has changed: it may have another owner now.
func (t *tickets) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changes++
	t.granting = nil
	clear(t.held)
}

func (t *tickets) changesSoFar() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changes
}

// keep keeps a ticket, unless the source has changed since it was asked for.
func (t *tickets) keep(changes int, keep func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changes == changes {
		keep()
	}
}

// kept gives the kept ticket for a service; good says that it need not be replaced yet.
func (t *tickets) kept(service principal) (held *heldTicket, good bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	held = t.held[service.String()]
	return held, held != nil && held.fresh(t.kdcs.now()) && !held.refused.Load()
}

// fetch gets a ticket for a service, from the source if it may have one, or from a KDC. Its caller has the turn.
func (t *tickets) fetch(ctx context.Context, service principal, may bool) (*credential, error) {
	if may {
		if found := t.source.find(service); found != nil && found.fresh(t.kdcs.now()) && supported(found.key.KeyType) {
			return found, nil
		}
	}
	granting, kept, err := t.grantingTicket(ctx, false)
	if err != nil {
		return nil, err
	}
	got, err := t.kdcs.serviceTicket(ctx, granting, service)
	if err == nil || !kept || passes(err) || errors.Is(err, ErrUnknownService) {
		return got, err
	}
	// The KDC may have been set up anew since the login.
	if granting, _, err = t.grantingTicket(ctx, true); err != nil {
		return nil, err
	}
	return t.kdcs.serviceTicket(ctx, granting, service)
}

// grantingTicket gives a ticket-granting ticket: the kept one, unless it is about to expire, or the
// caller wants another. While no KDC answers, the kept one is used until it expires.
func (t *tickets) grantingTicket(ctx context.Context, another bool) (granting *credential, kept bool, err error) {
	t.mu.Lock()
	granting, changes := t.granting, t.changes
	t.mu.Unlock()
	if granting != nil && granting.fresh(t.kdcs.now()) && !another {
		return granting, true, nil
	}
	got, err := t.source.login(ctx)
	if err != nil {
		if passes(err) && granting != nil && granting.valid(t.kdcs.now()) {
			return granting, true, nil
		}
		return nil, false, err
	}
	t.keep(changes, func() { t.granting = got })
	return got, false, nil
}

func passes(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Temporary()
}
