package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// At the end of a run of Turnstile, when nothing else is broken any more, the data of all servers
// are wiped, and restored from an older backup, in turn. No lock can hold then: the servers have
// forgotten who holds, and tokens begin again. A program has to tell its resources
// (locks/guides/fencing.md). So overlaps of holders, and their writes, are counted apart in the
// spell around a wipe, and the resources and journals begin anew after it. A spell lasts from a
// moment at which no request is under way to another one. In it, as ever, requests end, nothing is
// left behind, and every client is granted a lock in time.

// notBack is the figure of clients that were not granted a lock within a session timeout and backMargin of the servers'
// return.
const (
	notBack    = "clients that were not back after a wipe"
	backMargin = 2 * time.Second
)

// excused are the kinds of findings that a wipe explains. Histories and commits are not judged in a spell.
var excused = map[string]bool{doubleHolders: true, badTokens: true, validRefused: true}

// wipeRecord has the judge's counts of the spells around wipes.
type wipeRecord struct {
	on      bool
	wipes   int
	longest time.Duration // from the servers' return until a client was granted a lock
}

// wipes wipes and restores the servers' data in turn. All requests have ended when it is called, and when it returns.
func (s *stage) wipes(ctx context.Context, c *chaos) error {
	if s.o.wipes == 0 || s.o.peer != peerTurnstile {
		return nil
	}
	rng := rand.New(rand.NewPCG(s.o.seed, 0))
	for n := 0; n < s.o.wipes && ctx.Err() == nil; n++ {
		s.chronicle.finish() // all that was before is judged as ever
		if err := s.spell(ctx, c, rng, n%2 == 1); err != nil {
			return err
		}
		s.goOn()
		rig.Rest(ctx, 3*s.o.session)
		s.quietPoint(true)
	}
	return nil
}

// spell wipes once.
func (s *stage) spell(ctx context.Context, c *chaos, rng *rand.Rand, restored bool) error {
	s.judge.wiping(true)
	s.goOn()
	var backups []string
	if restored {
		folder, err := os.MkdirTemp("", "soak-backup-")
		if err != nil {
			return fmt.Errorf("soak: folder for a backup: %w", err)
		}
		defer os.RemoveAll(folder)
		rig.Rest(ctx, c.sessions(rng, 0.3, 1))
		if backups, err = c.backUp(folder); err != nil {
			return err
		}
	}
	rig.Rest(ctx, c.sessions(rng, 1, 2))
	if err := c.wipe(rng, backups); err != nil {
		return err
	}
	s.awaitBack(ctx, c)
	rig.Rest(ctx, c.sessions(rng, 0.5, 1))
	s.hushAll()
	if err := s.inspectAnew(); err != nil {
		return err
	}
	c.inspector = s.inspector
	s.lookForOrphans(4*s.o.session + 10*time.Second)
	s.chronicle.forget()
	s.judge.wiping(false)
	return nil
}

// backUp stops all servers, copies their data, and starts them again.
func (c *chaos) backUp(folder string) (backups []string, err error) {
	c.say("the servers' data are backed up")
	c.judge.ensemble(false, false)
	var errs []error
	for n, member := range c.ensemble.Members() {
		errs = append(errs, member.Kill())
		backups = append(backups, filepath.Join(folder, fmt.Sprint(n)))
	}
	for n, member := range c.ensemble.Members() {
		errs = append(errs, member.Backup(backups[n]))
	}
	errs = append(errs, c.eachMember(func(_ int, member *rig.Server) error { return c.restart(member) }), c.repaired())
	return backups, errors.Join(errs...)
}

// wipe stops all servers for a while, and starts them without their data, or with those of the backups.
func (c *chaos) wipe(rng *rand.Rand, backups []string) error {
	down := c.sessions(rng, 0, 1)
	c.say("the servers' data are wiped, restored %v, after %v", backups != nil, down)
	c.judge.ensemble(false, false)
	err := c.eachMember(func(_ int, member *rig.Server) error { return member.Kill() })
	time.Sleep(down)
	starting, cancel := context.WithTimeout(context.Background(), repairBound)
	defer cancel()
	err = errors.Join(err, c.eachMember(func(n int, member *rig.Server) error {
		if backups == nil {
			return member.Restore(starting, "")
		}
		return member.Restore(starting, backups[n])
	}))
	if err != nil {
		return err
	}
	return c.repaired()
}

// eachMember does something to all members at the same time.
func (c *chaos) eachMember(do func(int, *rig.Server) error) error {
	errs := make([]error, len(c.ensemble.Members()))
	var all sync.WaitGroup
	for n, member := range c.ensemble.Members() {
		all.Go(func() { errs[n] = do(n, member) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// awaitBack waits until each client was granted a lock, or is late.
func (s *stage) awaitBack(ctx context.Context, c *chaos) {
	bound, since := s.o.longestTimeout()+backMargin, time.Now()
	s.judge.wiped()
	late, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	var coming sync.WaitGroup
	for _, client := range s.subjects {
		granted := s.judge.grantedTo(client.number)
		coming.Go(func() {
			defer granted.forget()
			for {
				c.burst(client) // one that is calm may be pausing
				select {
				case <-granted.happened:
					s.judge.back(time.Since(since))
					return
				case <-late.Done():
					if ctx.Err() == nil {
						s.accuse(notBack, "client %d is not granted a lock within %v of the servers' return", client.number, bound)
					}
					return
				case <-time.After(s.o.session / 20):
				}
			}
		})
	}
	coming.Wait()
}

// inspectAnew makes another inspector: the servers refuse for ever a client that has seen more than
// they have.
func (s *stage) inspectAnew() error {
	known := s.inspector.known
	s.inspector.close()
	var err error
	if s.inspector, err = newInspector(s.ensemble.Addrs(), s.o.allLocks()); err != nil {
		return err
	}
	s.inspector.known = known
	if err := s.inspector.makeJournals(); err != nil {
		return err
	}
	for lock := range s.o.allLocks() {
		if _, err := s.inspector.entries(lock); err != nil { // what a backup has is not judged again
			return err
		}
	}
	return nil
}

// forget forgets what was not judged yet.
func (c *chronicle) forget() {
	for lock := range c.pending {
		c.pending[lock] = nil
	}
}

// wiping begins a spell around a wipe, or ends it: then the resources and journals begin anew. No request is under way.
func (j *judge) wiping(on bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.wipe.on = on
	if on {
		return
	}
	for _, l := range j.locks {
		l.journal.Forget()
		l.newest, l.newestBy, l.grants, l.pairs = 0, holder{}, nil, map[pair]*finding{}
	}
}

// wiped counts a wipe.
func (j *judge) wiped() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.wipe.wipes++
}

// back notes how long a client took.
func (j *judge) back(after time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.wipe.longest = max(j.wipe.longest, after)
}
