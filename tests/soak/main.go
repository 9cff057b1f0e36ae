package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// options are the flags, and two that only tests set. Clients have the same ones.
type options struct {
	Duration, Session, Hold, Patience, Every, Quiet       time.Duration
	Clients, Workers, Locks, Calm, CalmWorkers, CalmLocks int

	Seed             uint64
	Faults, Evidence string
	Verbose          bool

	AllKinds bool // go on until every kind of fault has happened
	Grants   int  // go on until there have been so many
}

// parse reads the flags.
func parse(args []string, errors io.Writer) (o options, err error) {
	f := flag.NewFlagSet("soak", flag.ContinueOnError)
	f.SetOutput(errors)
	f.DurationVar(&o.Duration, "duration", time.Hour, "how long")
	f.IntVar(&o.Clients, "clients", 4, "client processes")
	f.IntVar(&o.Workers, "workers", 16, "workers of each client")
	f.IntVar(&o.Locks, "locks", 8, "locks")
	f.IntVar(&o.Calm, "calm", 3, "further client processes, whose workers pause between requests")
	f.IntVar(&o.CalmWorkers, "calm-workers", 8, "workers of each of those")
	f.IntVar(&o.CalmLocks, "calm-locks", 8, "further locks, which those use; every second is sticky")
	f.Uint64Var(&o.Seed, "seed", 1, "what the faults and the workers are drawn from")
	f.DurationVar(&o.Session, "session", 4*time.Second, "session timeout")
	f.DurationVar(&o.Hold, "hold", 50*time.Millisecond, "for how long a lock is held at most; one hold in sixty lasts about a session timeout")
	f.DurationVar(&o.Patience, "patience", time.Minute, "the context of Lock and of Unlock; a few Locks give up sooner")
	f.StringVar(&o.Faults, "faults", "all", "kinds of faults, separated by commas; all, or none; -faults help lists them")
	f.DurationVar(&o.Every, "every", 3*time.Second, "mean pause between two faults of the ensemble, and of the clients")
	f.DurationVar(&o.Quiet, "quiet", 3*time.Minute, "time between two looks for orphans, for which all requests end")
	f.BoolVar(&o.Verbose, "v", false, "print every fault as it happens")
	f.StringVar(&o.Evidence, "evidence", "", "folder for logs, when something is found")
	if err = f.Parse(args); err == nil {
		err = (&stage{options: o}).checkFaults()
	}
	return o, err
}

// calmClient reports whether a client is one whose workers pause between requests, so that its session is idle at
// times and its locks are mostly free.
func (o options) calmClient(client int) bool { return client >= o.Clients }

// lockPath gives the path of a lock.
func lockPath(lock int) string { return fmt.Sprintf("/soak/lock-%d", lock) }

func main() {
	rig.Ordered(clientVariable, order.run)
	o, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = control(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// control runs the soak until it is over or interrupted, and prints what came of it.
func control(o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	found, err := soak(ctx, o, os.Stderr)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	if err = encoder.Encode(found); err == nil && !found.clean() {
		err = errors.New("soak: errors were found")
	}
	return err
}

// has reports whether -faults names a kind of fault.
func (o options) has(fault string) bool {
	for name := range strings.SplitSeq(o.Faults, ",") {
		if name == "all" || strings.TrimSpace(name) == fault {
			return true
		}
	}
	return false
}
