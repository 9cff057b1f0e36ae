package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// clientVariable has the order of a client in its environment.
const clientVariable = "TURNSTILE_SOAK_CLIENT"

// closeBound is for Close of a client when no request is under way.
const closeBound = 30 * time.Second

// logKept bounds the end of a client's log that is remembered, in bytes: some 20 000 lines.
const logKept = 3 << 20

// order is what a client process is started with.
type order struct {
	options
	Servers             string
	Client, Incarnation int
}

// client is the process that locks.
type client struct {
	order
	ctx      context.Context // over when the process is to end
	peer     *locks.Client
	observer *actor.PID // hears of requests, and does nothing
	log      *rig.Tail
	gate     sync.RWMutex // read-locked by a request that is under way
	quiet    atomic.Bool  // requests are to end
	long     atomic.Int64 // until that instant every second hold is long

	mu   sync.Mutex // guards what follows
	out  *json.Encoder
	rung chan struct{} // closed to end the pauses that have begun
}

// run locks until it is told to stop.
func (o order) run() error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	c := &client{order: o, ctx: ctx, log: &rig.Tail{Limit: logKept}, out: json.NewEncoder(os.Stdout), rung: make(chan struct{})}
	log := slog.New(slog.NewTextHandler(c.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	for c.peer == nil { // the ensemble may be without a majority just now
		opening, cancel := context.WithTimeout(ctx, o.Patience)
		var err error
		if c.peer, err = locks.Open(opening, o.Servers, locks.WithSessionTimeout(o.Session), locks.WithLogger(log)); err != nil {
			c.peer = nil
			c.failed(report{Lock: -1}, err)
		}
		cancel()
	}
	c.observer = c.peer.System().Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
	go c.obey(stop)
	workers := o.Workers
	if o.calmClient(o.Client) {
		workers = o.CalmWorkers
	}
	var all sync.WaitGroup
	for n := range workers {
		all.Go(newWorker(c, n).run)
	}
	all.Wait()
	closing, cancel := context.WithTimeout(context.Background(), closeBound)
	defer cancel()
	if err := c.peer.Close(closing); !errors.Is(err, locks.ErrSessionRemains) { // that the servers could not be told is no error
		return err
	}
	return nil
}

func (c *client) tell(r report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.out.Encode(r) // the controller ends this process when it is gone
}

// failed tells of an error of Lock, or of Open.
func (c *client) failed(r report, err error) {
	r.Kind, r.At, r.Detail = kindFailed, now(), err.Error()
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		r.Kind = kindGaveUp
	}
	c.tell(r)
}

// obey carries out commands. When the controller is gone the process ends at once.
func (c *client) obey(stop context.CancelFunc) {
	var opened chan struct{} // closed to open the gate again
	open := func() {
		c.quiet.Store(false)
		if opened != nil {
			close(opened)
			opened = nil
		}
	}
	for commands := bufio.NewScanner(os.Stdin); commands.Scan(); {
		do, file, _ := strings.Cut(commands.Text(), " ")
		switch do {
		case doQuiet:
			open()
			c.quiet.Store(true)
			opens := make(chan struct{})
			opened = opens
			go func() {
				c.gate.Lock()
				defer c.gate.Unlock()
				c.tell(report{Kind: doQuiet})
				<-opens
			}()
		case doGo:
			open()
		case doBurst:
			c.mu.Lock()
			close(c.rung)
			c.rung = make(chan struct{})
			c.mu.Unlock()
		case doLong:
			c.long.Store(now() + 4*int64(c.Session))
		case doRest:
			c.tell(report{Kind: doRest, Rest: c.count()})
		case doLog:
			_ = os.WriteFile(file, []byte(c.log.String()), 0o600)
			c.tell(report{Kind: doLog})
		case doStop:
			stop()
			open()
		}
	}
	os.Exit(1)
}

// count counts what this process has, and how often a waiter has found by looking again what an event should have told it.
func (c *client) count() map[string]int {
	runtime.GC()
	runtime.GC() // the first leaves what was in pools
	var heap runtime.MemStats
	runtime.ReadMemStats(&heap)
	actors := 0
	for _, bucket := range c.peer.System().ProcessRegistry.LocalPIDs.LocalPIDs {
		actors += bucket.Count()
	}
	return map[string]int{restObjects: int(heap.HeapObjects), restGoroutines: runtime.NumGoroutine(), restActors: actors,
		polls: int(c.peer.Session().Counters().Polls)}
}

// pause lasts for d, or until doBurst or doStop.
func (c *client) pause(d time.Duration) {
	c.mu.Lock()
	rung := c.rung
	c.mu.Unlock()
	select {
	case <-rung:
	case <-c.ctx.Done():
	case <-time.After(d):
	}
}
