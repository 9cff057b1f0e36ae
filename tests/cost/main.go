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

	"github.com/turnstile-locks/turnstile/tests/rig"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = measure(ctx, o, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// measure measures all scenes that were asked for, and prints each figure as soon as it is known.
func measure(ctx context.Context, o options, to io.Writer) error {
	p := printer{to}
	p.line("ZooKeeper %s, tick %v, %d clients, T = %v", rig.Version(), o.tick, o.clients, o.timeout)
	scenes := map[string]func(context.Context, options, printer) error{
		sceneOutage: outages, sceneLeader: changeOfLeader, sceneSlow: slowServers, sceneSyncs: idleSyncs,
	}
	for _, scene := range o.scenes {
		if err := scenes[scene](ctx, o, p); err != nil {
			return err
		}
	}
	return nil
}
