package locks

import (
	"errors"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// WithMaxHold ends a hold d after its grant: the lease's context ends with ErrMaxHold, then the
// lock is given back. Use it where work may hang, and nobody is there to revoke the lock. Work that
// goes on in spite of its context goes on without the lock. So choose d so that ordinary work never
// reaches it, and let the resource check tokens. Zero, the default, is no bound; a lock with a
// negative d is refused with ErrBadAcquire.
func WithMaxHold(d time.Duration) LockOption { return func(l *lock) { l.maxHold = d } }

// boundHold starts the timer of WithMaxHold.
func (l *Lease) boundHold(d time.Duration) {
	if d > 0 {
		l.limit = time.AfterFunc(d, func() {
			l.end(ErrMaxHold)
			l.release()
		})
	}
}

// takenBack is the error of an Unlock that comes after the lock was taken back in order, nil where it was not.
func (l *Lease) takenBack(cause error) error {
	reason, err := messages.ReasonNone, error(nil)
	switch {
	case errors.Is(cause, ErrRevoked):
		reason, err = messages.ReasonRevoked, ErrRevoked
	case errors.Is(cause, ErrMaxHold):
		err = ErrMaxHold
	default:
		return nil
	}
	return &Error{Op: "unlock", Path: l.Path(), Node: l.Node(), State: messages.StateReleased, Reason: reason, Err: err}
}
