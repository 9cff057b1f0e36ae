package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/tests/relists"
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

// errLost says that a lease was lost that was to survive.
var errLost = errors.New("outages: leases were lost in outages that they were to survive")

// measure measures everything that was asked for, and prints each result as soon as it is known.
func measure(ctx context.Context, o options, to io.Writer) error {
	var errs []error
	writeHeader(to)
	for _, kind := range o.servers {
		for _, timeout := range o.timeouts {
			err := measureOn(ctx, o, kind, timeout, to)
			errs = append(errs, err)
			if ctx.Err() != nil {
				return errors.Join(append(errs, ctx.Err())...)
			}
		}
	}
	return errors.Join(errs...)
}

// mostRounds bounds how often outages are repeated because they do not count.
const mostRounds = 3

// measureOn starts servers and measures one session timeout on them.
func measureOn(ctx context.Context, o options, kind string, timeout time.Duration, to io.Writer) (err error) {
	addrs, stop, err := start(kind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	p, err := startProbe(addrs)
	if err != nil {
		return err
	}
	defer p.stop()
	subjects, end, err := open(ctx, o, addrs, timeout)
	defer end()
	if err != nil {
		return err
	}
	for _, length := range o.lengths {
		r := &result{kind: kind, timeout: timeout, length: length}
		for n := 0; r.outages < o.rounds*len(subjects) && n < mostRounds*o.rounds; n++ {
			if err := round(ctx, o, p, subjects, r); err != nil {
				return err
			}
		}
		r.write(to)
		if r.lost > 0 && r.length <= o.survive {
			err = errLost
		}
	}
	return errors.Join(err, heard(subjects))
}

// heard gives an error where a waiter was told by a re-list what no event had told it, see package relists.
func heard(subjects []*subject) error {
	var errs []error
	for _, s := range subjects {
		if err := relists.None(s.client.Session().Counters().Polls); err != nil {
			errs = append(errs, fmt.Errorf("outages: session that locks %s: %w", s.path, err))
		}
	}
	return errors.Join(errs...)
}

// start starts servers of a kind; their tick is the usual tenth of a session timeout or so.
func start(kind string) (addrs []string, stop func() error, err error) {
	if kind == standalone {
		server, err := rig.NewStandalone()
		if err != nil {
			return nil, nil, err
		}
		return []string{server.Addr()}, server.Stop, nil
	}
	e, err := rig.NewEnsemble(3)
	if err != nil {
		return nil, nil, err
	}
	for _, member := range e.Members() {
		addrs = append(addrs, member.Addr())
	}
	return addrs, e.Stop, nil
}

// open opens the sessions. end closes the ones that are open, also after an error.
func open(ctx context.Context, o options, addrs []string, timeout time.Duration) (subjects []*subject, end func(), err error) {
	silent := func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	system := actor.NewActorSystem(actor.WithLoggerFactory(silent))
	end = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		for _, s := range subjects {
			s.close(ctx)
		}
		system.Shutdown()
	}
	var deadNames []string
	for i := range o.dead {
		deadNames = append(deadNames, fmt.Sprintf("dead-%d.invalid:2181", i+1))
	}
	for i := range o.sessions {
		s, err := newSubject(ctx, system, addrs, deadNames, timeout, fmt.Sprintf("/outages/%d", i))
		if err != nil {
			return subjects, end, err
		}
		subjects = append(subjects, s)
	}
	return subjects, end, nil
}

// round has one outage for each session, at a random phase of its heartbeat.
func round(ctx context.Context, o options, p *probe, subjects []*subject, r *result) error {
	errs := make([]error, len(subjects))
	var running sync.WaitGroup
	for i, s := range subjects {
		running.Go(func() {
			wait := r.timeout * 3 / 4 // the lease of a new connection is longer, for a while
			if !o.together {
				wait += rand.N(r.timeout / 6)
			}
			rig.Rest(ctx, wait)
			found, err := s.outage(ctx, p, time.Duration(r.length*float64(r.timeout)), r.timeout, o.hangUp)
			errs[i] = err
			if err == nil {
				r.add(found)
			}
			if found.lost && o.verbose {
				fmt.Fprintf(os.Stderr, "# lost: %v of the lease were left; attempts to connect: %d; slowest write of the probe: %v\n",
					found.left, found.tried, found.slow)
			}
		})
	}
	running.Wait()
	return errors.Join(errs...)
}
