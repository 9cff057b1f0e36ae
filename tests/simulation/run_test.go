package simulation

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
)

// guids makes GUIDs. They begin with the number of the request that is being started, or with 0: a
// hold that is asked for later may serve any call. Each has a number of its own.
var guids guidSource

type guidSource struct {
	request, made atomic.Uint32
	makers        sync.Map // the numbers of requests, by what the names of all nodes of a lock actor share
}

// maker gives the number of the request that was being started when a node of its lock actor was first heard of, or 0.
func (g *guidSource) maker(guid string) uint32 {
	const attempt = len("00000000-0000-0000-")
	number, _ := g.makers.LoadOrStore(guid[:attempt]+guid[attempt+4:], g.request.Load())
	return number.(uint32)
}

func (g *guidSource) Read(b []byte) (int, error) {
	clear(b)
	binary.BigEndian.PutUint32(b, g.request.Load())
	binary.BigEndian.PutUint32(b[9:], g.made.Add(1)) // far apart: an epoch adds its number to a session's
	return len(b), nil
}

// outcome is the result of a run.
type outcome struct {
	violation string // empty when every invariant held
	story     []string
	grants    int
}

// run carries out a plan in a bubble of its own.
func run(t *testing.T, p plan) (result outcome) {
	t.Helper()
	//lint:ignore SA1019 the library of the backoff draws its jitter there, and a seed must decide it
	rand.Seed(int64(p.seed))
	defer func() {
		if r := recover(); r != nil && result.violation == "" { // of a bubble that cannot end
			result.violation = fmt.Sprint(r)
		}
	}()
	sharedSystem() // not of a bubble
	guids.request.Store(0)
	guids.made.Store(0)
	guids.makers.Clear()
	synctest.Test(t, func(t *testing.T) {
		w, err := newWorld(p)
		defer func() {
			w.shutDown()
			result = outcome{violation: w.violation, story: w.history.story()}
			for _, c := range w.clients {
				result.grants += c.grants
			}
		}()
		if err != nil {
			w.violated("the clients could not be opened: %v", err)
			return
		}
		for _, a := range p.actions {
			if w.perform(a); w.violation != "" {
				return
			}
		}
		w.epilogue()
	})
	return result
}

// still waits until nothing moves, and checks.
func (w *world) still() {
	synctest.Wait()
	w.check()
	w.rest()
	synctest.Wait()
}

// Limits of the epilogue, in the bubble's time: more than any session timeout, pause or poll.
const (
	mostDraining = 3 * time.Minute
	mostSettling = time.Minute
	mostClosing  = 30 * time.Second
)

// epilogue heals everything. Then all that was asked for must come to its end, and nothing may be left.
func (w *world) epilogue() {
	w.heal()
	if !w.eventually(mostDraining, w.drained) {
		w.fail("hangs: %s", w.hanging())
		return
	}
	if !w.eventually(mostSettling, func() bool { return w.orphans() == "" }) {
		w.fail("nodes are left of requests that have ended: %s", w.orphans())
		return
	}
	for _, c := range w.clients {
		// Only a network that loses an event makes it right to look again, and a semaphore's holder that could not write
		// that it holds.
		if polls := c.Session().Counters().Polls; polls > c.untold && c.lostEvents == 0 {
			w.fail("lost wake-up: client %d found by looking again what no event had told it, %d times, of which %d are right",
				c.number, polls, c.untold)
			return
		}
		// No server is restored here: what was removed for want of an owner had been forgotten.
		if unowned := c.Session().Counters().Unowned; unowned != 0 {
			w.fail("orphan: client %d has removed %d nodes that no request owned", c.number, unowned)
			return
		}
		if err := w.closeNow(c); err != nil && !errors.Is(err, locks.ErrSessionRemains) { // then it expires
			w.fail("client %d does not close: %v", c.number, err)
		}
	}
	if !w.eventually(mostSettling, func() bool { return len(w.server.Sessions()) == 0 }) {
		w.fail("sessions are left: %x", w.server.Sessions())
	}
}

func (w *world) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violated(format, args...)
}

// eventually lets time pass until something is true, or a violation is found.
func (w *world) eventually(most time.Duration, is func() bool) bool {
	for until := time.Now().Add(most); time.Now().Before(until); w.flow(200 * time.Millisecond) {
		if w.violation != "" || is() {
			return true
		}
	}
	return false
}

// drained gives back every hold, and reports whether every request has ended.
func (w *world) drained() bool {
	for _, r := range w.some((*lockRequest).acquired) {
		w.giveBack(r, mostDraining)
		w.still()
	}
	return w.underWay() == 0
}

func (w *world) hanging() string {
	var all []string
	for _, r := range w.some(func(r *lockRequest) bool { return !r.over() }) {
		all = append(all, fmt.Sprintf("r%d is %v, Lock has returned: %t, notice: %q", r.number, r.state, r.returned, r.end))
	}
	return strings.Join(all, "; ")
}

// orphans are the nodes in the lock paths, in words; none are seen without a leader.
func (w *world) orphans() string {
	var names []string
	w.operate(func(o *operator) {
		for _, path := range w.plan.lockPaths() {
			for _, child := range o.children(path) {
				names = append(names, short(path+"/"+child))
			}
		}
	})
	return strings.Join(names, " ")
}

func (w *world) closeNow(c *client) error {
	before := c.closing
	if !before {
		w.close(c, mostClosing)
	}
	var err error
	closed := make(chan struct{})
	go func() { err = <-c.closed; close(closed) }()
	if !w.flowUntil(closed, mostClosing+time.Second) {
		return context.DeadlineExceeded
	}
	if before && errors.Is(err, locks.ErrSessionRemains) {
		return nil // it was closed when no server could be told
	}
	return err
}

// shutDown stops everything, also after a violation.
func (w *world) shutDown() {
	w.heal()
	for _, c := range w.clients {
		if !c.closing {
			_ = w.closeNow(c)
		}
	}
	w.flow(time.Second)
	for _, pid := range w.observers {
		w.system.Root.Stop(pid)
	}
	w.server.Close()
	for _, l := range w.net.open() {
		w.net.cut(l)
	}
	time.Sleep(time.Minute) // the actor system's throttle sleeps on for a while
}
