package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// refusalFaults are servers that refuse requests: they answer that they are too busy, or hang up.
func (c *chaos) refusalFaults() []fault {
	return []fault{
		{"throttled", c.someone(c.throttled)},
		{"hang-ups-at-create", c.someone(c.hangUps(rig.OpCreate))},
		{"hang-ups-at-multi", c.someone(c.hangUps(rig.OpMulti))},
		{"hang-ups-at-container", c.hangUpsAtContainer},
	}
}

// manyRequests are more than a client sends while a fault lasts.
const manyRequests = 1 << 30

// arm has a fault happen to a client's requests, at whichever member it is.
func (s *subject) arm(rule rig.Rule) (armed []*rig.Fault) {
	for _, p := range s.proxies {
		armed = append(armed, p.Expect(rule))
	}
	return armed
}

// disarm ends that, and counts the requests to which it has happened.
func disarm(armed []*rig.Fault) (caught int) {
	for _, f := range armed {
		caught += f.Disarm()
	}
	return caught
}

// throttled has requests of a client not carried out for a while, and answered with ThrottledOp: those of all kinds, or of
// one, all of them or only some. The proxies do it in place of the servers, for these throttle what has waited for long
// (zookeeper.throttled_op_wait_time), and that is no matter of a client's.
func (c *chaos) throttled(ctx context.Context, rng *rand.Rand, s *subject) error {
	op := []rig.OpCode{rig.OpAny, rig.OpAny, rig.OpCreate, rig.OpMulti, rig.OpDelete}[rng.IntN(5)]
	rule, d := rig.Rule{Op: op, Action: rig.Throttle, Count: manyRequests}, c.sessions(rng, 0.1, 1)
	if rng.IntN(2) == 0 {
		rule.Count = 1 + rng.IntN(20)
	}
	armed := s.arm(rule)
	c.burst(s)
	rig.Rest(ctx, d)
	n := disarm(armed)
	c.add("requests throttled", n)
	c.say("client %d: %d requests (%v) throttled within %v", s.number, n, op, d)
	return nil
}

// hangUps makes a fault in which the servers hang up on a client at requests of one kind, several times in a row, before
// they carry them out.
func (c *chaos) hangUps(op rig.OpCode) func(context.Context, *rand.Rand, *subject) error {
	return func(ctx context.Context, rng *rand.Rand, s *subject) error {
		c.hangUp(ctx, rng, s, op)
		return nil
	}
}

func (c *chaos) hangUp(ctx context.Context, rng *rand.Rand, s *subject, op rig.OpCode) {
	times, caught := 2+rng.IntN(5), 0
	within, cancel := context.WithTimeout(ctx, 2*c.o.session)
	defer cancel()
	for caught < times && within.Err() == nil {
		armed := s.arm(rig.Rule{Op: op, Action: rig.CutBefore})
		c.burst(s)
		for !fired(armed) && rig.Rest(within, 5*time.Millisecond) {
		}
		caught += disarm(armed)
	}
	c.add("hang-ups", caught)
	c.say("client %d: the servers hung up at %d of %d requests (%v)", s.number, caught, times, op)
}

// fired reports whether any of the faults has happened.
func fired(armed []*rig.Fault) bool {
	return slices.ContainsFunc(armed, func(f *rig.Fault) bool {
		select {
		case <-f.Fired():
			return true
		default:
			return false
		}
	})
}

// hangUpsAtContainer deletes the containers of locks that nobody asks for, as the servers do when they have been empty for
// a while, so that they have to be made again. All clients ask for those locks. The servers hang up on one of them
// whenever it makes a container.
func (c *chaos) hangUpsAtContainer(ctx context.Context, rng *rand.Rand) error {
	within, cancel := context.WithTimeout(ctx, c.o.session)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.emptied(within)
	}()
	c.hangUp(ctx, rng, c.subjects[rng.IntN(len(c.subjects))], rig.OpCreateContainer)
	cancel()
	<-done
	return nil
}

// reapedEvery is the shortest time between two deletes of a container. Servers delete one once a
// minute. A client that is far from its servers, and needs two round trips for a lock, would never
// get in where it happened more often than those take.
const reapedEvery = time.Second

// emptied deletes containers of locks as soon as they are empty, until ctx ends.
func (c *chaos) emptied(ctx context.Context) {
	deleted, last := 0, map[int]time.Time{}
	for rig.Rest(ctx, 10*time.Millisecond) {
		for lock := range c.o.allLocks() {
			if time.Since(last[lock]) < reapedEvery {
				continue
			}
			if c.inspector.conn.Delete(lockPath(lock), -1) == nil { // it is refused where there are children
				deleted++
				last[lock] = time.Now()
			}
		}
	}
	c.add("containers deleted", deleted)
}
