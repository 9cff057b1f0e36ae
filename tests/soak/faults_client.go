package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// clientFaults are the faults of one client, or of its network.
func (c *chaos) clientFaults() []fault {
	return []fault{
		{"connections-cut", c.someone(c.connectionsCut)},
		{"network-down", c.someone(c.networkDown)},
		{"replies-held", c.someone(c.repliesHeld)},
		{"replies-lost", c.someone(c.repliesLost)},
		{"client-pause", c.someone(c.clientPaused)},
		{"client-blink", c.someone(c.clientBlinks)},
		{"client-kill", c.someone(c.clientKilled)},
	}
}

func (c *chaos) someone(breaks func(context.Context, *rand.Rand, *subject) error) func(context.Context, *rand.Rand) error {
	return func(ctx context.Context, rng *rand.Rand) error {
		return breaks(ctx, rng, c.subjects[rng.IntN(len(c.subjects))])
	}
}

func (c *chaos) connectionsCut(_ context.Context, _ *rand.Rand, s *subject) error {
	c.say("client %d: connections cut", s.number)
	for _, p := range s.proxies {
		p.Cut()
	}
	return nil
}

func (c *chaos) networkDown(ctx context.Context, rng *rand.Rand, s *subject) error {
	d := c.sessions(rng, 0.2, 2)
	c.say("client %d: network down for %v", s.number, d)
	for _, p := range s.proxies {
		p.Refuse(true)
		p.Cut()
	}
	rest(ctx, d)
	s.heal()
	return nil
}

func (c *chaos) repliesHeld(ctx context.Context, rng *rand.Rand, s *subject) error {
	d := c.sessions(rng, 0.3, 2)
	c.say("client %d: replies held for %v", s.number, d)
	for _, p := range s.proxies {
		p.Hold(true)
	}
	rest(ctx, d)
	s.heal()
	return nil
}

// repliesLost cuts connections in place of the next replies to creates, deletes and heartbeats: they
// were carried out, and the client does not know.
func (c *chaos) repliesLost(ctx context.Context, rng *rand.Rand, s *subject) error {
	op := []rig.OpCode{rig.OpCreate, rig.OpDelete, rig.OpMulti}[rng.IntN(3)]
	count := 1 + rng.IntN(4)
	c.say("client %d: replies to %v lost, %d times", s.number, op, count)
	for range count {
		// It happens at the member to which the client is connected. At the others it stays armed, for
		// when the client comes there.
		for _, p := range s.proxies {
			p.Expect(rig.Rule{Op: op, Action: rig.DropReply})
		}
		rest(ctx, 500*time.Millisecond)
	}
	return nil
}

// clientPaused stops the process for longer than its session lasts.
func (c *chaos) clientPaused(ctx context.Context, rng *rand.Rand, s *subject) error {
	return c.pausedFor(ctx, s, c.sessions(rng, 1.2, 2.5))
}

// clientBlinks stops the process for about as long as its leases last.
func (c *chaos) clientBlinks(ctx context.Context, rng *rand.Rand, s *subject) error {
	return c.pausedFor(ctx, s, c.sessions(rng, 0.1, 0.8))
}

func (c *chaos) pausedFor(ctx context.Context, s *subject, d time.Duration) error {
	c.say("client %d: process stopped for %v", s.number, d)
	p := s.current()
	err := p.Pause()
	rest(ctx, d)
	return errors.Join(err, p.Resume())
}

func (c *chaos) clientKilled(_ context.Context, rng *rand.Rand, s *subject) error {
	d := c.sessions(rng, 0, 1.5)
	c.say("client %d: process killed, started again after %v", s.number, d)
	return errors.Join(s.restart(d), s.connected(repairBound))
}
