package actors

import (
	"errors"
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// order asks the session for one effect of the machine. The sender is the lock actor.
// Epoch is that of the news it was decided on, zero before there was any: an order that was decided in
// an epoch that is over is void, and the news of the end is on its way to the lock actor.
type order struct {
	machine.Effect
	spec  *spec
	epoch uint64
	at    metering.Moment // when a hold was given back; zero where nothing is counted
}

// news tells a lock actor an event, with the session that it happened in.
type news struct {
	event  machine.Event
	lease  *lease
	handed *handed // nil where no hand-off begins, or nothing is counted
	as     string  // who made the node that the contender goes on with
}

// lease is what a session knows of itself in one epoch. It never changes but for the clock.
type lease struct {
	epoch   uint64
	session int64
	timeout time.Duration
	clock   *zkconn.LeaseClock
}

// look tells whether a grant of this session may be given now, and the run of the lease that it would belong to.
func (l *lease) look() (run uint64, valid bool) {
	if l == nil {
		return 0, false
	}
	return l.clock.Look()
}

// done brings the result of a request back to the session actor.
type done struct {
	epoch uint64
	then  func()
}

// tick is a timer of the session that has fired.
type tick struct {
	epoch uint64
	do    func()
}

// What is still on its way to an actor that has ended is of no interest to anybody.

// IgnoreDeadLetterLogging keeps it out of the log.
func (*order) IgnoreDeadLetterLogging() {}

// IgnoreDeadLetterLogging keeps it out of the log.
func (*news) IgnoreDeadLetterLogging() {}

// IgnoreDeadLetterLogging keeps it out of the log.
func (*done) IgnoreDeadLetterLogging() {}

// IgnoreDeadLetterLogging keeps it out of the log.
func (*tick) IgnoreDeadLetterLogging() {}

// IgnoreDeadLetterLogging keeps it out of the log.
func (*alarm) IgnoreDeadLetterLogging() {}

// leaving is what a lock actor tells the session in the end, behind all its orders: what is left of its node is the
// session's to delete.
type leaving struct{}

var farewell = &leaving{}

// IgnoreDeadLetterLogging keeps it out of the log.
func (*leaving) IgnoreDeadLetterLogging() {}

// shutdown asks the session actor to close the session and stop.
type shutdown struct{}

// IgnoreDeadLetterLogging keeps it out of the log.
func (*shutdown) IgnoreDeadLetterLogging() {}

// alarm is a timer of a lock actor that has fired.
type alarm struct{ event machine.Event }

// why translates a refusal into a reason.
func why(err error) messages.Reason {
	if errors.Is(err, zkconn.ErrNoAuth) {
		return messages.ReasonNoAuth
	}
	return messages.ReasonRefused
}
