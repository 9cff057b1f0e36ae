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

func main() {
	if len(os.Args) > 1 && os.Args[1] == standIn {
		if err := stand(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "peersuites:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit status: 1 when a test does not pass that should, or a row of the exceptions is not true, 2 when
// nothing can be said.
func run(args []string, out, said io.Writer) int {
	o, err := parse(args, said)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(said, "peersuites:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	status := 0
	var rows []row
	for _, s := range o.suites {
		real, embedded, err := s.both(ctx, o, said)
		if err != nil {
			fmt.Fprintf(said, "peersuites: %s: %v\n", s.name, err)
			status = 2
			continue
		}
		for _, found := range compare(real, embedded, s.exceptions) {
			fmt.Fprintf(said, "peersuites: %s: %s\n", s.name, found)
			status = max(status, 1)
		}
		rows = append(rows, row{suite: s, real: real, embedded: embedded})
	}
	if err := show(out, rows); err != nil {
		fmt.Fprintln(said, "peersuites:", err)
		status = 2
	}
	if status != 0 {
		fmt.Fprintln(said, "peersuites: what the suites printed is in", o.folder)
		return status
	}
	if err := os.RemoveAll(o.folder); err != nil {
		fmt.Fprintln(said, "peersuites:", err)
	}
	return 0
}
