package actors

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// order asks the session for one effect of the machine. The sender is the lock actor. An order that was
// decided in an epoch that is over is void, and the news of the end is on its way to the lock actor.
type order struct{ coordinator.Order }

// news tells a lock actor an event, with the session that it happened in.
type news coordinator.Tell

// sessionInfo is what a session knows of itself in one epoch. It never changes but for the clock.
type sessionInfo struct {
	epoch   uint64
	session int64
	timeout time.Duration
	clock   *zkconn.LeaseClock
}

// look tells whether a grant of this session may be given now, and the run of the lease that it would belong to.
func (l *sessionInfo) look() (run uint64, valid bool) {
	if l == nil {
		return 0, false
	}
	return l.clock.Look()
}

// answered brings the answer to a query of the coordinator back to the session actor.
type answered struct {
	coordinator.Reply
	epoch    uint64
	took     time.Duration
	panicked any
}

// done brings the result of a query of the dispatcher back to the session actor.
type done struct {
	epoch uint64
	then  func()
}

// tick is a timer of the coordinator that has fired.
type tick struct{ epoch, timer uint64 }

// What is still on its way to an actor that has ended is of no interest to anybody.

// IgnoreDeadLetterLogging keeps it out of the log.
func (*order) IgnoreDeadLetterLogging() {}

// IgnoreDeadLetterLogging keeps it out of the log.
func (*news) IgnoreDeadLetterLogging() {}

// IgnoreDeadLetterLogging keeps it out of the log.
func (*answered) IgnoreDeadLetterLogging() {}

// IgnoreDeadLetterLogging keeps it out of the log.
func (*done) IgnoreDeadLetterLogging() {}

// IgnoreDeadLetterLogging keeps it out of the log.
func (*tick) IgnoreDeadLetterLogging() {}

// IgnoreDeadLetterLogging keeps it out of the log.
func (*alarm) IgnoreDeadLetterLogging() {}

// leaving is what a lock actor tells the session in the end, behind all its orders: what is left of its node
// is the session's to delete.
type leaving struct{ request coordinator.RequestID }

// IgnoreDeadLetterLogging keeps it out of the log.
func (leaving) IgnoreDeadLetterLogging() {}

// shutdown asks the session actor to close the session and stop.
type shutdown struct{}

// IgnoreDeadLetterLogging keeps it out of the log.
func (*shutdown) IgnoreDeadLetterLogging() {}

// alarm is a timer of a lock actor that has fired.
type alarm struct{ event machine.Event }
