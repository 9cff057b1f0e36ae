package activation

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors"
)

// closing has a session that is closed wait until an actor has stopped that holds a lock of it. The zero
// value follows nothing. Its methods are called on the actor's goroutine.
type closing struct {
	forget  func()        // takes it out of what the session does before it closes; nil while it follows none
	stopped chan struct{} // closed when the actor has stopped
}

// follow begins to follow the session of a gate, if its locks come from one.
func (c *closing) follow(g *gate) {
	session, is := g.from.(*actors.Session)
	if !is {
		return
	}
	stopped := make(chan struct{})
	c.stopped = stopped
	c.forget = session.BeforeClose(func() {
		if g.close() {
			await(stopped, session.Timeout())
		}
	})
}

// over takes it that the actor has stopped. The lock is given back after that.
func (c *closing) over() {
	if c.forget == nil {
		return
	}
	c.forget()
	c.forget = nil
	close(c.stopped)
}

func await(done <-chan struct{}, bound time.Duration) {
	timer := time.NewTimer(bound)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
