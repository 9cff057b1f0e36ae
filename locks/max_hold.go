package locks

import "time"

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
