package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errSilent is why a question of doctor's has no answer.
var errSilent = errors.New("no answer")

// inTime asks the servers, and does not wait for longer than there is time. The question may outlast it: it ends with
// the program.
func inTime[A any](ctx context.Context, limit time.Duration, ask func() (A, error)) (A, error) {
	type result struct {
		answer A
		err    error
	}
	done := make(chan result, 1)
	go func() {
		answer, err := ask()
		done <- result{answer, err}
	}()
	over := time.NewTimer(limit)
	defer over.Stop()
	var none A
	select {
	case r := <-done:
		return r.answer, r.err
	case <-over.C:
		return none, fmt.Errorf("%w within %v", errSilent, limit)
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}
