package activation

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// defaultKept is how many messages are kept for an actor that waits for its lock.
const defaultKept = 1000

// Option changes how Single works.
type Option func(*settings)

type settings struct {
	from      actors.LockSource
	want      func(actor.ReceiverContext) messages.Acquire
	kept      int
	observers []*actor.PID
}

// WithKept sets how many messages are kept for an actor that waits for its lock; 1000 without it. What
// comes beyond them is refused. Zero, or less, refuses all.
func WithKept(messages int) Option { return func(s *settings) { s.kept = max(0, messages) } }

// WithObserver names actors that get every notice and every messages.Transition of the lock actors.
func WithObserver(pids ...*actor.PID) Option {
	return func(s *settings) { s.observers = append(s.observers, pids...) }
}
