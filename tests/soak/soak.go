package main

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// soak runs clients under faults for as long as the options say, or until ctx ends, and judges.
// When an ensemble's servers find that their trees differ, it goes on with a new ensemble for the
// rest of the time, or until every kind of fault has happened.
func soak(ctx context.Context, o options, out io.Writer) (result, error) {
	whole, err := life(ctx, o, out)
	for err == nil && whole.endedEarly && ctx.Err() == nil {
		next := o
		next.duration = max(0, o.duration-time.Duration(whole.Seconds*float64(time.Second)))
		next.seed += uint64(whole.Ensembles)
		if next.duration < shortestLife && !o.allKinds { // all kinds of fault take the time that they need
			break
		}
		var more result
		more, err = life(ctx, next, out)
		whole = whole.and(more)
	}
	return whole, err
}

// shortestLife is the time that must be left for a new ensemble to be worth it.
const shortestLife = 30 * time.Second

// life is the soak of one ensemble.
func life(ctx context.Context, o options, out io.Writer) (found result, err error) {
	if err := checkFaults(o.faults); err != nil {
		return result{}, err
	}
	s := &stage{o: o, out: out, begin: time.Now()}
	defer func() { err = errors.Join(err, s.tearDown()) }()
	if err := s.raise(); err != nil {
		return result{}, err
	}
	ctx, endLife := context.WithCancel(ctx)
	defer endLife()
	s.judge.differed = endLife
	c := &chaos{o: o, ensemble: s.ensemble, subjects: s.subjects, judge: s.judge,
		inspector: s.inspector, say: s.sayIfVerbose, count: map[string]int{}}
	var tracks []*track
	for n, faults := range c.all() {
		tracks = append(tracks, &track{faults: chosen(faults, o.faults), rng: rand.New(rand.NewPCG(o.seed, uint64(n+1)))})
	}
	s.say("%d members serve; %d clients of %s run", o.members, o.clients+o.calm, o.peer)
	writing, stopWriting := context.WithCancel(context.Background())
	defer stopWriting()
	var chronicler sync.WaitGroup
	s.chronicle.run(writing, &chronicler)
	watching, stopWatching := context.WithCancel(context.Background())
	defer stopWatching()
	var watchers sync.WaitGroup
	(&replicas{stage: s, seen: map[string]bool{}}).run(watching, &watchers)
	begin := time.Now()
	quiets := 0
	for last := false; !last; quiets++ {
		s.act(ctx, c, tracks, begin)
		last = ctx.Err() != nil || s.enough(c, tracks, begin)
		s.calm(ctx, tracks)
		s.quietPoint(last)
		s.progress(begin)
	}
	stopWriting()
	chronicler.Wait()
	s.chronicle.finish()
	if err := s.wipes(ctx, c); err != nil {
		return result{}, err
	}
	took := time.Since(begin)
	s.evidence.settle() // while the clients can tell what they have logged
	s.endClients()
	s.lookForOrphans(time.Second)
	s.judgeCommits(10 * time.Second)
	s.judge.judgeRest()
	stopWatching()
	watchers.Wait()
	s.chronicle.finish()
	s.judge.accusing.Wait()
	s.evidence.wait()
	found = s.judge.result(o, took)
	found.Faults, found.QuietPoints = c.counts(), quiets
	found.Windows, found.Undecided, found.Struck = s.chronicle.windows, s.chronicle.undecided, s.chronicle.struck
	found.endedEarly = found.TreesDiffered+found.Unrepaired > 0 &&
		(took < o.duration || o.allKinds && !c.completed(tracks))
	return found, nil
}

// enough reports whether the soak has lasted for as long as it was asked to, and has seen what it was asked to see.
func (s *stage) enough(c *chaos, tracks []*track, begin time.Time) bool {
	return time.Since(begin) >= s.o.duration && s.judge.granting(s.o.grants) && (!s.o.allKinds || c.completed(tracks))
}

// act breaks things until it is time to look for orphans, or until there was enough. When it returns all is repaired.
func (s *stage) act(ctx context.Context, c *chaos, tracks []*track, begin time.Time) {
	length := s.o.quiet
	if left := s.o.duration - time.Since(begin); left > 0 {
		length = min(length, left)
	}
	breaking, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var all sync.WaitGroup
	for _, t := range tracks {
		all.Go(func() { c.run(breaking, t) })
	}
	for rig.Rest(breaking, time.Second/10) {
		if s.enough(c, tracks, begin) {
			cancel()
		}
	}
	all.Wait()
}

// calm leaves everything alone for a while, so that wake-ups that are lost show.
func (s *stage) calm(ctx context.Context, tracks []*track) {
	s.judge.calm(true)
	defer s.judge.calm(false)
	if !slices.ContainsFunc(tracks, func(t *track) bool { return len(t.faults) > 0 }) {
		return
	}
	calm, cancel := context.WithTimeout(ctx, calmSessions*s.o.session)
	defer cancel()
	for rig.Rest(calm, lookEvery) {
		s.judge.stillCalm()
	}
	if s.judge.heldUps > 0 {
		s.say("the machine was held up in the calm, %d times so far", s.judge.heldUps)
	}
}

// progress prints how it stands.
func (s *stage) progress(begin time.Time) {
	r := s.judge.result(s.o, time.Since(begin))
	s.say("%d grants, %d sessions lost, %d locks lost, %d late writes refused, must be zero: %v", r.Grants, r.SessionsLost,
		r.LocksLost, r.LateRefused, r.Wrong)
}
