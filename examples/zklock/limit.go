package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// waitOver is why the waiting has ended.
type waitOver struct{ after time.Duration }

func (w *waitOver) Error() string { return fmt.Sprintf("%v have passed", w.after) }

// overIn tells whether ctx, or what an error wraps, has ended because its time was over.
func overIn(ctx context.Context, err error) (*waitOver, bool) {
	var over *waitOver
	return over, errors.As(context.Cause(ctx), &over) || errors.As(err, &over)
}

// limited is a context that ends after d with a waitOver as its cause, unless lift is called before; never where d is
// zero. A context with a deadline would end a command that runs by then.
func limited(ctx context.Context, d time.Duration) (within context.Context, lift func()) {
	if d <= 0 {
		return ctx, func() {}
	}
	within, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(d, func() { cancel(&waitOver{d}) })
	return within, func() { timer.Stop() }
}

// leastBound is what the servers have to answer in, however short --wait is.
const leastBound = time.Second

// bound is how long it may take until the lock is held, connecting included; zero for no bound. Where nobody is waited
// for, the servers have the time that connecting has: what a crontab starts over and over must not pile up behind
// servers that do not answer.
func (r *runArgs) bound() time.Duration {
	switch {
	case r.wait > 0:
		return max(r.wait, leastBound)
	case r.wait == 0 || r.every > 0:
		return r.conn.connectTimeout
	}
	return 0
}

// sawAnother tells whether a request that was given up had seen somebody before it in the queue.
func sawAnother(err error) bool {
	var failed *locks.Error
	return errors.As(err, &failed) && (failed.State == messages.StateWatching || failed.Behind.Node != "")
}
