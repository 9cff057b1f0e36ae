package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// clientMoves is the fault for which members allow different session timeouts.
const clientMoves = "client-moves"

// clientFaults are the faults of one client, or of its network.
func (c *chaos) clientFaults() []fault {
	return []fault{
		{"connections-cut", c.someone(c.connectionsCut)},
		{"network-down", c.someone(c.networkDown)},
		{"replies-held", c.someone(c.repliesHeld)},
		{"replies-lost", c.someone(c.repliesLost)},
		{"in-doubt", c.someone(c.leftInDoubt)},
		{"client-pause", c.someone(c.clientPaused)},
		{"client-blink", c.someone(c.clientBlinks)},
		{"client-kill", c.someone(c.clientKilled)},
		{"requests-held", c.someone(c.requestsHeld)},
		{"client-slow", c.someone(c.clientSlow)},
		{clientMoves, c.someone(c.clientMoved)},
		{"frames-held-before-lock", c.framesHeld},
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
	s.down()
	rig.Rest(ctx, d)
	s.heal()
	return nil
}

func (c *chaos) repliesHeld(ctx context.Context, rng *rand.Rand, s *subject) error {
	d := c.sessions(rng, 0.3, 2)
	c.say("client %d: replies held for %v", s.number, d)
	s.stall(rig.Down)
	rig.Rest(ctx, d)
	s.heal()
	return nil
}

// requestsHeld is the other direction: replies still come.
func (c *chaos) requestsHeld(ctx context.Context, rng *rand.Rand, s *subject) error {
	d := c.sessions(rng, 0.1, 2)
	c.say("client %d: requests held for %v", s.number, d)
	s.stall(rig.Up)
	rig.Rest(ctx, d)
	s.heal()
	return nil
}

func (c *chaos) clientSlow(ctx context.Context, rng *rand.Rand, s *subject) error {
	up, down, d := c.sessions(rng, 0, 0.15), c.sessions(rng, 0, 0.15), c.sessions(rng, 1, 3)
	c.say("client %d: requests slower by %v, replies by %v, for %v", s.number, up, down, d)
	for _, p := range s.proxies {
		p.Delay(rig.Up, up)
		p.Delay(rig.Down, down)
	}
	rig.Rest(ctx, d)
	s.heal()
	return nil
}

// clientMoved has a client connect to another member, which may grant another session timeout, and on to the next.
// In half of the cases it reaches none at all after that for a while.
func (c *chaos) clientMoved(ctx context.Context, rng *rand.Rand, s *subject) error {
	for _, member := range rng.Perm(c.o.members) {
		if member == s.at() {
			continue
		}
		c.say("client %d: moves to member %d", s.number, member)
		s.moveTo(ctx, member, c.o.session)
		c.burst(s)
		rig.Rest(ctx, c.sessions(rng, 0, 0.5))
		if rng.IntN(2) == 0 {
			d := c.sessions(rng, 0.3, 1)
			c.say("client %d: network down for %v after it has moved", s.number, d)
			s.down()
			rig.Rest(ctx, d)
			s.heal()
		}
	}
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
		rig.Rest(ctx, 500*time.Millisecond)
	}
	return nil
}

// leftInDoubt cuts the connection at a create or at a delete, before it is passed on or in place of its reply, and the
// client reaches no server for a while: requests that are given up meanwhile end with their outcome unknown.
func (c *chaos) leftInDoubt(ctx context.Context, rng *rand.Rand, s *subject) error {
	member := s.at()
	if member < 0 {
		return nil // it is between two servers
	}
	rule := rig.Rule{Op: []rig.OpCode{rig.OpCreate, rig.OpDelete}[rng.IntN(2)],
		Action: []rig.Action{rig.CutBefore, rig.DropReply}[rng.IntN(2)]}
	armed := s.proxies[member].Expect(rule)
	c.burst(s)
	select {
	case <-armed.Fired():
	case <-ctx.Done():
		return nil
	case <-time.After(c.o.session):
		return nil
	}
	d := c.sessions(rng, 0.02, 0.5)
	c.say("client %d: connection cut at a %v, applied %v, and network down for %v", s.number, rule.Op,
		rule.Action == rig.DropReply, d)
	s.down()
	rig.Rest(ctx, d)
	s.heal()
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
	rig.Rest(ctx, d)
	return errors.Join(err, p.Resume())
}

func (c *chaos) clientKilled(_ context.Context, rng *rand.Rand, s *subject) error {
	d := c.sessions(rng, 0, 1.5)
	c.say("client %d: process killed, started again after %v", s.number, d)
	return errors.Join(s.restart(d), s.connected(repairBound))
}
