package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// operatorFaults are an operator's deletes of contender nodes of sticky locks; custody.go says how they are judged.
// Only Turnstile has such locks.
func (c *chaos) operatorFaults() []fault {
	return []fault{
		{"operator-deletes-retained", c.operator(false)},
		{"operator-deletes-held", c.operator(true)},
	}
}

// operator makes a fault that deletes the node of a holder, or one that is retained. In half of the cases the
// client hears of it late, because a direction of its connection stalls. All calm clients then ask for locks.
func (c *chaos) operator(held bool) func(context.Context, *rand.Rand) error {
	return func(ctx context.Context, rng *rand.Rand) error {
		lock, g, ok := c.choose(ctx, rng, held)
		if !ok {
			return nil
		}
		victim := c.subjects[g.by.Client]
		var stall time.Duration
		if rng.IntN(2) == 0 {
			way := []rig.Way{rig.Up, rig.Down}[rng.IntN(2)]
			stall = c.sessions(rng, 0.1, 0.9)
			c.say("client %d: frames %v held up for %v", victim.number, way, stall)
			victim.stall(way)
		}
		deleted, err := c.delete(lock, g.node)
		if deleted {
			c.say("operator: deleted node %s of lock %d, of client %d; held %v", g.node, lock, g.by.Client, held)
		}
		for begin := now(); now()-begin < int64(stall+c.o.session/4) && rig.Rest(ctx, c.o.session/50); {
			for _, s := range c.subjects {
				if c.o.calmClient(s.number) {
					c.burst(s)
				}
			}
			if stall > 0 && now()-begin > int64(stall) {
				victim.heal()
			}
		}
		victim.heal()
		return err
	}
}

// choose waits until there is such a node.
func (c *chaos) choose(ctx context.Context, rng *rand.Rand, held bool) (lock int, g grant, ok bool) {
	waiting, cancel := context.WithTimeout(ctx, 3*c.o.session)
	defer cancel()
	for rig.Rest(waiting, time.Millisecond+upTo(rng, 10*time.Millisecond)) {
		lock = c.o.locks + rng.IntN(c.o.calmLocks)
		if c.o.kindOf(lock) != stickyKind {
			continue
		}
		if g, ok = c.judge.target(lock, held); ok && (held || c.there(lock, g.node)) {
			return lock, g, true
		}
	}
	return 0, grant{}, false
}

// there reports whether a node exists; not where that cannot be found out.
func (c *chaos) there(lock int, node string) bool {
	found, _, err := c.inspector.conn.Exists(lockPath(lock) + "/" + node)
	return err == nil && found
}

// delete deletes a node past all proxies.
func (c *chaos) delete(lock int, node string) (deleted bool, err error) {
	if strings.Contains(node, "/") {
		return false, errors.New("not the name of a node: " + node)
	}
	done := c.judge.deleting(lock, node)
	switch err := c.inspector.conn.Delete(lockPath(lock)+"/"+node, -1); {
	case err == nil:
		done(true)
		return true, nil
	case errors.Is(err, zk.ErrNoNode):
		done(false)
		return false, nil
	default:
		return false, err // it may be deleted yet: the delete counts as one that is under way
	}
}
