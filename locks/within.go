package locks

import (
	"context"

	"github.com/turnstile-locks/turnstile/messages"
)

// within completes what is asked for by the leases within which it is asked.
func (l *lock) within(ctx context.Context) *lock {
	around := LeaseOf(ctx)
	if around == nil {
		return l
	}
	inner := *l
	inner.want.Caller = around.caller()
	for held := around; held != nil; held = held.outer() {
		if held.from.sameAs(l) && held.ctx.Err() == nil {
			inner.want.Owner = held.key()
			if l.want.Reentry || l.want.Mode == messages.Read {
				held.shared.Store(true) // before it is asked for, and so before anything is written under it
			}
			break
		}
	}
	return &inner
}

// sameAs tells whether two locks would wait for each other: what they ask for may differ.
func (l *lock) sameAs(other *lock) bool {
	return l.client == other.client && l.want.Path == other.want.Path && l.want.Name == other.want.Name &&
		(l.want.Mode == messages.Contest) == (other.want.Mode == messages.Contest) &&
		l.want.Mode != messages.Semaphore && other.want.Mode != messages.Semaphore
}

// withValues is a context that ends with one context, for its cause, and has the values of another. Where context.Cause
// looks is one of the values, and would be the other's.
func withValues(ctx, values context.Context) context.Context {
	return valued{ctx, context.WithoutCancel(values)}
}

type valued struct {
	context.Context
	values context.Context
}

func (v valued) Value(key any) any {
	if found := v.values.Value(key); found != nil {
		return found
	}
	return v.Context.Value(key)
}
