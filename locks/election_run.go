package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// Run campaigns, and calls lead while we lead; it is the whole of a leader loop. It ends when lead
// returns without having lost the lead, or with an error that may not pass (MayPass), which Run
// returns, and when ctx ends. After an error that may pass it campaigns again, after a pause that
// grows from 100 ms to a session timeout, 10 s at most, while no term lasts that long, with jitter.
// Where the lease was lost it campaigns at once, whatever lead has returned, such as ctx.Err(). It
// pauses where that term was over within 100 ms: the lead would stay vacant, though nobody else
// campaigns. Where the lease of the last term was lost, the error wraps ErrLost beside the error
// that ended Run: since the loss, lead did not work as the leader.
//
// The ctx of lead ends with the caller's, with the lease, and when somebody asks for the lead
// (Client.Revoke, or a candidate of higher priority); context.Cause says which. Run waits for lead
// to return, and resigns only then, also when lead panics: nobody leads while lead runs. So lead
// must return when its ctx ends. Health fails while it does not, though the lease is over. To
// resign takes no longer than Unlock does.
//
// value is shown as Campaign's is. Observe tells of new leaders, our own terms among them.
func (e *Election) Run(ctx context.Context, value string, lead func(ctx context.Context, term *Leadership) error) error {
	pause := retry.Campaign.Begin()
	var c candidacy
	for {
		begun := time.Now()
		term, err := e.oneTerm(ctx, value, lead)
		end := termEnd{led: term != nil, lost: term != nil && term.wasLost(), took: time.Since(begun), most: e.mostPause(),
			err: err}
		if ctx.Err() != nil {
			end.gone, end.ctx = ended(ctx), ctx.Err()
		}
		wait := time.Duration(0)
		switch then, err := c.after(end); then {
		case runEnds:
			return err
		case afterFirstPause:
			pause.Reset()
			fallthrough
		case afterPause:
			wait = min(pause.Next(), end.most)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return afterLoss(c.loss, ended(ctx))
		}
	}
}

// mostPause bounds the pauses: a session timeout, after which a lead that somebody has left is free
// again.
func (e *Election) mostPause() time.Duration {
	if timeout := e.client.session.Timeout(); timeout > 0 { // zero until a gateway has answered
		return min(timeout, retry.Campaign.Longest)
	}
	return retry.Campaign.Longest
}

// wasLost reports whether the lease was lost, and not given back.
func (l *Leadership) wasLost() bool { return errors.Is(context.Cause(l.ctx), ErrLost) }

// oneTerm campaigns once and leads once, if it is elected; led is nil where it did not lead.
func (e *Election) oneTerm(ctx context.Context, value string,
	lead func(context.Context, *Leadership) error) (led *Leadership, err error) {
	campaigning, stop := context.WithCancel(ctx)
	defer stop()
	if e.ranked {
		go e.press(campaigning)
	}
	term, err := e.Campaign(ctx, value)
	stop()
	if err != nil {
		return nil, err
	}
	defer term.Release() // also when lead panics
	if e.yields(ctx, term) {
		return nil, term.resigned(fmt.Errorf("%w: a candidate of higher priority waits", ErrAgain))
	}
	err = e.leadTerm(ctx, term, lead)
	if !term.Valid() {
		<-term.ctx.Done() // at once: the clock may know before the context does
	}
	return term, term.resigned(err)
}

// leadTerm calls lead. Meanwhile IsLeader and Health see the term.
func (e *Election) leadTerm(ctx context.Context, term *Leadership, lead func(context.Context, *Leadership) error) error {
	e.terms.begin(term)
	defer e.terms.end(term)
	return term.run(ctx, func(within context.Context) error { return term.untilAsked(ctx, within, lead) })
}

// resigned resigns, as Unlock does, and gives the error of the term.
func (l *Leadership) resigned(err error) error {
	_ = l.Unlock(context.Background()) // bounded by the lease
	return err
}

// untilAsked leads until somebody asks for the lead, at the latest. within is a context within the
// lease, ctx the caller's.
func (l *Leadership) untilAsked(ctx, within context.Context, lead func(context.Context, *Leadership) error) error {
	leading, end := context.WithCancelCause(within)
	over, heard := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(heard)
		select {
		case <-l.Revoked():
			end(ErrRevoked)
		case <-over:
		}
	}()
	defer func() {
		close(over)
		<-heard
		end(nil)
	}()
	err := lead(leading, l)
	if errors.Is(context.Cause(leading), ErrRevoked) && l.Valid() && !errors.Is(err, ErrRevoked) {
		return l.cutShort(ctx, ErrRevoked, err)
	}
	return err
}

// IsLeader reports whether a term of Run leads now. It reads the clock: it is false as soon as the
// lease may be over.
func (e *Election) IsLeader() bool {
	return slices.ContainsFunc(e.terms.all(), func(term *Leadership) bool { return term.Valid() })
}

// Health is for liveness probes. It fails, with an error that wraps ErrLost, when the lease of a
// term is over and the function that Run has called for it has not returned. This process may then
// act as a leader beside another one (split brain). It is nil for a leader whose lease runs, and
// for a process that does not lead.
func (e *Election) Health() error {
	for _, term := range e.terms.all() {
		if !term.Valid() {
			return &Error{Op: "lead", Path: term.Path(), Node: term.Node(),
				Err: fmt.Errorf("%w, and its leader still runs", ErrLost)}
		}
	}
	return nil
}

// press asks a leader of lower priority to go, while the candidacy lasts.
func (e *Election) press(campaigning context.Context) {
	for {
		select {
		case <-time.After(max(e.pressAfter, retry.Campaign.First)):
		case <-campaigning.Done():
			return
		}
		leader, err := e.Leader(campaigning)
		if err == nil && leader.Contender.Priority < e.want.Priority && !leader.Contender.Asked {
			// Again after the next pause, if it did not get there.
			_, _ = e.client.revoke(campaigning, e.want.Path, leader.Contender)
		}
	}
}

// yields reports whether a candidate of higher priority waits behind one that has just been
// elected.
func (e *Election) yields(ctx context.Context, term *Leadership) bool {
	if !e.ranked {
		return false
	}
	looking, stop := term.bind(ctx) // a term that is over is nobody's to give on
	defer stop()
	queue, err := e.client.Queue(looking, e.want.Path)
	return err == nil && slices.ContainsFunc(queue, func(c messages.Contender) bool {
		return !c.Holds && c.Node != term.Node() && c.Name == e.want.Name && c.Priority > e.want.Priority
	})
}
