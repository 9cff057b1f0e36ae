package locks

import (
	"context"

	"github.com/turnstile-locks/turnstile/messages"
)

// Mutex is an exclusive lock: one contender holds it at a time, in the order in which they came.
type Mutex struct{ lock }

// Mutex gives the exclusive lock at a path. A bad path is refused by Lock.
func (c *Client) Mutex(path string, opts ...LockOption) *Mutex {
	return &Mutex{newLock(c, messages.Acquire{Path: path}, opts)}
}

// Lock waits until the lock is held, or ctx ends, and gives the lease. Errors are of type *Error.
// They wrap that of ctx (its cause too), zkconn.ErrBadPath, zkconn.ErrNoAuth, actors.ErrBadAcquire
// for options out of their range, ErrReentry where ctx is that of a lease of the same lock,
// ErrDeadlock with WithDeadlockDetection, ErrClosed, or ErrFailed. After an error no node of the
// request is left, or it is being deleted: whatever ctx does, the request is followed to its end.
func (m *Mutex) Lock(ctx context.Context) (*Lease, error) { return m.acquire(ctx) }

// TryLock is Lock that does not wait for others. It returns ErrNotAcquired when somebody is before
// us, and leaves no node.
func (m *Mutex) TryLock(ctx context.Context) (*Lease, error) { return m.try().acquire(ctx) }
