package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// massSessions is the number of sessions that expire together with the clients'. The leader takes
// all that are due at one tick off its queue at once, and logs a line for each as it ends them
// (SessionTrackerImpl.run, ZooKeeperServer.expire).
const massSessions = 300

// massFaults are sessions that expire in masses.
func (c *chaos) massFaults() []fault {
	return []fault{{"masses-expire", c.massesExpire}}
}

// massesExpire has a crowd of sessions and the connections of some clients fall silent at one instant, while the leader's
// log takes about a session timeout for the crowd's lines. Each client comes back at a moment of its own, from 0.8 to 1.6
// session timeouts after that. One that comes while the leader ends the crowd is renewed, has transactions committed, and
// is ended all the same. It holds for long, and the others ask for the same locks.
func (c *chaos) massesExpire(ctx context.Context, rng *rand.Rand) error {
	leads, err := c.leader(ctx, rng)
	if err != nil {
		return err
	}
	member, leader := rng.IntN(c.o.members), c.ensemble.Members()[leads]
	victims, others := c.someOfEach(rng)
	for _, s := range victims {
		if s.at() != member {
			s.moveTo(ctx, member, c.o.session/4)
		}
	}
	crowd, err := rig.OpenCrowd(ctx, []string{c.ensemble.Members()[member].Addr()}, massSessions, c.o.session)
	defer crowd.Leave()
	if err != nil {
		return err
	}
	lines := max(1, int(massSessions/crowd.Timeout().Seconds()))
	leader.SlowLog(lines)
	err = crowd.FallSilent()
	for _, s := range victims {
		c.burst(s) // so that the leader hears of it when it hears of the crowd
		_ = s.command(doLong)
	}
	rig.Rest(ctx, tick/4)
	for _, s := range victims {
		s.down()
	}
	c.say("%d sessions of %v at member %d, and %d clients, fall silent; the log of member %d takes %d lines a second",
		massSessions, crowd.Timeout(), member, len(victims), leads, lines)
	silent, done := time.Now(), make(chan struct{})
	var coming sync.WaitGroup
	for _, s := range victims {
		part := rand.New(rand.NewPCG(rng.Uint64(), 0))
		coming.Go(func() { c.comesBack(ctx, part, s, silent, crowd.Timeout()) })
	}
	go func() { coming.Wait(); close(done) }()
	for waiting := true; waiting; {
		select {
		case <-done:
			waiting = false
		case <-time.After(c.o.session / 50):
			c.burst(others...)
		}
	}
	return err // the fault that broke a member repairs it, and may be at work just now
}

// comesBack lets a client come back. In one of two cases it hears nothing more once it has been granted a lock.
func (c *chaos) comesBack(ctx context.Context, rng *rand.Rand, s *subject, silent time.Time, timeout time.Duration) {
	defer s.heal()
	timeouts := func(from, to float64) time.Duration {
		return time.Duration((from + rng.Float64()*(to-from)) * float64(timeout))
	}
	comes, deaf := timeouts(0.8, 1.6), timeouts(-1, 1)
	rig.Rest(ctx, time.Until(silent.Add(comes)))
	granted := c.judge.grantedTo(s.number)
	defer granted.forget()
	s.heal()
	c.burst(s)
	select {
	case <-granted.happened:
		c.say("client %d is granted a lock %.2f T after that", s.number, float64(time.Since(silent))/float64(timeout))
		if deaf > 0 {
			s.stall(rig.Down)
			rig.Rest(ctx, deaf)
		}
	case <-time.After(timeout):
	case <-ctx.Done():
	}
}

// someOfEach draws half of the busy clients and of the calm ones, but leaves one of each where there is more than one.
func (c *chaos) someOfEach(rng *rand.Rand) (some, others []*subject) {
	for _, calm := range []bool{false, true} {
		all := slices.DeleteFunc(slices.Clone(c.subjects), func(s *subject) bool { return c.o.calmClient(s.number) != calm })
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		half := (len(all) + 1) / 2
		some, others = append(some, all[:half]...), append(others, all[half:]...)
	}
	return some, others
}
