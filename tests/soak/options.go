package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// options are the flags. Clients are started with the same ones.
type options struct {
	role     string
	peer     string
	duration time.Duration
	clients  int
	workers  int
	locks    int
	calm     int
	members  int
	seed     uint64
	session  time.Duration
	holdMin  time.Duration
	holdMax  time.Duration
	patience time.Duration
	faults   string
	every    time.Duration
	quiet    time.Duration
	verbose  bool
	history  string
	allKinds bool
	grants   int
	wipes    int

	calmWorkers int
	calmLocks   int

	// Of a client.
	controller  string
	servers     string
	client      int
	incarnation int
}

const (
	roleController = "controller"
	roleClient     = "client"
	peerTurnstile  = "turnstile"
	peerZkLock     = "zklock"
	peerZkNaive    = "zklock-naive"
	peerCurator    = "curator"
)

// parse reads the flags.
func parse(args []string, errors io.Writer) (options, error) {
	var o options
	var hold string
	f := flag.NewFlagSet("soak", flag.ContinueOnError)
	f.SetOutput(errors)
	f.StringVar(&o.role, "role", roleController, "controller, or client: one that a controller started")
	f.StringVar(&o.peer, "peer", peerTurnstile, "whose locks: turnstile, zklock, curator, or zklock-naive, whose holders look at no events")
	f.DurationVar(&o.duration, "duration", time.Hour, "how long")
	f.IntVar(&o.clients, "clients", 4, "client processes")
	f.IntVar(&o.workers, "workers", 16, "workers of each client")
	f.IntVar(&o.locks, "locks", 8, "locks")
	f.IntVar(&o.calm, "calm", 3, "further client processes, whose workers pause between requests")
	f.IntVar(&o.calmWorkers, "calm-workers", 8, "workers of each of those")
	f.IntVar(&o.calmLocks, "calm-locks", 8, "further locks, which those use; every second is sticky")
	f.IntVar(&o.members, "members", 3, "members of the ensemble")
	f.Uint64Var(&o.seed, "seed", 1, "what the faults and the workers are drawn from")
	f.DurationVar(&o.session, "session", 4*time.Second, "session timeout")
	f.StringVar(&hold, "hold", "2ms-50ms", "how long a lock is held; one hold in sixty lasts about a session timeout")
	f.DurationVar(&o.patience, "patience", time.Minute, "the context of Lock and of Unlock; a few Locks give up sooner")
	f.StringVar(&o.faults, "faults", "all", "kinds of faults, separated by commas; all, or none; -faults help lists them")
	f.DurationVar(&o.every, "every", 3*time.Second, "mean pause between two faults of the ensemble, and of the clients")
	f.DurationVar(&o.quiet, "quiet", 3*time.Minute, "time between two looks for orphans, for which all requests end")
	f.IntVar(&o.wipes, "wipes", 4, "how often the servers' data are wiped or restored after that, of Turnstile")
	f.BoolVar(&o.verbose, "v", false, "print every fault as it happens")
	f.StringVar(&o.history, "history", "", "folder for histories and evidence")
	f.BoolVar(&o.allKinds, "all-kinds", false, "go on until every kind of fault has happened")
	f.IntVar(&o.grants, "grants", 0, "go on until there have been so many grants")
	f.StringVar(&o.controller, "controller", "", "address of the controller (client)")
	f.StringVar(&o.servers, "servers", "", "connection string (client)")
	f.IntVar(&o.client, "client", 0, "number of this client (client)")
	f.IntVar(&o.incarnation, "incarnation", 0, "how often it has been started (client)")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("soak: %q is no flag", f.Arg(0))
	}
	var err error
	if o.holdMin, o.holdMax, err = span(hold); err != nil {
		return o, err
	}
	return o, o.check()
}

// span reads "2ms-50ms".
func span(text string) (from, to time.Duration, err error) {
	least, most, found := strings.Cut(text, "-")
	if !found {
		most = least
	}
	if from, err = time.ParseDuration(least); err == nil {
		to, err = time.ParseDuration(most)
	}
	if err == nil && (from < 0 || to < from) {
		err = errors.New("it must not be negative, nor end before it begins")
	}
	if err != nil {
		return 0, 0, fmt.Errorf("soak: -hold %s: %w", text, err)
	}
	return from, to, nil
}

func (o options) check() error {
	for _, c := range []struct {
		name             string
		value, low, high int
	}{
		{"-clients", o.clients, 1, 64}, {"-workers", o.workers, 1, 256}, {"-locks", o.locks, 1, 1024},
		{"-calm", o.calm, 0, 64}, {"-calm-workers", o.calmWorkers, 1, 256}, {"-calm-locks", o.calmLocks, 1, 1024},
		{"-members", o.members, 3, 9}, {"-wipes", o.wipes, 0, 1000},
	} {
		if c.value < c.low || c.value > c.high {
			return fmt.Errorf("soak: %s %d is not within %d and %d", c.name, c.value, c.low, c.high)
		}
	}
	for name, d := range map[string]time.Duration{"-duration": o.duration, "-session": o.session,
		"-patience": o.patience, "-every": o.every, "-quiet": o.quiet} {
		if d < 100*time.Millisecond {
			return fmt.Errorf("soak: %s %v is less than 100ms", name, d)
		}
	}
	if peers := []string{peerTurnstile, peerZkLock, peerCurator, peerZkNaive}; !slices.Contains(peers, o.peer) {
		return fmt.Errorf("soak: -peer %q is none of %s", o.peer, strings.Join(peers, ", "))
	}
	if o.role != roleController && o.role != roleClient {
		return fmt.Errorf("soak: -role %q is neither %s nor %s", o.role, roleController, roleClient)
	}
	return nil
}

// arguments gives the arguments that a client is started with.
func (o options) arguments(controller, servers string, client, incarnation int) []string {
	return []string{
		"-role", roleClient, "-peer", o.peer, "-controller", controller, "-servers", servers,
		"-client", fmt.Sprint(client), "-incarnation", fmt.Sprint(incarnation),
		"-workers", fmt.Sprint(o.workers), "-locks", fmt.Sprint(o.locks), "-seed", fmt.Sprint(o.seed),
		"-session", o.session.String(), "-hold", o.holdMin.String() + "-" + o.holdMax.String(),
		"-patience", o.patience.String(), "-clients", fmt.Sprint(o.clients), "-calm", fmt.Sprint(o.calm),
		"-calm-workers", fmt.Sprint(o.calmWorkers), "-calm-locks", fmt.Sprint(o.calmLocks),
	}
}

// lockPath gives the path of a lock.
func lockPath(lock int) string { return fmt.Sprintf("/soak/lock-%d", lock) }
