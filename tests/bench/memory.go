package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/go-zookeeper/zk"
	"github.com/google/uuid"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// queueLength is the number of waiters for one lock: the cost of a request is measured, and not the
// cost of a long queue.
const queueLength = 100

// memoryUse measures the memory of requests that wait, in a process that has nothing else to do.
var memoryUse = workload{
	name: "memory", per: "waiting requests of one session, 100 a lock", sizes: []int{10_000, 100_000}, quick: []int{150},
	metrics: []metric{{"heap", "B/request", less}, {"stack", "B/request", less}, {"goroutines", "goroutines/request", neither}},
	alone:   "it is about the client; and the end of a session with 100 000 nodes is more than members of an ensemble tell each other",
	peers:   []peer{{goZkLock, waitInChild}, {ours, waitInChild}, {oursAsActors, waitInChild}, {oursInCohorts, waitInChild}},
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

// since is by how much heap and stacks have grown.
func (o occupied) since(before occupied) int { return o.Heap - before.Heap + o.Stack - before.Stack }

// waitInChild has a process wait for locks that are held, and asks it what it takes up before and then.
func waitInChild(ctx context.Context, t trial) (figures, error) {
	spec := childSpec{Task: taskWait, Peer: t.peer, Connect: t.stage.connect(0), Path: t.path, Paths: (t.n + queueLength - 1) / queueLength,
		N: t.n, Timeout: memoryTimeout, Heap: t.heap, Sessions: 1}
	nodes := t.n
	if t.peer == oursInCohorts { // which makes one node for each run of calls that it may serve
		spec.Cohort, spec.Paths, nodes = cohortGrants, 1, cohortNodes(t.n)
	}
	held, err := t.holdAll(spec.Paths)
	defer func() {
		for _, node := range held {
			_ = t.stage.monitor.Delete(node, -1)
		}
	}()
	if err != nil {
		return nil, err
	}
	c, err := startChild(spec)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.kill() }()
	var before, then occupied
	base := len(held)
	for _, step := range []func() error{
		func() error { return c.expect(ctx, &before) },
		// Sessions that were measured before may only just be ending.
		func() error { return t.awaitEphemerals(ctx, func(n int) bool { return n <= base }) },
		c.goOn,
		func() error { return t.awaitEphemerals(ctx, func(n int) bool { return n >= base+nodes }) },
		func() error { return t.awaitQuiet(ctx) },
		c.goOn,
		func() error { return c.expect(ctx, &then) },
		c.goOn,
		func() error { return c.end(ctx) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	each := func(before, then int) float64 { return float64(then-before) / float64(t.n) }
	return figures{"heap": each(before.Heap, then.Heap), "stack": each(before.Stack, then.Stack), "goroutines": each(before.Goroutines, then.Goroutines)}, nil
}

func cohortNodes(calls int) int { return (calls + cohortGrants - 1) / cohortGrants }

// holdAll takes the locks, by nodes that all libraries know as a holder's.
func (t trial) holdAll(locks int) (nodes []string, err error) {
	paths, err := t.makeOwn(locks)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		node, err := t.stage.monitor.Create(path+"/_c_"+uuid.NewString()+"-lock-", nil, zk.FlagEphemeral|zk.FlagSequence, openACL)
		if err != nil {
			return nodes, fmt.Errorf("bench: hold %s: %w", path, err)
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

func (t trial) awaitEphemerals(ctx context.Context, enough func(int) bool) error {
	return await(ctx, 20*time.Millisecond, func() (bool, error) {
		n, err := t.stage.sum(ctx, "zk_ephemerals_count")
		return enough(n), err
	})
}

// awaitQuiet waits until clients have no more to say than that they live.
func (t trial) awaitQuiet(ctx context.Context) error {
	const quiet, fewer = 300 * time.Millisecond, 10
	last := -fewer
	return await(ctx, quiet, func() (bool, error) {
		n, err := t.stage.packets(ctx)
		before := last
		last = n
		return n-before < fewer, err
	})
}

// beWaiters is the process that waits.
func beWaiters(ctx context.Context, spec childSpec, to *parent) error {
	sessions, end, err := spec.open(ctx, newSystem())
	defer end()
	if err != nil {
		return err
	}
	if err := errors.Join(to.tell(occupation()), to.await()); err != nil {
		return err
	}
	if spec.Peer == oursAsActors {
		spec.spawn(sessions[0].(*turnstileSession).client)
	} else {
		for n := range spec.N { // they end with the process: see finish
			go func() { _, _ = sessions[0].lock(ctx, own(spec.Path, n%spec.Paths)) }()
		}
	}
	err = await(ctx, pollEvery, func() (bool, error) {
		return spec.Cohort == 0 || sessions[0].(*turnstileSession).client.State().Inside >= spec.N-cohortNodes(spec.N), nil
	})
	if err := errors.Join(err, to.await()); err != nil {
		return err
	}
	now := occupation()
	if spec.Heap != "" {
		if err := writeProfile("heap", spec.Heap); err != nil {
			return err
		}
	}
	return errors.Join(to.tell(now), to.await())
}

// spawn spawns lock actors that wait, as an actor program has them.
func (s childSpec) spawn(client *locks.Client) {
	client.System().Root.Spawn(actor.PropsFromFunc(func(c actor.Context) {
		if _, ok := c.Message().(*actor.Started); ok {
			for n := range s.N {
				c.Spawn(actors.NewLock(client.Session(), messages.Acquire{Path: own(s.Path, n%s.Paths), Owner: strconv.Itoa(n)}))
			}
		}
	}))
}
