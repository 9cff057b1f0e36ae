package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// endingSignals end commands that wait, ask or show.
var endingSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// untilSignals is a context that ends with a signal, with the status of a program that it ended as
// its cause. The function that it gives leaves later signals to others, and the context as it is.
// Signals that are ignored, as SIGHUP under nohup, stay ignored.
func untilSignals(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	caught := make(chan os.Signal, 1)
	for _, s := range endingSignals {
		if !signal.Ignored(s) {
			signal.Notify(caught, s)
		}
	}
	over := make(chan struct{})
	go func() {
		select {
		case s := <-caught:
			cancel(&exit{status: statusSignalled + number(s)})
		case <-over:
		}
	}()
	return ctx, func() { signal.Stop(caught); close(over) }
}

// untilSignal is untilSignals for a context that ends with the function that it gives.
func untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	ctx, stop := untilSignals(ctx)
	return ctx, func() { stop(); cancel() }
}

// number gives the number of a signal.
func number(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return int(n)
	}
	return int(syscall.SIGINT)
}

// waitOver is the cause of a wait that has ended.
type waitOver struct{ after time.Duration }

func (w *waitOver) Error() string { return fmt.Sprintf("%v have passed", w.after) }

// overIn reports whether ctx, or what an error wraps, has ended because its time was over.
func overIn(ctx context.Context, err error) (*waitOver, bool) {
	var over *waitOver
	return over, errors.As(context.Cause(ctx), &over) || errors.As(err, &over)
}

// limited is a context that ends after d with a waitOver as its cause, unless lift is called before; never where d is
// zero. A context with a deadline would end a command that runs by then.
func limited(ctx context.Context, d time.Duration) (within context.Context, lift func()) {
	if d <= 0 {
		return ctx, func() {}
	}
	within, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(d, func() { cancel(&waitOver{d}) })
	return within, func() { timer.Stop() }
}
