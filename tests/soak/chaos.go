package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

const (
	members = 3
	// tick is the servers' tick, as package rig sets it.
	tick = 200 * time.Millisecond
	// repairBound is for bringing the ensemble back to its full strength. One that takes longer is given up.
	repairBound = 2 * time.Minute
	// serveBound is for a member that was started to serve; one that does not is killed and started again. Even on a machine
	// that is very busy a member serves within a quarter of it.
	serveBound = 30 * time.Second
)

// fault is a kind of fault. do breaks something, waits, and repairs it, also when ctx has ended.
type fault struct {
	name string
	do   func(ctx context.Context, rng *rand.Rand) error
}

// track is a sequence of faults of which only one is at work at a time: each once, in an order of its own, before any comes
// again.
type track struct {
	faults []fault // guarded by the stage's mutex
	rng    *rand.Rand
}

// all gives the faults of each track.
func (s *stage) all() [][]fault {
	return [][]fault{slices.Concat(s.memberFaults(), s.linkFaults()), s.clientFaults(), {{"masses-expire", s.massesExpire}}}
}

// checkFaults refuses a name that no fault has.
func (s *stage) checkFaults() error {
	known := []string{"all", "none"}
	for _, f := range slices.Concat(s.all()...) {
		known = append(known, f.name)
	}
	for name := range strings.SplitSeq(s.Faults, ",") {
		if !slices.Contains(known, strings.TrimSpace(name)) {
			return fmt.Errorf("soak: -faults %s: %q is none of %s", s.Faults, name, strings.Join(known, ","))
		}
	}
	return nil
}

// run breaks one thing after the other until ctx ends.
func (s *stage) run(ctx context.Context, t *track) {
	for len(t.faults) > 0 && rig.Rest(ctx, s.Every/2+upTo(t.rng, s.Every)) {
		s.mu.Lock()
		t.rng.Shuffle(len(t.faults), func(i, k int) { t.faults[i], t.faults[k] = t.faults[k], t.faults[i] })
		f := slices.MinFunc(t.faults, func(a, b fault) int { return s.faults[a.name] - s.faults[b.name] })
		s.faults[f.name]++
		s.mu.Unlock()
		if err := f.do(ctx, t.rng); err != nil {
			s.tell("%s: %v", f.name, err)
		}
	}
}

// complete reports whether every kind of fault has been.
func (s *stage) complete() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tracks {
		if slices.ContainsFunc(t.faults, func(f fault) bool { return s.faults[f.name] == 0 }) {
			return false
		}
	}
	return true
}

// upTo draws a duration from 0 to d.
func upTo(rng *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(rng.Int64N(int64(d) + 1))
}

// sessions draws a duration between two multiples of the session timeout.
func (s *stage) sessions(rng *rand.Rand, from, to float64) time.Duration {
	return time.Duration((from + rng.Float64()*(to-from)) * float64(s.Session))
}

// members gives the configuration of the members. They allow different session timeouts where clients move between them.
func (s *stage) members() []rig.Option {
	all := []rig.Option{
		rig.WithLogOfExpiries(),
		// A member that does not answer is given up sooner than the rig would: more elections an hour.
		rig.WithSystemProperty("zookeeper.cnxTimeout", "1000"),
		rig.WithConfig("initLimit", "20"),
		// Two session timeouts: then a session can expire behind a link that stalls, while its server and the leader
		// still take each other for connected.
		rig.WithConfig("syncLimit", fmt.Sprint(max(10, int(2*s.Session/tick)))),
	}
	if s.has(clientMoves) {
		all = append(all,
			rig.WithMember(1, rig.WithMaxSessionTimeout(max(s.Session*4/10, 2*tick))),
			rig.WithMember(2, rig.WithMinSessionTimeout(min(2*s.Session, time.Minute))))
	}
	return all
}

