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
	"github.com/turnstile-locks/turnstile/tests/rig"
)

func main() {
	rig.Ordered(childVariable, beChild)
	o, err := parse(os.Args[1:], os.Stderr)
	if err == nil {
		err = control(o)
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// control runs the benchmark on servers of its own, until it is done or interrupted.
func control(o options) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.peers {
		if err := interop.Available(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, interop.RemovePrograms()) }()
	}
	s, err := raise(ctx, o.ensemble)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.strike()) }()
	b := newBench(o, s, os.Stdout)
	defer b.dismiss()
	err = b.run(ctx)
	if o.plot != "" {
		err = errors.Join(err, b.plot(o.plot))
	}
	return err
}
