package scene

import "context"

// Expiring is a context whose deadline passes when a test says so.
type Expiring struct {
	context.Context
	passed chan struct{}
}

// NewExpiring makes one with the values of ctx.
func NewExpiring(ctx context.Context) Expiring {
	return Expiring{context.WithoutCancel(ctx), make(chan struct{})}
}

// Pass has the deadline pass, once.
func (e Expiring) Pass() { close(e.passed) }

// Done is closed when it has passed.
func (e Expiring) Done() <-chan struct{} { return e.passed }

// Err is the error of a deadline that has passed.
func (e Expiring) Err() error {
	select {
	case <-e.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
