package locks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// All takes several locks of any kinds, in the order of their paths at the servers: so callers of
// All never wait for each other in a circle, whatever their clients' chroots. When a lock cannot be
// acquired, ctx ends, or a held lock is lost meanwhile, All gives back the held ones and returns
// that error.
//
// While All waits for a lock, it holds those before it, so waits multiply: 16 callers, each of two
// out of four locks that it holds for 0.1 s, wait up to 10 s. The most wanted lock is best the last
// by path.
//
// On ErrSessionFull while others are held, All gives these back, pauses, and begins again, a few
// times: another caller may need their room.
//
// Without locks, or with one that is nil, malformed or named twice, the error wraps
// actors.ErrBadAcquire or zkconn.ErrBadPath, and nothing is sent.
func All(ctx context.Context, lockers ...Locker) (*Leases, error) {
	if i := slices.Index(lockers, nil); i >= 0 {
		return nil, &Error{Op: "lock all", Err: fmt.Errorf("%w: lock %d is nil", actors.ErrBadAcquire, i)}
	}
	for _, locker := range lockers {
		if l := locker.self(); l.wrong != nil {
			return nil, &Error{Op: "lock all", Path: l.want.Path, Err: l.wrong}
		}
	}
	ordered, err := inOrder(lockers)
	if err != nil {
		return nil, &Error{Op: "lock all", Err: err}
	}
	return takeAll(ctx, ordered)
}

// inOrder sorts locks by their paths at the servers, then by names: every client's order.
func inOrder(lockers []Locker) ([]Locker, error) {
	if len(lockers) == 0 {
		return nil, fmt.Errorf("%w: no lock is named", actors.ErrBadAcquire)
	}
	compare := func(a, b Locker) int {
		x, y := a.self(), b.self()
		one, other := x.client.session, y.client.session
		return cmp.Or(cmp.Compare(one.Absolute(x.want.Path), other.Absolute(y.want.Path)), cmp.Compare(x.want.Name, y.want.Name),
			slices.Compare(one.Servers(), other.Servers()))
	}
	ordered := slices.SortedStableFunc(slices.Values(lockers), compare)
	for i, locker := range ordered {
		l := locker.self()
		if err := l.checkRequest(); err != nil {
			return nil, fmt.Errorf("lock %.100q: %w", l.want.Path, err) // of any length, if bad
		}
		if i > 0 && compare(ordered[i-1], locker) == 0 {
			return nil, fmt.Errorf("%w: %s is named twice", actors.ErrBadAcquire, l.want.Path)
		}
	}
	return ordered, nil
}

func takeAll(ctx context.Context, ordered []Locker) (*Leases, error) {
	for refusals := 1; ; refusals++ {
		held, err := takeEach(ctx, ordered)
		if err == nil {
			return newLeases(held), nil
		}
		if left := unlock(ctx, held); ctx.Err() == nil {
			err = errors.Join(err, left)
		}
		if len(held) == 0 || !errors.Is(err, ErrSessionFull) || refusals == retry.NoRoomTries {
			return nil, err
		}
		select {
		case <-time.After(retry.NoRoom.Pause(refusals)):
		case <-ctx.Done():
			return nil, errors.Join(err, ended(ctx))
		}
	}
}

// takeEach takes locks in order, up to the first that fails, each within the leases of those before
// it: their loss ends the wait.
func takeEach(ctx context.Context, ordered []Locker) (held []*Lease, err error) {
	for _, locker := range ordered {
		lease, err := locker.Lock(ctx)
		if err != nil {
			return held, err
		}
		held = append(held, lease)
		bound, unbind := lease.bind(ctx)
		defer unbind()
		ctx = bound
	}
	return held, nil
}

func unlock(ctx context.Context, held []*Lease) error {
	called := time.Now()
	for _, lease := range slices.Backward(held) {
		lease.release() // all at once; then wait
	}
	var all []error
	for _, lease := range slices.Backward(held) {
		all = append(all, lease.unlock(ctx, called))
	}
	return errors.Join(all...)
}

// Leases are several locks held together: when one is lost, the others are given back. Safe for
// concurrent use.
type Leases struct {
	held   []*Lease
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func newLeases(held []*Lease) *Leases {
	l := &Leases{held: held}
	l.ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(held[len(held)-1].Context()))
	for _, lease := range held {
		context.AfterFunc(lease.Context(), func() {
			l.cancel(context.Cause(lease.Context())) // the first cause counts
			for _, other := range l.held {
				other.release()
			}
		})
	}
	return l
}

// Context ends when one of the locks is lost or revoked, or all are given back, with the cause of
// that lease. A lock taken with it is taken within all of them.
func (l *Leases) Context() context.Context { return l.ctx }

// Each gives the leases in order. Giving one back gives all back.
func (l *Leases) Each() []*Lease { return slices.Clone(l.held) }

// Valid reports whether all locks are certainly held now: see Lease.Valid.
func (l *Leases) Valid() bool {
	return !slices.ContainsFunc(l.held, func(lease *Lease) bool { return !lease.Valid() })
}

// Deadline is that of the lease that ends first.
func (l *Leases) Deadline() time.Time {
	return slices.MinFunc(l.held, func(a, b *Lease) int { return a.Deadline().Compare(b.Deadline()) }).Deadline()
}

// Release gives all locks back and returns at once, for defer: see Lease.Release.
func (l *Leases) Release() {
	l.cancel(ErrReleased)
	for _, lease := range slices.Backward(l.held) {
		lease.release()
	}
}

// Unlock gives all locks back in reverse order, and waits for them, or for the end of ctx. It joins
// the errors of Lease.Unlock.
func (l *Leases) Unlock(ctx context.Context) error {
	l.cancel(ErrReleased)
	return unlock(ctx, l.held)
}
