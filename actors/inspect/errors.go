package inspect

import (
	"errors"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Errors that the functions of this package wrap, besides those of package zkconn.
var (
	// ErrBadQuery: the query is not well formed; the text names the value and the rule.
	ErrBadQuery = errors.New("turnstile: bad request")
	// ErrGone: the contender's node does not exist any more, or is another's.
	ErrGone = errors.New("turnstile: the contender is gone")
)

// retriable tells whether a query that failed may succeed when it is run again.
func retriable(err error) bool {
	for _, final := range []error{zkconn.ErrBadPath, zkconn.ErrTooLarge, queue.ErrNoPermits, ErrBadQuery, ErrGone} {
		if errors.Is(err, final) {
			return false
		}
	}
	outcome := zkconn.OutcomeOf(err)
	return outcome == zkconn.NotSent || outcome == zkconn.Unknown || outcome == zkconn.Deferred
}

// refusal puts an error into words that may cross a wire.
func refusal(err error) messages.Refusal {
	r := messages.Refusal{Reason: messages.ReasonRefused, Detail: err.Error()}
	switch {
	case errors.Is(err, zkconn.ErrNoAuth):
		r.Reason = messages.ReasonNoAuth
	case errors.Is(err, zkconn.ErrBadPath), errors.Is(err, zkconn.ErrTooLarge), errors.Is(err, ErrBadQuery):
		r.Reason = messages.ReasonBadInput
	case errors.Is(err, queue.ErrNoPermits):
		r.Reason = messages.ReasonPermits
	case errors.Is(err, ErrGone):
		r.Reason = messages.ReasonGone
	}
	return r
}
