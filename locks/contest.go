package locks

import (
	"context"

	"github.com/turnstile-locks/turnstile/messages"
)

// Contest is the plainest lock: one ephemeral node, at the lock path itself. The client that
// creates it holds. There is no queue and no order. A release wakes all waiters, and one of them
// succeeds. It is for lock paths that other programs use in this way; in all other cases use Mutex.
//
// There is one thing that a Contest cannot exclude, because ZooKeeper has no delete that names the
// creator. An operator deletes a holder's node, and somebody else makes it anew in the moment in
// which the holder gives the lock back. Then the new node may be deleted.
type Contest struct{ lock }

// Contest gives the lock whose one node is at a path. A bad path is refused by Lock.
func (c *Client) Contest(path string, opts ...LockOption) *Contest {
	return &Contest{newLock(c, messages.Acquire{Path: path, Mode: messages.Contest}, opts)}
}

// Lock waits until the node is ours, or ctx ends, and gives the lease. Errors are those of Mutex.Lock.
func (m *Contest) Lock(ctx context.Context) (*Lease, error) { return m.acquire(ctx) }

// TryLock is Lock that does not wait: when the node is there it returns ErrNotAcquired.
func (m *Contest) TryLock(ctx context.Context) (*Lease, error) { return m.try().acquire(ctx) }
