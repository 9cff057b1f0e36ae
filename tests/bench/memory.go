package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/go-zookeeper/zk"
	"github.com/google/uuid"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// queueLength is the number of waiters for one lock: the cost of a request is measured, and not the
// cost of a long queue.
const queueLength = 100

// memoryUse measures the memory of requests that wait, in a process that has nothing else to do.
var memoryUse = workload{
	name: "memory", per: "waiting requests of one session, 100 a lock", sizes: []int{10_000, 100_000}, quick: []int{150},
	metrics: []metric{
		{"memory", "B/request", less, "Heap of a waiting request"},
		{"memory-stack", "B/request", less, "Stacks of a waiting request's goroutines"},
		{"memory-goroutines", "goroutines/request", neither, "Goroutines of a waiting request"},
	},
	alone: true, remark: "it is about the client; and the end of a session with 100 000 nodes is more than members of an ensemble tell each other",
	cohorts: true,
	library: func(ctx context.Context, t trial, _ opener) (figures, error) { return waitInChild(ctx, t) },
	actors:  waitInChild,
}

// memoryTimeout is the session timeout: nodes of a process whose session was not closed are waited for as long.
const memoryTimeout = 10 * time.Second

// occupied has the memory of a process.
type occupied struct{ Heap, Stack, Goroutines int }

func occupation() occupied {
	runtime.GC()
	runtime.GC() // what the first one's finalizers let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return occupied{int(m.HeapAlloc), int(m.StackInuse), runtime.NumGoroutine()}
}