// memberFaults are the faults of members: of any, of the leader, or of so many that no majority is left.
func (s *stage) memberFaults() []fault {
	all := []fault{{"server-dies-after-grant", s.diesAfterGrant}}
	kill := func(_ context.Context, _ *rand.Rand, member int) error { return s.ensemble.Members()[member].Kill() }
	pause := func(_ context.Context, _ *rand.Rand, member int) error { return s.ensemble.Members()[member].Pause() }
	add := func(name string, who func(context.Context, *rand.Rand) ([]int, error), from, to float64,
		breaks func(context.Context, *rand.Rand, int) error) {
		all = append(all, fault{name, func(ctx context.Context, rng *rand.Rand) error {
			struck, err := who(ctx, rng)
			if err != nil {
				return err
			}
			d := s.sessions(rng, from, to)
			s.tell("%s: members %v for %v", name, struck, d)
			for _, member := range struck {
				err = errors.Join(err, breaks(ctx, rng, member))
			}
			rig.Rest(ctx, d)
			return errors.Join(err, s.mend())
		}})
	}
	anyone := func(_ context.Context, rng *rand.Rand) ([]int, error) { return []int{rng.IntN(members)}, nil }
	leader := func(ctx context.Context, _ *rand.Rand) ([]int, error) {
		leader, err := s.leader(ctx)
		return []int{leader}, err
	}
	cut := func(_ context.Context, _ *rand.Rand, member int) error { s.ensemble.CutOff(member); return nil }
	silence := func(_ context.Context, _ *rand.Rand, member int) error { s.ensemble.Silence(member); return nil }
	add("member-kill", anyone, 0.1, 2, kill)
	add("leader-kill", leader, 0.1, 2, kill)
	add("member-pause", anyone, 0.1, 3, pause)
	add("leader-pause", leader, 0.1, 3, pause)
	add("member-cut", anyone, 0.5, 4, cut)
	add("leader-cut", leader, 0.5, 4, cut)
	add("member-silence", anyone, 0.5, 4, silence)
	add("leader-silence", leader, 0.5, 4, silence)
	add("leader-pause-kill", leader, 0.1, 1, func(ctx context.Context, rng *rand.Rand, member int) error {
		err := pause(ctx, rng, member)
		rig.Rest(ctx, s.sessions(rng, 0.1, 1))
		return errors.Join(err, kill(ctx, rng, member))
	})
	majority := func(_ context.Context, rng *rand.Rand) ([]int, error) { return rng.Perm(members)[:members/2+1], nil }
	add("quorum-loss", majority, 0.3, 1.5, func(ctx context.Context, rng *rand.Rand, member int) error {
		if rng.IntN(2) == 0 {
			return kill(ctx, rng, member)
		}
		return pause(ctx, rng, member)
	})
	return all
}

// leader is the number of the member that leads.
func (s *stage) leader(ctx context.Context) (int, error) {
	asking, cancel := context.WithTimeout(ctx, s.repair)
	defer cancel()
	leader, err := s.ensemble.Leader(asking)
	return slices.Index(s.ensemble.Members(), leader), err
}

// mend undoes what was done to members and their links, and waits until one leads and all others follow. Where they do not
// come together, for one hangs in an election or its data are broken, the ensemble's life is over.
func (s *stage) mend() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.repair)
	defer cancel()
	s.ensemble.Heal()
	for {
		err := s.together(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			for n, member := range s.ensemble.Members() {
				s.say("member %d, process %d, does not come back: %v\n%s\nits threads:\n%s", n, member.PID(), err, member.Log(), member.Threads())
			}
			s.giveUp(unrepaired)
			return err
		}
		rig.Rest(ctx, 50*time.Millisecond)
	}
}

// together starts members that do not run, and reports whether one leads and all others follow.
func (s *stage) together(ctx context.Context) error {
	all := s.ensemble.Members()
	errs := make([]error, len(all))
	var starting sync.WaitGroup
	for n, member := range all {
		if member.PID() != 0 {
			_ = member.Resume() // unless it has just ended by itself
			continue
		}
		starting.Go(func() { // killed members serve only once there is a quorum
			bound, cancel := context.WithTimeout(ctx, serveBound)
			defer cancel()
			errs[n] = member.Restart(bound)
		})
	}
	starting.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	leader, err := s.ensemble.Leader(ctx)
	if err != nil {
		return err
	}
	followers, err := s.ensemble.Waiting(ctx)
	if err == nil && (len(followers) != members-1 || slices.Contains(followers, leader)) {
		err = fmt.Errorf("soak: %d of %d members follow", len(followers), members-1)
	}
	return err
}
