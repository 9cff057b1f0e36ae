// Package multilock decides how several locks are taken as one: in which order ([InOrder]), and what is done with the
// others when one cannot be acquired or is lost ([Acquisition]). It is pure. locks.All and actors.NewAll carry it out, one in
// the goroutine of its caller, the other in an actor.
//
// Programs need none of this, and no version promises that it stays as it is. It is not internal,
// because package locks is not below package actors. A folder internal at the root is not the place:
// the names there are fixed, as the rooms of the module that users know.
package multilock

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/messages"
)

// provider tells where lock paths are: a session, or gateways.
type provider interface {
	// Absolute gives a path as the servers know it, chroot and all.
	Absolute(path string) string
	// Servers lists the servers, each as host and port, in order.
	Servers() []string
}

// InOrder sorts locks in the order in which every client takes several of them: by their paths as
// the servers know them, chroots and all, and then by their names. Clients that take locks in this
// order never wait for each other in a circle. of gives the session through which a lock is
// acquired, and the request.
//
// The error wraps actors.ErrBadAcquire when there is no lock, or one is named twice and would wait
// for itself. Otherwise it is an error of check, which is actors.CheckAcquire.
func InOrder[Lock any, At provider](locks []Lock, of func(Lock) (At, messages.Acquire),
	check func(messages.Acquire) error,
) ([]Lock, error) {
	if len(locks) == 0 {
		return nil, fmt.Errorf("%w: no lock is named", inspect.ErrBadQuery)
	}
	compare := func(a, b Lock) int {
		first, x := of(a)
		second, y := of(b)
		return cmp.Or(cmp.Compare(first.Absolute(x.Path), second.Absolute(y.Path)), cmp.Compare(x.Name, y.Name),
			slices.Compare(first.Servers(), second.Servers()))
	}
	ordered := slices.SortedStableFunc(slices.Values(locks), compare)
	for i, lock := range ordered {
		_, want := of(lock)
		if err := check(want); err != nil {
			return nil, fmt.Errorf("lock %.100q: %w", want.Path, err) // of any length, when it is bad
		}
		if i > 0 && compare(ordered[i-1], lock) == 0 {
			return nil, fmt.Errorf("%w: %s is named twice", inspect.ErrBadQuery, want.Path)
		}
	}
	return ordered, nil
}
