package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// way is a direction of the link between the leader and a follower.
type way bool

const (
	fromLeader way = true  // pings, proposals and commits
	toLeader   way = false // answers to pings, acknowledgements and requests
)

func (w way) String() string {
	if w == fromLeader {
		return "leader → follower"
	}
	return "follower → leader"
}

// linkFaults are the faults of one direction of one link between two members. All members are up.
func (c *chaos) linkFaults() []fault {
	return []fault{
		{"link-stall-from-leader", c.link(fromLeader, c.linkStalls)},
		{"link-stall-to-leader", c.link(toLeader, c.linkStalls)},
		{"link-delay-from-leader", c.link(fromLeader, c.linkSlow)},
		{"link-delay-to-leader", c.link(toLeader, c.linkSlow)},
		{"lock-behind-stall-from-leader", c.link(fromLeader, c.lockBehindStall)},
		{"lock-behind-stall-to-leader", c.link(toLeader, c.lockBehindStall)},
	}
}

// oneWay is one direction of the link between the leader and a follower; members count from 0.
type oneWay struct {
	*rig.OneWay
	leader, follower int
	way              way
}

// link makes a fault of one direction of the link between the leader and a follower.
func (c *chaos) link(w way, breaks func(context.Context, *rand.Rand, oneWay) error,
) func(context.Context, *rand.Rand) error {
	return func(ctx context.Context, rng *rand.Rand) error {
		leader, err := c.leader(ctx, rng)
		if err != nil {
			return err
		}
		members := c.ensemble.Members()
		link := oneWay{leader: leader, follower: (leader + 1 + rng.IntN(len(members)-1)) % len(members), way: w}
		ends := []*rig.Server{members[leader], members[link.follower]}
		if w == toLeader {
			slices.Reverse(ends)
		}
		link.OneWay = c.ensemble.Link(ends[0], ends[1])
		c.judge.ensemble(true, false)
		err = breaks(ctx, rng, link)
		link.Heal()
		return errors.Join(err, c.repaired())
	}
}

func (c *chaos) linkStalls(ctx context.Context, rng *rand.Rand, link oneWay) error {
	d := c.sessions(rng, 0.2, 3)
	c.say("link %v of member %d stalls for %v", link.way, link.follower, d)
	link.Stall()
	rig.Rest(ctx, d)
	return nil
}

func (c *chaos) linkSlow(ctx context.Context, rng *rand.Rand, link oneWay) error {
	slow, d := c.sessions(rng, 0.01, 0.3), c.sessions(rng, 1, 3)
	c.say("link %v of member %d is slower by %v for %v", link.way, link.follower, slow, d)
	link.Delay(slow)
	rig.Rest(ctx, d)
	return nil
}

// lockBehindStall has a calm client of a follower, whose session is idle, ask for locks that are free, while the link
// stalls, and then the other calm clients for the same ones. The link is healed when one of those is granted what the
// first one asked for earlier: then the first one hears of its own locks, and its session has expired.
func (c *chaos) lockBehindStall(ctx context.Context, rng *rand.Rand, link oneWay) error {
	victim, others := c.idleVictim(ctx, rng, link.leader, link.follower)
	if victim == nil {
		return c.linkStalls(ctx, rng, link)
	}
	defer c.resume(append(others, victim)...)
	granted := victim.proxies[link.follower].Timeout() // members may differ
	part := 0.2 + 0.78*rng.Float64()
	if rng.IntN(2) == 0 {
		part = 0.7 + 0.28*rng.Float64() // what is asked for late is believed in for longest
	}
	idle := time.Duration(part * float64(granted))
	c.say("link %v of member %d stalls; client %d asks for locks after %v, then others", link.way, link.follower,
		victim.number, idle)
	stalled, cancel := context.WithTimeout(ctx, c.sessions(rng, 1.5, 3))
	defer cancel()
	link.Stall()
	rig.Rest(stalled, idle)
	overtaken := c.judge.overtaken(victim.number)
	defer overtaken.forget()
	c.resume(victim)
	rig.Rest(stalled, c.o.session/50)
	for {
		c.resume(others...)
		select {
		case <-overtaken.happened:
			link.Heal()
			c.say("link %v of member %d is healed: client %d was overtaken", link.way, link.follower, victim.number)
			return nil
		case <-stalled.Done():
			return nil
		case <-time.After(c.o.session / 50):
		}
	}
}

// idleVictim draws a calm client. It is at the follower, and the other calm clients are not. All their requests end,
// and no new ones begin until resume. It is nil where there are not two of them.
func (c *chaos) idleVictim(ctx context.Context, rng *rand.Rand, leader, follower int,
) (victim *subject, others []*subject) {
	if victim, others = c.calmVictim(rng); victim == nil {
		return nil, nil
	}
	victim.moveTo(ctx, follower, c.o.session)
	for _, other := range others {
		if other.at() == follower {
			other.moveTo(ctx, leader, c.o.session)
		}
	}
	var ending sync.WaitGroup
	for _, s := range append(others, victim) {
		ending.Go(func() {
			if err := s.hush(3 * c.o.session); err != nil {
				c.say("%v", err) // its session is not idle, then
			}
		})
	}
	ending.Wait()
	if rng.IntN(3) == 0 {
		rig.Rest(ctx, c.sessions(rng, 0, 0.5)) // it may retain nodes
	} else {
		rig.Rest(ctx, c.sessions(rng, 1.05, 1.3))
	}
	return victim, others
}

// resume lets requests of clients begin again, and ends all pauses.
func (c *chaos) resume(clients ...*subject) {
	for _, s := range clients {
		_ = s.command(doGo) // one that is not there has begun anew when it is
	}
	c.burst(clients...)
}

// calmVictim draws a calm client; others are the other ones. It is nil where there are not two.
func (c *chaos) calmVictim(rng *rand.Rand) (victim *subject, others []*subject) {
	calm := slices.DeleteFunc(slices.Clone(c.subjects), func(s *subject) bool { return !c.o.calmClient(s.number) })
	if len(calm) < 2 {
		return nil, nil
	}
	n := rng.IntN(len(calm))
	return calm[n], slices.Delete(slices.Clone(calm), n, n+1)
}

// burst has workers of clients that pause go on at once.
func (c *chaos) burst(clients ...*subject) {
	for _, s := range clients {
		_ = s.command(doBurst) // one that is not there has no workers that pause
	}
}
