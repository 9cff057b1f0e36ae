package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// ensembleFaults are the faults of members. A majority is up but for the last.
func (c *chaos) ensembleFaults() []fault {
	return []fault{
		{"member-kill", c.one(c.anyMember, c.killed)},
		{"member-pause", c.one(c.anyMember, c.paused)},
		{"member-cut", c.one(c.anyMember, c.cutOff)},
		{"member-silence", c.one(c.anyMember, c.silenced)},
		{"leader-kill", c.one(c.leader, c.killed)},
		{"leader-pause", c.one(c.leader, c.paused)},
		{"leader-cut", c.one(c.leader, c.cutOff)},
		{"leader-silence", c.one(c.leader, c.silenced)},
		{"quorum-loss", c.quorumLoss},
	}
}

// all gives the faults of each track.
func (c *chaos) all() [][]fault {
	tracks := [][]fault{slices.Concat(c.ensembleFaults(), c.linkFaults(), c.deathFaults()), c.clientFaults(),
		slices.Concat(c.massFaults(), c.refusalFaults())}
	if c.o.peer == peerTurnstile || c.o.peer == "" {
		tracks = append(tracks, c.operatorFaults())
	}
	return tracks
}

// one makes a fault of one member.
func (c *chaos) one(choose func(context.Context, *rand.Rand) (int, error), breaks func(context.Context, *rand.Rand, int) error) func(context.Context, *rand.Rand) error {
	return func(ctx context.Context, rng *rand.Rand) error {
		member, err := choose(ctx, rng)
		if err != nil {
			return err
		}
		c.judge.ensemble(true, false)
		return errors.Join(breaks(ctx, rng, member), c.repaired())
	}
}

func (c *chaos) anyMember(_ context.Context, rng *rand.Rand) (int, error) {
	return rng.IntN(c.o.members), nil
}

func (c *chaos) leader(ctx context.Context, _ *rand.Rand) (int, error) {
	asking, cancel := context.WithTimeout(ctx, repairBound)
	defer cancel()
	leader, err := c.ensemble.Leader(asking)
	if err != nil {
		return 0, err
	}
	return slices.Index(c.ensemble.Members(), leader), nil
}

func (c *chaos) killed(ctx context.Context, rng *rand.Rand, member int) error {
	d := c.sessions(rng, 0.1, 2)
	c.say("member %d killed for %v", member, d)
	server := c.ensemble.Members()[member]
	if err := server.Kill(); err != nil {
		return err
	}
	rig.Rest(ctx, d)
	return c.restart(server)
}

func (c *chaos) paused(ctx context.Context, rng *rand.Rand, member int) error {
	d := c.sessions(rng, 0.1, 3)
	c.say("member %d paused for %v", member, d)
	server := c.ensemble.Members()[member]
	if err := server.Pause(); err != nil {
		return err
	}
	rig.Rest(ctx, d)
	return server.Resume()
}

func (c *chaos) cutOff(ctx context.Context, rng *rand.Rand, member int) error {
	d := c.sessions(rng, 0.5, 4)
	c.say("member %d cut off from the others for %v", member, d)
	c.ensemble.CutOff(member)
	rig.Rest(ctx, d)
	c.ensemble.Heal()
	return nil
}

func (c *chaos) silenced(ctx context.Context, rng *rand.Rand, member int) error {
	d := c.sessions(rng, 0.5, 4)
	c.say("nothing passes between member %d and the others for %v", member, d)
	c.ensemble.Silence(member)
	rig.Rest(ctx, d)
	c.ensemble.Heal()
	return nil
}

// quorumLoss kills or pauses so many members that no majority is left.
func (c *chaos) quorumLoss(ctx context.Context, rng *rand.Rand) error {
	d := c.sessions(rng, 0.3, 1.5)
	victims := rng.Perm(c.o.members)[:c.o.members/2+1]
	kill := rng.IntN(2) == 0
	c.say("no majority for %v: members %v, killed %v, else paused", d, victims, kill)
	c.judge.ensemble(false, false)
	var errs []error
	for _, v := range victims {
		server := c.ensemble.Members()[v]
		if kill {
			errs = append(errs, server.Kill())
		} else {
			errs = append(errs, server.Pause())
		}
	}
	rig.Rest(ctx, d)
	// Killed members serve only once there is a quorum: all at the same time.
	results := make([]error, len(victims))
	var all sync.WaitGroup
	for i, v := range victims {
		server := c.ensemble.Members()[v]
		all.Go(func() {
			if kill {
				results[i] = c.restart(server)
			} else {
				results[i] = server.Resume()
			}
		})
	}
	all.Wait()
	return errors.Join(append(append(errs, results...), c.repaired())...)
}
