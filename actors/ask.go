package actors

import (
	"cmp"
	"context"
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/actors/internal/mailbox"
)

// Ask sends one of the queries of package messages (ReadQueue, ReadLocks, FindMissing, SendRevokeRequest,
// Break, SetPermits, FindDeadlocks) to the session and waits for the answer, which may be a refusal. It
// returns ErrSessionClosed when the session has ended, and an error that wraps that of ctx when ctx
// ends first: the query is then withdrawn, but one that acts may have acted.
//
// It is for goroutines. An actor sends the query to PID by itself, and gets the answer as a
// message.
func (s *Session) Ask(ctx context.Context, query any) (answer any, err error) {
	if !inspect.IsQuery(query) {
		return nil, inspect.Check(query)
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("turnstile: %T: %w", query, context.Cause(ctx))
	}
	q := &asked{query: query, answer: make(chan any, 1)}
	s.system.Root.Send(s.pid, q)
	select {
	case answer = <-q.answer:
		return answer, nil
	case <-s.stopped:
	case <-ctx.Done():
		s.system.Root.Send(s.pid, &withdrawn{q})
		err = s.Explain(fmt.Errorf("turnstile: %T: %w", query, context.Cause(ctx)))
	}
	select {
	case answer = <-q.answer: // both: what happened counts
		return answer, nil
	default:
		return nil, cmp.Or(err, ErrSessionClosed)
	}
}

// asked is a query of a goroutine that waits for the answer; withdrawn says that it waits no more.
type (
	asked struct {
		mailbox.Quiet
		query  any
		answer chan any // holds one, so that the session never blocks on it
	}
	withdrawn struct{ *asked }
)
