package locks

import (
	"context"

	"github.com/turnstile-locks/turnstile/messages"
)

// Contest is the plainest lock: one ephemeral node, at the lock path itself, and whoever creates it holds.
// There is no queue and no order, and all who wait are woken by a release, of whom one succeeds. It is for
// lock paths that other programs use in this way; everybody else is served better by Mutex.
//
// ZooKeeper has no delete that asks who made a node, so there is one thing that a Contest cannot exclude: when
// an operator deletes a holder's node, and somebody else makes it anew in the very moment in which the
// holder gives the lock back, the new node may be deleted.
type Contest struct{ lock }

// Contest gives the lock whose one node is at a path. A bad path is refused by Lock.
func (c *Client) Contest(path string, opts ...LockOption) *Contest {
	return &Contest{newLock(c, messages.Acquire{Path: path, Mode: messages.Contest}, opts)}
}

// Lock waits until the node is ours, or ctx ends, and gives the lease. Errors are those of Mutex.Lock.
func (m *Contest) Lock(ctx context.Context) (*Lease, error) { return m.acquire(ctx) }

// TryLock is Lock that does not wait: when the node is there it returns ErrNotAcquired.
func (m *Contest) TryLock(ctx context.Context) (*Lease, error) { return m.try().acquire(ctx) }
