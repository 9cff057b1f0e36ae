package scene

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
)

// Kind is a kind of lock.
type Kind func(client *locks.Client, path string, opts ...locks.LockOption) locks.Locker

// The kinds that a client, a path and options decide; Permits is one more.
var (
	Exclusive Kind = func(c *locks.Client, path string, o ...locks.LockOption) locks.Locker { return c.Mutex(path, o...) }
	Reader    Kind = func(c *locks.Client, path string, o ...locks.LockOption) locks.Locker {
		return c.RWMutex(path, o...).Reader()
	}
	Writer  Kind = func(c *locks.Client, path string, o ...locks.LockOption) locks.Locker { return c.RWMutex(path, o...) }
	Contest Kind = func(c *locks.Client, path string, o ...locks.LockOption) locks.Locker { return c.Contest(path, o...) }
)

// Permits asks for n permits of a semaphore of so many.
func Permits(n, of int) Kind {
	return func(c *locks.Client, path string, o ...locks.LockOption) locks.Locker {
		return c.Semaphore(path, of, o...).Weight(n)
	}
}

// With adds options.
func (k Kind) With(more ...locks.LockOption) Kind {
	return func(c *locks.Client, path string, opts ...locks.LockOption) locks.Locker {
		return k(c, path, append(opts, more...)...)
	}
}

// At is for Wait.
func (k Kind) At(path string) Asks {
	return func(client *locks.Client, observe locks.LockOption) func(context.Context) (*locks.Lease, error) {
		return k(client, path, observe).Lock
	}
}

// Holds takes a lock that is free.
func (k Kind) Holds(t testing.TB, client *locks.Client, path string) *locks.Lease {
	t.Helper()
	return Locked(t, k(client, path).Lock)
}

// Waits asks for a lock on a goroutine, and returns when it waits for somebody.
func (k Kind) Waits(t *testing.T, client *locks.Client, path string) *Waiter {
	t.Helper()
	return Wait(t, client, k.At(path))
}

// Fails tries a lock that is taken.
func (k Kind) Fails(t testing.TB, client *locks.Client, path string) {
	t.Helper()
	_, err := locks.Try(k(client, path)).Lock(Deadline(t))
	require.ErrorIs(t, err, locks.ErrNotAcquired)
}

// Got gives the lease of a Lock that runs elsewhere and must succeed.
func Got(t testing.TB, from <-chan Answer) *locks.Lease {
	t.Helper()
	got := Receive(t, from)
	require.NoError(t, got.Err)
	return got.Lease
}
