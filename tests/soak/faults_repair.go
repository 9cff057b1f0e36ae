package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

const (
	// repairBound is for bringing the ensemble back to its full strength.
	repairBound = 2 * time.Minute
	// serveBound is for a member that was started to serve; one that does not is killed and started again, restarts times
	// in all. Even on a machine that is very busy a member serves within a quarter of it.
	serveBound = 30 * time.Second
	restarts   = 3
)

// errNoComeback: a member does not serve any more, however often it is started.
var errNoComeback = errors.New("soak: a member does not come back")

// restart brings a member back that was killed. One that does not serve in time, or ends by itself, is started again:
// it may hang in an election, or its port may be somebody else's for a while. The end of its log, and where
// its threads are, is told each time.
func (c *chaos) restart(server *rig.Server) error {
	var err error
	for try := 1; try <= restarts; try++ {
		starting, cancel := context.WithTimeout(context.Background(), serveBound)
		err = server.Restart(starting)
		cancel()
		if err == nil {
			return nil
		}
		c.say("member %s does not come back (try %d of %d): %v\nits threads:\n%s", server.Addr(), try,
			restarts, err, server.Threads())
		time.Sleep(time.Second)
	}
	return fmt.Errorf("%w: %w", errNoComeback, err)
}

// repaired waits until one member leads and all others follow, and says so to the judge. A member that has ended by
// itself is started again. When they do not come together within a bound, the ensemble's life is over.
func (c *chaos) repaired() error {
	ctx, cancel := context.WithTimeout(context.Background(), repairBound)
	defer cancel()
	for {
		err := c.together(ctx)
		if err == nil {
			c.judge.ensemble(true, true)
			return nil
		}
		if ctx.Err() != nil || errors.Is(err, errNoComeback) {
			for n, member := range c.ensemble.Members() {
				c.say("member %d, process %d:\n%s\nits threads:\n%s", n, member.PID(), member.Log(), member.Threads())
			}
			c.judge.broke()
			return err
		}
		rig.Rest(ctx, 50*time.Millisecond)
	}
}

// together reports whether one member leads and all others follow.
func (c *chaos) together(ctx context.Context) error {
	for _, member := range c.ensemble.Members() {
		if member.PID() == 0 {
			if err := c.restart(member); err != nil {
				return err
			}
		}
	}
	leader, err := c.ensemble.Leader(ctx)
	if err != nil {
		return err
	}
	followers, err := c.ensemble.Waiting(ctx)
	if err != nil {
		return err
	}
	if len(followers) != c.o.members-1 || slices.Contains(followers, leader) {
		return fmt.Errorf("soak: %d of %d members follow", len(followers), c.o.members-1)
	}
	return nil
}

// broke notes that the ensemble cannot be repaired: its life is over.
func (j *judge) broke() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.broken++
	if j.differed != nil {
		j.differed()
	}
}
