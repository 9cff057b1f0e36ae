package carrier

import (
	"errors"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/zkconn"
)

func madeOf(c zkconn.Created) coordinator.Made {
	return coordinator.Made{Name: c.Name, Czxid: c.Czxid, Place: c.Place}
}

// madeFirst is madeOf for a node at a place where nobody can be before it: at that of a holder, or at the one of a contest.
func madeFirst(c zkconn.Created) coordinator.Made {
	m := madeOf(c)
	m.First = c.Name != ""
	return m
}

// causes are the refusals on which something is decided.
var causes = map[coordinator.Cause]error{coordinator.NoNode: zkconn.ErrNoNode, coordinator.NoAuth: zkconn.ErrNoAuth,
	coordinator.NodeExists: zkconn.ErrNodeExists, coordinator.NoPermits: queue.ErrNoPermits,
	coordinator.OverQuota: zkconn.ErrQuota, coordinator.LocalSession: zkconn.ErrLocalSession}

// failureOf classifies the error of an operation.
func failureOf(err error) (f coordinator.Failure) {
	if err == nil {
		return f
	}
	f.Detail, f.Trouble = err.Error(), zkconn.Trouble(err)
	switch outcome := zkconn.OutcomeOf(err); {
	case outcome == zkconn.Refused || errors.Is(err, queue.ErrNoPermits):
		f.Outcome = coordinator.Refused
	case outcome == zkconn.NotSent:
		f.Outcome = coordinator.NotSent
	case outcome == zkconn.Deferred:
		f.Outcome = coordinator.Deferred
	default:
		f.Outcome = coordinator.Unknown
	}
	for cause, value := range causes {
		if errors.Is(err, value) {
			f.Cause = cause
		}
	}
	var of *zkconn.Error
	if errors.As(err, &of) {
		f.Path = of.Path
	}
	return f
}
