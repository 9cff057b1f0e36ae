package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// deathFaults are deaths of servers at the worst moment. A majority is up.
func (c *chaos) deathFaults() []fault {
	return []fault{
		{"leader-pause-kill", c.one(c.leader, c.pausedAndKilled)},
		{"server-dies-after-grant", c.diesAfterGrant},
	}
}

func (c *chaos) pausedAndKilled(ctx context.Context, rng *rand.Rand, member int) error {
	d := c.sessions(rng, 0.1, 1)
	c.say("member %d paused for %v, then killed", member, d)
	server := c.ensemble.Members()[member]
	if err := server.Pause(); err != nil {
		return err
	}
	rig.Rest(ctx, d)
	if err := server.Kill(); err != nil {
		return err
	}
	rig.Rest(ctx, c.sessions(rng, 0.1, 1))
	return c.restart(server)
}

// diesAfterGrant holds up the frames of a calm client of a follower for up to 0.9 T, has it ask for locks, and kills
// the follower as soon as it has one; sometimes the client reaches no other server for a while. The others ask for
// the same locks.
func (c *chaos) diesAfterGrant(ctx context.Context, rng *rand.Rand) error {
	leader, err := c.leader(ctx, rng)
	if err != nil {
		return err
	}
	member := (leader + 1 + rng.IntN(c.o.members-1)) % c.o.members
	victim, others := c.idleVictim(ctx, rng, leader, member)
	if victim == nil {
		return nil
	}
	defer c.resume(append(others, victim)...)
	held, alone := c.sessions(rng, 0.1, 0.9), rng.IntN(3) != 0
	c.say("client %d: frames held up for %v; member %d is killed after its next grant, alone %v",
		victim.number, held, member, alone)
	c.judge.ensemble(true, false)
	victim.stall(rig.Up)
	rig.Rest(ctx, held)
	granted := c.judge.grantedTo(victim.number)
	defer granted.forget()
	victim.heal()
	c.resume(victim)
	select {
	case <-granted.happened:
	case <-time.After(c.o.session):
	case <-ctx.Done():
	}
	server := c.ensemble.Members()[member]
	err = server.Kill()
	if alone {
		victim.down()
	}
	for begin := now(); now()-begin < int64(c.o.session) && rig.Rest(ctx, c.o.session/20); {
		c.resume(others...)
	}
	victim.heal()
	return errors.Join(err, c.restart(server), c.repaired())
}

// framesHeld holds up what a calm client sends, or what it is sent, or both, for up to 0.9 T. Its workers ask for
// locks in the midst of that, and again when it is over; then the other calm clients for the same ones.
func (c *chaos) framesHeld(ctx context.Context, rng *rand.Rand) error {
	victim, others := c.calmVictim(rng)
	if victim == nil {
		return nil
	}
	d := c.sessions(rng, 0.1, 0.9)
	ways := [][]rig.Way{{rig.Up}, {rig.Down}, {rig.Up, rig.Down}}[rng.IntN(3)]
	c.say("client %d: frames held up for %v, %v, around requests for locks", victim.number, d, ways)
	for _, w := range ways {
		victim.stall(w)
	}
	asks := upTo(rng, d)
	rig.Rest(ctx, asks)
	c.burst(victim)
	rig.Rest(ctx, d-asks)
	victim.heal()
	c.burst(append(others, victim)...)
	return nil
}
