package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/actors/term"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// Run campaigns, and calls lead while we lead; it is a whole leader loop. It ends when ctx ends,
// when lead returns without having lost the lead, or with an error that may not pass (MayPass).
// After one that may, it pauses, with jitter, from 100 ms growing to a session timeout, 10 s at
// most, while no term lasts that long, and campaigns again. After a lost lease it campaigns at
// once, whatever lead returned, unless that term was over within 100 ms. Where the last term's
// lease was lost, the error also wraps ErrLost.
//
// The ctx of lead ends with the caller's, with the lease, and when somebody asks for the lead
// (Client.Revoke, or a candidate of higher priority); context.Cause says which. Run resigns only
// when lead has returned or panicked, so nobody else leads while lead runs: lead must return when
// its ctx ends. While it does not, though the lease is over, Health fails.
//
// value is shown as Campaign's is. Observe tells of all terms, ours too.
func (e *Election) Run(ctx context.Context, value string, lead func(ctx context.Context, term *Leadership) error) error {
	c := &candidate{Election: e, value: value, lead: lead}
	c.Timeout = e.client.session.Timeout
	c.serve(ctx, term.Leader, c.campaign, c.work)
	return c.result()
}

// candidate is one Run.
type candidate struct {
	*Election
	tenure
	value string
	lead  func(ctx context.Context, term *Leadership) error
}

// campaign campaigns once. Meanwhile it presses a leader of lower priority. It declines in favour
// of a candidate of higher priority.
func (c *candidate) campaign(ctx context.Context) (*Lease, error) {
	campaigning, stop := context.WithCancel(ctx)
	defer stop()
	if c.ranked {
		go c.press(campaigning)
	}
	elected, err := c.Campaign(ctx, c.value)
	if err != nil {
		return nil, err
	}
	if c.yields(ctx, elected.Lease) {
		err = fmt.Errorf("%w: a candidate of higher priority waits", ErrAgain)
	}
	return elected.Lease, err
}

// work calls lead. If the lease is over by then, it waits for the end of its context.
func (c *candidate) work(ctx context.Context) error {
	err := c.call(ctx, func(ctx context.Context, _ Token) error {
		err := c.leads(ctx)
		if !c.lease.Valid() {
			<-c.lease.Context().Done() // at once: the clock knows first, the context says why
		}
		return err
	})
	if c.Outcome == term.Revoked && !errors.Is(err, ErrRevoked) {
		return c.lease.cutShort(ctx, ErrRevoked, err)
	}
	return err
}

// leads calls lead. Meanwhile IsLeader and Health see the term. A revoke request ends its context.
func (c *candidate) leads(ctx context.Context) error {
	leads := &Leadership{Lease: c.lease, value: c.value}
	c.terms.Store(leads, nil)
	defer c.terms.Delete(leads)
	asked := fmt.Errorf("%w", ErrRevoked) // by this one, and not around this Run
	leading, end := context.WithCancelCause(ctx)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		select {
		case <-c.lease.Revoked():
			end(asked)
		case <-leading.Done():
		}
	}()
	defer func() {
		end(nil)
		<-heard
	}()
	err := c.lead(leading, leads)
	if context.Cause(leading) == asked {
		c.Step(term.Event{Kind: term.Revoke})
	}
	return err
}

// IsLeader reports whether a term of Run leads now. It is false as soon as the lease may be over.
func (e *Election) IsLeader() bool {
	for term := range e.terms.Range {
		if term.(*Leadership).Valid() {
			return true
		}
	}
	return false
}

// Health is for liveness probes. It fails, wrapping ErrLost, when a term's lease is over and the
// function of Run has not returned: this process may act as a leader beside another one (split
// brain).
func (e *Election) Health() error {
	for running := range e.terms.Range {
		if term := running.(*Leadership); !term.Valid() {
			return &Error{Op: "lead", Path: term.Path(), Node: term.Node(),
				Err: fmt.Errorf("%w, and its leader still runs", ErrLost)}
		}
	}
	return nil
}

func (e *Election) press(campaigning context.Context) {
	for {
		select {
		case <-time.After(max(e.pressAfter, retry.Campaign.First)):
		case <-campaigning.Done():
			return
		}
		leader, err := e.Leader(campaigning)
		if err == nil && leader.Contender.Priority < e.want.Priority && !leader.Contender.Asked {
			// The next pause asks again if this did not arrive.
			_, _ = e.client.revoke(campaigning, e.want.Path, leader.Contender)
		}
	}
}

func (e *Election) yields(ctx context.Context, lease *Lease) bool {
	if !e.ranked {
		return false
	}
	looking, stop := lease.bind(ctx) // a term that is over is not ours to yield
	defer stop()
	queue, err := e.client.Queue(looking, e.want.Path)
	return err == nil && slices.ContainsFunc(queue, func(c messages.Contender) bool {
		return !c.Holds && c.Node != lease.Node() && c.Name == e.want.Name && c.Priority > e.want.Priority
	})
}
