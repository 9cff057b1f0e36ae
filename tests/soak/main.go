package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/turnstile-locks/turnstile/tests/interop"
)

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err == nil && o.role == roleClient:
		err = runClient(o)
	case err == nil:
		err = control(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// errFound is returned when a figure that must be zero is not.
var errFound = errors.New("soak: errors were found")

// control runs the soak until it is over or interrupted, and prints what came of it.
func control(o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	found, err := soak(ctx, o, os.Stderr)
	err = errors.Join(err, interop.RemovePrograms())
	if err != nil {
		return err
	}
	if err := found.show(os.Stdout); err != nil {
		return err
	}
	if o.peer == peerTurnstile && !found.clean() {
		return errFound
	}
	return nil
}
