package locks

import (
	"context"
	"fmt"

	"github.com/turnstile-locks/turnstile/messages"
)

// RWMutex is a lock that any number of readers hold together, or one writer alone. The order of the queue
// holds for both: a reader waits for the writers that came before it, a writer for everybody, so that
// neither starves. A release wakes one writer, or the readers that waited for that writer, once each.
//
// Of one client 256 requests wait with a node, and the others inside it (WithMaxWaiting). Readers among those come
// behind writers of other clients that queue meanwhile.
type RWMutex struct{ lock }

// RWMutex gives the lock for readers and writers at a path. A bad path is refused by RLock and Lock.
func (c *Client) RWMutex(path string, opts ...LockOption) *RWMutex {
	return &RWMutex{newLock(c, messages.Acquire{Path: path}, opts)}
}

// Lock waits until the lock is held for writing. Errors are those of Mutex.Lock, and ErrUpgrade
// where ctx is that of a lease for reading the same lock, which would wait for itself.
func (m *RWMutex) Lock(ctx context.Context) (*Lease, error) {
	return m.as(messages.Write).acquire(ctx)
}

// TryLock is Lock that does not wait for others: ErrNotAcquired.
func (m *RWMutex) TryLock(ctx context.Context) (*Lease, error) {
	return m.as(messages.Write).try().acquire(ctx)
}

// RLock waits until the lock is held for reading. Where ctx is that of a lease for writing the same
// lock, it is held at once, in that writer's place: when the writer's lease is given back, nobody
// comes in between. Lease.Downgrade does both. Errors are those of Mutex.Lock.
func (m *RWMutex) RLock(ctx context.Context) (*Lease, error) {
	return m.as(messages.Read).acquire(ctx)
}

// TryRLock is RLock that does not wait for others: ErrNotAcquired.
func (m *RWMutex) TryRLock(ctx context.Context) (*Lease, error) {
	return m.as(messages.Read).try().acquire(ctx)
}

// Downgrade makes a lease for reading of one for writing, with nobody in between. The old lease is
// given back, and the new one has the same token. It returns ErrNotWriter for a lease of another
// kind, and an error that wraps ErrLost where the lease is lost meanwhile. Otherwise errors are
// those of RLock, and the lease is held as before.
func (l *Lease) Downgrade(ctx context.Context) (*Lease, error) {
	if l.from.want.Mode != messages.Write {
		return nil, &Error{Op: "downgrade", Path: l.Path(), Node: l.Node(), State: messages.StateHeld,
			Err: fmt.Errorf("%w: the lock is %v", ErrNotWriter, l.from.want.Mode)}
	}
	if l.ctx.Err() != nil {
		return nil, &Error{Op: "downgrade", Path: l.Path(), Node: l.Node(), Err: context.Cause(l.ctx)}
	}
	read := l.from.as(messages.Read)
	read.want.Owner, read.want.Caller, read.want.Try = "", "", false // those were of the writer's request
	reader, err := read.acquire(withValues(ctx, l.ctx))
	if err != nil {
		return nil, err
	}
	if err := l.Unlock(ctx); err != nil && ctx.Err() == nil {
		_ = reader.Unlock(ctx) // both went with one session
		return nil, err
	}
	return reader, nil
}
