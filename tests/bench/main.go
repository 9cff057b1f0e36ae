package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/turnstile-locks/turnstile/tests/interop"
)

func main() {
	if spec := os.Getenv(childVariable); spec != "" {
		exit(beChild(spec))
	}
	o, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = control(o)
	}
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// control runs the benchmark on servers of its own, until it is done or interrupted.
func control(o options) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b := &bench{o: o, to: os.Stdout}
	if o.json {
		b.to = os.Stderr
	}
	if o.peers {
		if err := interop.Available(); err != nil {
			return err
		}
		b.others = others()
		defer func() { err = errors.Join(err, b.dismiss()) }()
	}
	if b.stage, err = raise(ctx, o.ensemble); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.stage.strike()) }()
	return errors.Join(b.run(ctx), b.show(os.Stdout))
}

// dismiss ends the processes of the other libraries and removes what they ran.
func (b *bench) dismiss() error {
	for _, other := range b.others {
		other.stop()
	}
	return interop.RemovePrograms()
}

// show writes what was asked for beside the lines.
func (b *bench) show(to io.Writer) error {
	var errs []error
	if b.o.json {
		errs = append(errs, b.found.writeJSON(to))
	}
	if b.o.plot != "" {
		errs = append(errs, b.found.plot(b.o.plot))
	}
	return errors.Join(errs...)
}
