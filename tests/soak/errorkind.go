package main

import (
	"context"
	"errors"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn"
)

const (
	kindDeadline = "context deadline exceeded"
	kindPlanned  = "gave up, as planned"
)

// patienceOver are the kinds of errors of Lock that say that its caller has given up, or closes the client.
var patienceOver = map[string]bool{kindDeadline: true, kindPlanned: true, context.Canceled.Error(): true,
	locks.ErrClosed.Error(): true}

// errorKind sorts errors for counting: what a program would test for, not the whole text.
func errorKind(err error) string {
	if errors.Is(err, errLost) {
		return "lost"
	}
	var e *locks.Error
	if errors.As(err, &e) && e.Reason != "" {
		return string(e.Reason)
	}
	for _, known := range []error{context.DeadlineExceeded, context.Canceled, locks.ErrClosed, locks.ErrNotHeld,
		locks.ErrLost, locks.ErrReleased, locks.ErrUnknownOutcome, locks.ErrRevoked, locks.ErrUnconfirmed, locks.ErrFailed, zkconn.ErrNoNode} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	const most = 60
	if text := err.Error(); len(text) > most {
		return text[:most]
	}
	return err.Error()
}
