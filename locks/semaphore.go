package locks

import (
	"context"
	"fmt"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// Semaphore has a number of permits, of which each lease takes one or more. Permits are given in
// the order in which they were asked for: light requests do not overtake heavy ones. The number is
// kept in the data of the lock path; a request with another number is refused.
//
// Of one client 256 requests wait with a node, and the others inside it (WithMaxWaiting). Those come behind requests of
// other clients that queue meanwhile.
//
// A release wakes the first waiter, and the one behind it, who is the first waiter from then on: two clients,
// however long the queue is.
type Semaphore struct{ lock }

// Semaphore gives the semaphore at a path. All clients must name the same number of permits, at least one;
// SetPermits changes it. Bad input is refused by Acquire.
func (c *Client) Semaphore(path string, permits int, opts ...LockOption) *Semaphore {
	return &Semaphore{newLock(c, messages.Acquire{Path: path, Mode: messages.Semaphore, Permits: permits}, opts)}
}

// Acquire waits until n permits are held. The lease gives all of them back together. Errors are those of
// Mutex.Lock, and ErrPermits where the semaphore has another number of permits than this one says.
func (s *Semaphore) Acquire(ctx context.Context, n int) (*Lease, error) {
	return s.take(ctx, s.lock, n)
}

// TryAcquire is Acquire that does not wait for others: ErrNotAcquired.
func (s *Semaphore) TryAcquire(ctx context.Context, n int) (*Lease, error) {
	return s.take(ctx, *s.try(), n)
}

func (s *Semaphore) take(ctx context.Context, l lock, n int) (*Lease, error) {
	if n < 1 {
		return nil, &Error{Op: "lock", Path: l.want.Path,
			Err: fmt.Errorf("%w: %d permits are asked for: at least one", actors.ErrBadAcquire, n)}
	}
	l.want.Weight = n
	return l.acquire(ctx)
}

// SetPermits changes the number of permits of the semaphore at a path, or sets it for the first
// time; the lock path is made where it does not exist. Holders go on holding. Waiters go by the new
// number, and fail with ErrPermits only when they ask for more than that. Later requests must name
// the new number.
//
// Errors wrap that of ctx, zkconn.ErrBadPath, actors.ErrBadAcquire for a number below one,
// ErrPermits where the lock path has other data, zkconn.ErrNoAuth, or ErrClosed.
func (c *Client) SetPermits(ctx context.Context, path string, permits int) error {
	set, err := ask[*messages.PermitsSet](ctx, c, "set permits of", path,
		&messages.SetPermits{Path: path, Permits: permits})
	if err != nil {
		return err
	}
	return refused("set permits of", path, set.Refusal)
}
