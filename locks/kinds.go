package locks

import (
	"context"
	"fmt"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// Locker is a lock of any kind, for Do, Try and All: a *Mutex, a *Contest, a *RWMutex for writing,
// RWMutex.Reader, or Semaphore.Weight.
type Locker interface {
	// Lock waits until the lock is held, or ctx ends.
	Lock(ctx context.Context) (*Lease, error)

	self() *lock
}

func (l *lock) self() *lock { return l }

type part struct{ *lock }

func (p part) Lock(ctx context.Context) (*Lease, error) { return p.acquire(ctx) }

// Try makes a Locker whose Lock returns ErrNotAcquired instead of waiting.
func Try(locker Locker) Locker { return part{locker.self().try()} }

// Mutex is an exclusive lock. Contenders hold it in the order in which they came.
type Mutex struct{ lock }

// Mutex gives the exclusive lock at a path. A bad path is refused by Lock.
func (c *Client) Mutex(path string, opts ...LockOption) *Mutex {
	return &Mutex{newLock(forLocking, c, messages.Acquire{Path: path}, opts)}
}

// Lock waits until the lock is held, or ctx ends. Errors are of type *Error. They wrap the error of
// ctx (its cause too), zkconn.ErrBadPath, zkconn.ErrNoAuth, actors.ErrBadAcquire for options out of
// range, ErrReentry where ctx is that of a lease of the same lock, ErrDeadlock with
// WithDeadlockDetection, ErrClosed, or ErrFailed. After an error there is no node, or it is being
// deleted.
func (m *Mutex) Lock(ctx context.Context) (*Lease, error) { return m.acquire(ctx) }

// TryLock is Lock that does not wait for others: it returns ErrNotAcquired, and leaves no node.
func (m *Mutex) TryLock(ctx context.Context) (*Lease, error) { return m.try().acquire(ctx) }

// RWMutex is held by any number of readers, or by one writer. A reader waits for earlier writers, a
// writer for everybody earlier, so neither starves. A release wakes one writer, or the readers that
// waited for that writer.
//
// Beyond 256 waiting requests of a client (WithMaxWaiting), later ones wait inside it, and come
// behind other clients' requests that queue meanwhile.
type RWMutex struct {
	lock
	reads, writes *lock
}

// RWMutex gives the lock for readers and writers at a path. A bad path is refused by RLock and
// Lock.
func (c *Client) RWMutex(path string, opts ...LockOption) *RWMutex {
	l := newLock(forLocking, c, messages.Acquire{Path: path}, opts)
	m := &RWMutex{lock: l, reads: l.as(messages.Read), writes: l.as(messages.Write)}
	m.reads.prepare()
	m.writes.prepare()
	return m
}

// Lock waits until the lock is held for writing. It returns the errors of Mutex.Lock, and
// ErrUpgrade where ctx is that of a lease for reading the same lock.
func (m *RWMutex) Lock(ctx context.Context) (*Lease, error) {
	return m.writes.acquire(ctx)
}

// TryLock is Lock that does not wait for others: ErrNotAcquired.
func (m *RWMutex) TryLock(ctx context.Context) (*Lease, error) {
	return m.writes.try().acquire(ctx)
}

// RLock waits until the lock is held for reading. With the ctx of a lease for writing the same
// lock, it is held at once, in the writer's place: when that lease is given back, nobody comes in
// between (Lease.Downgrade does both). It returns the errors of Mutex.Lock.
func (m *RWMutex) RLock(ctx context.Context) (*Lease, error) {
	return m.reads.acquire(ctx)
}

// TryRLock is RLock that does not wait for others: ErrNotAcquired.
func (m *RWMutex) TryRLock(ctx context.Context) (*Lease, error) {
	return m.reads.try().acquire(ctx)
}

func (m *RWMutex) self() *lock { return m.writes }

// Reader is the lock for reading, as a Locker.
func (m *RWMutex) Reader() Locker { return part{m.reads} }

// Downgrade makes a lease for reading of one for writing, with nobody in between. The old lease
// ends; the new one has the same token. The error is ErrNotWriter for another kind, wraps ErrLost
// where the lease is lost meanwhile, or is one of RLock, and then the old lease is still held.
func (l *Lease) Downgrade(ctx context.Context) (*Lease, error) {
	if l.from.want.Mode != messages.Write {
		return nil, &Error{Op: "downgrade", Path: l.Path(), Node: l.Node(), State: messages.StateHeld,
			Err: fmt.Errorf("%w: the lock is %v", ErrNotWriter, l.from.want.Mode)}
	}
	if cause := l.why(); cause != nil {
		return nil, &Error{Op: "downgrade", Path: l.Path(), Node: l.Node(), Err: cause}
	}
	read := l.from.as(messages.Read)
	read.want.Owner, read.want.Caller, read.want.Try = "", "", false // of the writer's request
	reader, err := read.acquire(withValues(ctx, l.Context()))
	if err != nil {
		return nil, err
	}
	if err := l.Unlock(ctx); err != nil && ctx.Err() == nil {
		_ = reader.Unlock(ctx) // both ended with one session
		return nil, err
	}
	return reader, nil
}

// Semaphore has a number of permits, of which each lease takes one or more, in the order of the
// requests: light ones do not overtake heavy ones. A release wakes two clients: the first waiter,
// and the one behind it. Requests beyond 256 of one client wait as those of RWMutex.
//
// The number is in the lock path's data, and may change at any time (Client.SetPermits). At no time
// do valid leases have more permits together than the greatest number that stood there since the
// last of them, in the order of the queue, made its node.
type Semaphore struct{ lock }

// Semaphore gives the semaphore at a path. Where the path has no number of permits, the first
// request makes it this, at least one; otherwise the path's number counts (WithExactPermits). Bad
// input is refused by Acquire.
func (c *Client) Semaphore(path string, permits int, opts ...LockOption) *Semaphore {
	return &Semaphore{newLock(forLocking, c, messages.Acquire{Path: path, Mode: messages.Semaphore, Permits: permits}, opts)}
}

// Acquire waits until n permits are held, by one lease. It returns the errors of Mutex.Lock, and
// ErrPermits where the semaphore has fewer than n, also when it has come to have fewer meanwhile.
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
	l.prepare()
	return l.acquire(ctx)
}

