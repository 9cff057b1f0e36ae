package gssapi

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
)

// source is where the first ticket comes from.
type source interface {
	// owner is as whom, or words for that while it is not known.
	owner() string
	// realm is the owner's.
	realm() string
	// refresh looks whether somebody else has changed the source; tickets from before are then of no use.
	refresh(ctx context.Context) (changed bool, err error)
	// find gives a ticket for a service that is there already, maybe an expired one, or nil.
	find(service principal) *credential
	// login gives a ticket-granting ticket that is valid.
	login(ctx context.Context) (*credential, error)
}

// tickets keeps tickets between connections.
type tickets struct {
	source source
	kdcs   *kdcs

	// turn is held by whoever uses what follows, also while it waits for a KDC.
	turn     chan struct{}
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
	// unanswered: it was presented to a server that has not proved yet that it could read it. The
	// server's key may have changed, or the connection was cut.
	unanswered atomic.Bool
}

// take gives a ticket for a service. Where the service has no realm, that of the owner is meant.
func (t *tickets) take(ctx context.Context, service principal) (*heldTicket, error) {
	held, err := t.inTurn(ctx, &service)
	if err != nil {
		return nil, named(err, t.source.owner(), strings.TrimSuffix(service.String(), "@"))
	}
	held.unanswered.Store(true)
	return held, nil
}

// inTurn is take, one connection after the other.
func (t *tickets) inTurn(ctx context.Context, service *principal) (*heldTicket, error) {
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return nil, because(ErrNoKDC, context.Cause(ctx), "another connection waits for one already")
	}
	changed, err := t.source.refresh(ctx)
	if err != nil {
		return nil, err
	}
	if changed {
		t.granting = nil
		clear(t.held)
	}
	if service.realm == "" {
		service.realm = t.source.realm()
	}
	name := service.String()
	held := t.held[name]
	if held != nil && held.fresh(t.kdcs.now()) && !held.unanswered.Load() {
		return held, nil
	}
	got, err := t.fetch(ctx, *service, held == nil)
	switch {
	case err == nil:
		held = &heldTicket{credential: got, service: *service}
		t.held[name] = held
	case !passes(err) || held == nil || !held.valid(t.kdcs.now()):
		return nil, err
	}
	return held, nil
}

// fetch gets a ticket for a service, from the source if it may have one, or from a KDC.
func (t *tickets) fetch(ctx context.Context, service principal, may bool) (*credential, error) {
	if may {
		if found := t.source.find(service); found != nil && found.fresh(t.kdcs.now()) && supported(found.key.KeyType) {
			return found, nil
		}
	}
	kept := t.granting != nil && t.granting.fresh(t.kdcs.now())
	if !kept {
		if err := t.login(ctx); err != nil {
			return nil, err
		}
	}
	got, err := t.kdcs.serviceTicket(ctx, t.granting, service)
	if err == nil || !kept || passes(err) || errors.Is(err, ErrUnknownService) {
		return got, err
	}
	// The KDC may have been set up anew since.
	if err := t.login(ctx); err != nil {
		return nil, err
	}
	return t.kdcs.serviceTicket(ctx, t.granting, service)
}

// login gets a ticket-granting ticket. One that is valid still is kept where no KDC answers.
func (t *tickets) login(ctx context.Context) error {
	granting, err := t.source.login(ctx)
	switch {
	case err == nil:
		t.granting = granting
	case !passes(err) || t.granting == nil || !t.granting.valid(t.kdcs.now()):
		return err
	}
	return nil
}

func passes(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Temporary()
}