// waitInChild has a process wait for locks that are held, and asks it what it takes up before and then.
func waitInChild(ctx context.Context, t trial) (figures, error) {
	held, err := t.holdAll()
	defer t.giveBack(held)
	if err != nil {
		return nil, err
	}
	c, err := startChild(childSpec{Task: taskWait, Peer: t.peer, Connect: t.stage.connect(0), Path: t.path, N: t.n, Timeout: memoryTimeout, Heap: t.heap})
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.kill() }()
	var before, then occupied
	if err := c.expect(ctx, &before); err != nil {
		return nil, err
	}
	base := len(held)
	steps := []func() error{
		// Sessions that were measured before may only just be ending.
		func() error { return t.awaitEphemerals(ctx, func(n int) bool { return n <= base }) },
		c.goOn,
		func() error { return t.awaitEphemerals(ctx, func(n int) bool { return n >= base+t.waitingNodes() }) },
		func() error { return t.awaitQuiet(ctx) },
		c.goOn,
		func() error { return c.expect(ctx, &then) },
		c.goOn,
		func() error { return c.end(ctx) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	each := func(before, then int) float64 { return float64(then-before) / float64(t.n) }
	return figures{"memory": each(before.Heap, then.Heap), "memory-stack": each(before.Stack, then.Stack),
		"memory-goroutines": each(before.Goroutines, then.Goroutines)}, nil
}

// waitingNodes is the number of nodes that the waiters make: a cohort makes one for each run of calls that it may serve.
func (t trial) waitingNodes() int {
	if t.peer == oursInCohorts {
		return cohortNodes(t.n)
	}
	return t.n
}

func cohortNodes(calls int) int { return (calls + cohortGrants - 1) / cohortGrants }

// locks is the number of locks that are waited for.
func (t trial) locks() int {
	if t.peer == oursInCohorts {
		return 1
	}
	return (t.n + queueLength - 1) / queueLength
}

// holdAll takes the locks, by nodes that all libraries know as a holder's.
func (t trial) holdAll() (nodes []string, err error) {
	for lock := range t.locks() {
		path := t.own(lock)
		if err := t.stage.monitor.makePath(path); err != nil {
			return nodes, err
		}
		node, err := t.stage.monitor.Create(path+"/_c_"+uuid.NewString()+"-lock-", nil, zk.FlagEphemeral|zk.FlagSequence, openACL)
		if err != nil {
			return nodes, fmt.Errorf("bench: hold %s: %w", path, err)
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

func (t trial) giveBack(nodes []string) {
	for _, node := range nodes {
		_ = t.stage.monitor.Delete(node, -1)
	}
}

func (t trial) awaitEphemerals(ctx context.Context, enough func(int) bool) error {
	for {
		n, err := t.stage.sum(ctx, "zk_ephemerals_count")
		if err != nil {
			return err
		}
		if enough(n) {
			return nil
		}
		rig.Rest(ctx, 20*time.Millisecond)
		if ctx.Err() != nil {
			return fmt.Errorf("bench: there are %d ephemeral nodes: %w", n, context.Cause(ctx))
		}
	}
}

// awaitQuiet waits until clients have no more to say than that they live.
func (t trial) awaitQuiet(ctx context.Context) error {
	const quiet, fewer = 300 * time.Millisecond, 10
	for last := -fewer; ; {
		n, err := t.stage.packets(ctx)
		if err != nil {
			return err
		}
		if n-last < fewer {
			return nil
		}
		last = n
		rig.Rest(ctx, quiet)
		if ctx.Err() != nil {
			return fmt.Errorf("bench: requests do not end: %w", context.Cause(ctx))
		}
	}
}

// beWaiters is the process that waits.
func beWaiters(ctx context.Context, spec childSpec, to *parent) error {
	begin, end, err := waitersOf(ctx, spec)
	if err != nil {
		return err
	}
	defer end()
	if err := errors.Join(to.tell(occupation()), to.await()); err != nil {
		return err
	}
	begin()
	return errors.Join(to.await(), to.tell(occupation()), writeHeap(spec.Heap), to.await())
}

// writeHeap writes a profile of the heap, as the last collection left it.
func writeHeap(file string) error {
	if file == "" {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("heap").WriteTo(f, 0), f.Close())
}

// waitersOf gives what has a peer's requests begin, and what ends them and their session.
func waitersOf(ctx context.Context, spec childSpec) (begin, end func(), err error) {
	switch spec.Peer {
	case oursAsActors:
		return waitingActors(ctx, spec)
	case oursInCohorts:
		return waitingCohort(ctx, spec)
	}
	open := libraries[spec.Peer]
	if spec.Peer == ours {
		open = openUnbounded
	}
	s, err := open(ctx, spec.Connect, spec.Timeout)
	if err != nil {
		return nil, nil, err
	}
	begin = func() {
		for n := range spec.N {
			go func() { _, _ = s.lock(ctx, spec.lock(n)) }()
		}
	}
	// They end with the process: see finish.
	return begin, s.close, nil
}

// waitingCohort are requests of one session for one lock, which share nodes.
func waitingCohort(ctx context.Context, spec childSpec) (begin, end func(), err error) {
	client, err := locks.Open(ctx, spec.Connect, append(unbounded(), locks.WithSessionTimeout(spec.Timeout))...)
	if err != nil {
		return nil, nil, err
	}
	mutex := client.Mutex(spec.lock(0), locks.WithCohort(cohortGrants))
	begin = func() {
		for range spec.N {
			go func() { _, _ = mutex.Lock(ctx) }()
		}
		for ctx.Err() == nil && client.State().Inside < spec.N-cohortNodes(spec.N) {
			rig.Rest(ctx, pollEvery)
		}
	}
	return begin, (&turnstileSession{client: client}).close, nil
}

// lock is the path of the lock that a request waits for.
func (s childSpec) lock(request int) string { return trial{path: s.Path}.own(request / queueLength) }

// waitingActors are lock actors, as an actor program has them.
func waitingActors(ctx context.Context, spec childSpec) (begin, end func(), err error) {
	client, err := locks.Open(ctx, spec.Connect, append(unbounded(), locks.WithSessionTimeout(spec.Timeout))...)
	if err != nil {
		return nil, nil, err
	}
	var parent *actor.PID
	begin = func() {
		parent = client.System().Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
			if _, ok := c.Message().(*actor.Started); ok {
				for n := range spec.N {
					c.Spawn(actors.NewLock(client.Session(), messages.Acquire{Path: spec.lock(n), Owner: strconv.Itoa(n)}))
				}
			}
		}))
	}
	end = func() {
		ctx, cancel := context.WithTimeout(ctx, closing)
		defer cancel()
		_ = client.Close(ctx)
		_ = client.System().Root.StopFuture(parent).Wait()
	}
	return begin, end, nil
}
