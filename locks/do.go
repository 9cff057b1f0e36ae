package locks

import (
	"context"

	"github.com/turnstile-locks/turnstile/actors/term"
)

// Do locks, runs work, and gives the lock back. Most programs need nothing else.
//
//	err := locks.Do(ctx, client.Mutex("/orders/42"), func(ctx context.Context, token locks.Token) error {
//		return store.Write(ctx, row, token)
//	})
//
// The ctx of work ends with the caller's or with the lease; context.Cause says which. It has the
// caller's values and deadline, and the lease (LeaseOf): a lock taken with it is taken within the
// lease. Do gives the lock back when work returns or panics.
//
// If the lease ended before work returned, the error wraps the cause (ErrLost, ErrRevoked,
// ErrMaxHold) and the error of work, even a nil one: what work did after the loss was not done
// under the lock. It matches context.Canceled and context.DeadlineExceeded only if the caller's ctx
// has ended. Otherwise Do returns the error of work; or, without running it, that of Lock, or of a
// lease that ended before. Do waits for the release as Unlock does, but an unconfirmed one is no
// error.
//
// If there is nothing to do while somebody else holds, lock with Try.
func Do(ctx context.Context, locker Locker, work func(ctx context.Context, token Token) error) error {
	t := &tenure{}
	t.serve(ctx, term.Once, locker.Lock, func(ctx context.Context) error { return t.call(ctx, work) })
	return t.err
}
