package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns the exit status: 1 when the rule did not hold, 2 when nothing can be said.
func run(args []string, out, said io.Writer) int {
	o, err := parse(args, said)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(said, "stalls:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	found, err := attack(ctx, o, said)
	status := 0
	for _, r := range found {
		if !r.clean() {
			status = 1
		}
	}
	if shown := show(out, o.json, found); err == nil {
		err = shown
	}
	if err != nil {
		fmt.Fprintln(said, "stalls:", err)
		return max(status, 2)
	}
	return status
}

// attack plays every scenario on an ensemble of its own. It returns what it has
// found also when there is an error.
func attack(ctx context.Context, o options, said io.Writer) (found []*result, err error) {
	for _, s := range o.scenarios {
		r, err := play(ctx, o, s, said)
		if r != nil {
			found = append(found, r)
		}
		if err != nil {
			return found, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return found, nil
}
