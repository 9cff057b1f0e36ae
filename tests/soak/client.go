package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// closeBound is for Close of a client when no request is under way.
const closeBound = 30 * time.Second

// client is the process that locks.
type client struct {
	o       options
	me      holder
	control *line
	log     *loglines
	gate    *gate
	clock   *running
	alarm   *alarm
	long    atomic.Int64 // an instant: see worker
	peer    peer
	lost    int   // sessions, that were reported
	polls   int   // that were reported
	polled  int64 // when they were counted last
	rests   chan struct{}
}

// runClient locks until it is told to stop, or the controller is gone.
func runClient(o options) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	control, err := dialLine(o.controller)
	if err != nil {
		return err
	}
	defer control.close()
	c := &client{o: o, me: holder{Client: o.client, Incarnation: o.incarnation, Worker: -1},
		control: control, log: &loglines{}, gate: newGate(), clock: &running{},
		alarm: newAlarm(), polled: now(), rests: make(chan struct{}, 1)}
	go c.clock.run(ctx)
	if err := control.send(report{Kind: kindProcess, From: c.me, Count: os.Getpid()}); err != nil {
		return err
	}
	stop := make(chan struct{})
	go c.obey(stop)
	if c.peer, err = c.open(ctx, stop); err != nil {
		return err
	}
	workers, err := c.start()
	if err != nil {
		return err
	}
	c.count(stop)
	c.gate.stop()
	c.alarm.end()
	workers.Wait()
	closing, cancelClosing := context.WithTimeout(ctx, closeBound)
	defer cancelClosing()
	if err := c.peer.Close(closing); err != nil {
		return control.send(report{Kind: kindHung, From: c.me, Op: "close", Error: errorKind(err), Detail: err.Error()})
	}
	return nil
}

// open tries until there is a session: the ensemble may be without a majority just now.
func (c *client) open(ctx context.Context, stop <-chan struct{}) (peer, error) {
	log := slog.New(slog.NewTextHandler(c.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	for {
		opening, cancel := context.WithTimeout(ctx, c.o.patience)
		opened, err := openPeer(opening, c.o, log)
		cancel()
		if err == nil {
			return opened, nil
		}
		_ = c.control.send(report{Kind: kindFailed, From: c.me, Op: "open", Error: errorKind(err), Detail: err.Error()})
		select {
		case <-stop:
			return nil, err
		case <-time.After(time.Second):
		}
	}
}

// start runs the workers.
func (c *client) start() (*sync.WaitGroup, error) {
	all := &sync.WaitGroup{}
	workers := c.o.workers
	if c.o.calmClient(c.me.Client) {
		workers = c.o.calmWorkers
	}
	for n := range workers {
		to, err := dialLine(c.o.controller)
		if err != nil {
			return all, err
		}
		me := c.me
		me.Worker = n
		w := newWorker(c, me, to)
		all.Go(func() {
			defer to.close()
			if err := w.run(); err != nil {
				fmt.Fprintf(os.Stderr, "soak: client %d worker %d: %v\n", me.Client, n, err)
			}
		})
	}
	return all, nil
}

// obey carries out commands. When the controller is gone the process ends at once.
func (c *client) obey(stop chan<- struct{}) {
	for {
		var cmd command
		if err := c.control.receive(&cmd); err != nil {
			os.Exit(1)
		}
		switch cmd.Do {
		case doQuiet:
			go func() {
				c.gate.hush()
				_ = c.control.send(report{Kind: kindIdle, From: c.me})
			}()
		case doBurst:
			c.alarm.ring()
		case doGo:
			c.gate.open()
		case doLong:
			c.long.Store(now() + 4*int64(c.o.session))
		case doRest:
			select {
			case c.rests <- struct{}{}:
			default:
			}
		case doLog:
			_ = c.control.send(report{Kind: kindLog, From: c.me, Detail: c.log.String()})
		case doStop:
			close(stop)
			return
		}
	}
}

// count reports lost sessions, polls that were needed, and what there is at rest, until stop.
func (c *client) count(stop <-chan struct{}) {
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for more := true; more; {
		select {
		case <-stop:
			more = false
		case <-c.rests:
			if t, ours := c.peer.(*turnstile); ours {
				_ = c.control.send(report{Kind: kindRest, From: c.me, Rest: t.count(c.log)})
			}
			continue
		case <-ticks.C:
		}
		if lost := c.peer.SessionsLost(); lost > c.lost {
			_ = c.control.send(report{Kind: kindSessions, From: c.me, Count: lost - c.lost})
			c.lost = lost
		}
		at := now()
		if polls := c.peer.Polls(); polls > c.polls {
			_ = c.control.send(report{Kind: kindPolls, From: c.me, Count: polls - c.polls, Call: c.polled, At: at})
			c.polls = polls
		}
		c.polled = at
	}
}