// Weight is n permits of the semaphore, as a Locker. A number below one is refused by its Lock.
func (s *Semaphore) Weight(n int) Locker {
	l := s.lock
	if l.want.Weight = n; n == 0 {
		l.want.Weight = -1 // zero would mean one
	}
	l.prepare()
	return part{&l}
}

// SetPermits sets the number of permits of the semaphore at a path, which it makes if missing. With
// a greater number, those waiters hold at once that fit. With a smaller one, holders go on, and
// others come in when enough of them have left; a waiter that asks for more than there are fails
// with ErrPermits. A client whose server is behind may come in by the old number for up to a session
// timeout.
//
// The number goes with the lock path, which servers delete some time after its last contender,
// unless it was made as a persistent node.
//
// Errors wrap the error of ctx, zkconn.ErrBadPath, actors.ErrBadAcquire for a number below one,
// ErrPermits where the lock path has other data, zkconn.ErrNoAuth, or ErrClosed.
func (c *Client) SetPermits(ctx context.Context, path string, permits int) error {
	set, err := ask[*messages.PermitsSet](ctx, c, "set permits of", path,
		&messages.SetPermits{Path: path, Permits: permits})
	if err != nil {
		return err
	}
	return refused("set permits of", path, set.Refusal)
}

// Permits gives the number of permits of the semaphore at a path: 0 where none is recorded. It
// returns the errors of SetPermits.
func (c *Client) Permits(ctx context.Context, path string) (int, error) {
	const op = "permits of"
	q, err := ask[*messages.Queue](ctx, c, op, path, &messages.ReadQueue{Path: path, PermitsOnly: true})
	if err != nil {
		return 0, err
	}
	return q.Permits, refused(op, path, q.Refusal)
}

// ObservePermits tells the number of permits at once and whenever it changes, as Election.Observe
// tells leaders; the channel is closed also where the lock path has other data than a number. It
// costs one watch, and one read at each change. Errors are those of Election.Observe.
func (c *Client) ObservePermits(ctx context.Context, path string) (<-chan int, error) {
	return follow(ctx, c, "observe permits of", messages.Follow{Path: path, PermitsOnly: true},
		func(q *messages.Queue) int { return q.Permits }, func(permits int) any { return permits })
}

// Contest is one ephemeral node, at the lock path itself, whose maker holds. There is no order: a
// release wakes all waiters, and one succeeds. It is for lock paths that other programs use so;
// otherwise use Mutex.
//
// One transaction makes the node and its guard, an ephemeral node named anew for each hold, such as
// c-00000001-<GUID>-guard beside c; and one deletes both. So a late delete is refused, and spares
// the next holder. What a Contest cannot exclude: another program deletes a holder's node without
// its guard, and somebody makes it anew just when the holder gives back: the new node may be
// deleted. Client.Break deletes both.
type Contest struct{ lock }

// Contest gives the lock whose one node is at a path. A bad path is refused by Lock.
func (c *Client) Contest(path string, opts ...LockOption) *Contest {
	return &Contest{newLock(forLocking, c, messages.Acquire{Path: path, Mode: messages.Contest}, opts)}
}

// Lock waits until the node is ours, or ctx ends. It returns the errors of Mutex.Lock.
func (m *Contest) Lock(ctx context.Context) (*Lease, error) { return m.acquire(ctx) }

// TryLock is Lock that does not wait: ErrNotAcquired.
func (m *Contest) TryLock(ctx context.Context) (*Lease, error) { return m.try().acquire(ctx) }
