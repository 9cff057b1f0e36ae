package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

const (
	// shortestLife is the time that must be left for a new ensemble to be worth it.
	shortestLife = 30 * time.Second
	// hungGrace is for requests to end after the end of their contexts, on a machine that is busy.
	hungGrace = 80 * time.Second
	// answerBound is for a client that is asked something else.
	answerBound = 30 * time.Second
	// The calm before a quiet point lasts calmSessions session timeouts. The first calmSettle of them are for recovery from
	// earlier faults: a poll comes once a session timeout, which some servers allow to be twice as long.
	calmSessions = 6
	calmSettle   = 4
)

// result is the outcome of a run.
type result struct {
	Seed    uint64         `json:"seed"`
	Seconds float64        `json:"seconds"`
	Faults  map[string]int `json:"faults"`
	Counts  map[string]int `json:"counts"`
	Wrong   map[string]int `json:"must_be_zero"`
}

// clean reports whether all that must be zero is.
func (r result) clean() bool {
	for _, n := range r.Wrong {
		if n != 0 {
			return false
		}
	}
	return true
}

// soak runs clients under faults for as long as the options say, or until ctx ends, and judges. When an ensemble's servers
// find that their trees differ, it goes on with a new ensemble for the rest of the time, or until every kind of fault has
// happened.
func soak(ctx context.Context, o options, out io.Writer) (result, error) {
	all := result{Seed: o.Seed, Faults: map[string]int{}, Counts: map[string]int{}, Wrong: map[string]int{}}
	add := func(sum, more map[string]int) {
		for name, n := range more {
			sum[name] += n
		}
	}
	begin := time.Now()
	for {
		s := &stage{options: o, out: out, begin: time.Now(), repair: repairBound, faults: map[string]int{}}
		err := errors.Join(s.live(ctx), s.tearDown())
		if err != nil {
			return all, err
		}
		counts, wrong := s.judge.result()
		counts[ensembles] = 1
		add(all.Faults, s.faults)
		add(all.Counts, counts)
		add(all.Wrong, wrong)
		all.Seconds = time.Since(begin).Seconds()
		o.Duration -= time.Since(s.begin)
		o.Seed++
		// All kinds of fault take the time that they need.
		if ctx.Err() != nil || !s.early || s.AllKinds && s.complete() || !s.AllKinds && o.Duration < shortestLife {
			return all, nil
		}
	}
}

// stage is everything that the soak of one ensemble has started.
type stage struct {
	options
	out      io.Writer
	begin    time.Time // guarded by mu
	ensemble *rig.Partitionable
	direct   *zk.Conn // past all proxies
	subjects []*subject
	judge    *judge
	tracks   []*track
	repair   time.Duration      // bounds how long members may take to come together
	end      context.CancelFunc // of the ensemble's life
	early    bool               // it has ended before its time
	known    map[string]bool    // orphans that were reported

	evidence  sync.Once
	listening sync.WaitGroup // to clients

	mu     sync.Mutex // guards what follows
	faults map[string]int
}

// say prints a line with the time since the beginning.
func (s *stage) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "%8.1fs %s\n", time.Since(s.begin).Seconds(), fmt.Sprintf(format, args...))
}

// tell says what is broken.
func (s *stage) tell(format string, args ...any) {
	if s.Verbose {
		s.say(format, args...)
	}
}

// live is the soak of one ensemble. The stage is to be torn down even when there is an error.
func (s *stage) live(ctx context.Context) error {
	ctx, s.end = context.WithCancel(ctx)
	defer s.end()
	if err := s.raise(ctx); err != nil {
		return err
	}
	watching, stop := context.WithCancel(context.Background())
	var watchers sync.WaitGroup
	watchers.Go(func() { s.watchReplicas(watching) })
	for last := false; !last; {
		s.act(ctx)
		last = ctx.Err() != nil || s.enough()
		s.calm(ctx)
		s.quietPoint(last)
	}
	s.judge.accusing.Wait() // while the clients can tell what they have logged
	s.eachClient(func(c *subject) error { return c.end(closeBound + 2*s.Patience + hungGrace) })
	s.listening.Wait()
	s.lookForOrphans(time.Second)
	s.judge.judgeGrowth()
	stop()
	watchers.Wait()
	s.judge.accusing.Wait()
	return nil
}

// raise starts everything.
func (s *stage) raise(ctx context.Context) (err error) {
	if s.ensemble, err = rig.NewPartitionable(members, s.members()...); err != nil {
		return err
	}
	s.judge = newJudge(s.Locks+s.CalmLocks, s.convict)
	s.known = map[string]bool{}
	if s.direct, _, err = zk.Connect(strings.Split(s.ensemble.Addrs(), ","), 20*time.Second, zk.WithLogger(rig.Silent{})); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	for n := range s.Clients + s.Calm {
		made := &subject{stage: s, number: n, answers: map[string]chan report{}}
		s.subjects = append(s.subjects, made)
		if err := made.start(); err != nil {
			return err
		}
	}
	for n, faults := range s.all() {
		s.tracks = append(s.tracks, &track{rng: rand.New(rand.NewPCG(s.Seed, uint64(n+1))),
			faults: slices.DeleteFunc(faults, func(f fault) bool { return !s.has(f.name) })})
	}
	s.mu.Lock()
	s.begin = time.Now() // what it takes to start does not count
	s.mu.Unlock()
	s.say("%d members serve; %d clients run", members, len(s.subjects))
	return nil
}

// tearDown stops what raise has started.
func (s *stage) tearDown() error {
	for _, c := range s.subjects {
		if c.process != nil {
			_ = c.process.Kill()
		}
		for _, p := range c.proxies {
			p.Close()
		}
	}
	s.listening.Wait()
	if s.direct != nil {
		s.direct.Close()
	}
	if s.ensemble == nil {
		return nil
	}
	return s.ensemble.Stop()
}

// eachClient does something with each client, and accuses those that do not end something.
func (s *stage) eachClient(do func(*subject) error) (all bool) {
	var doing sync.WaitGroup
	errs := make([]error, len(s.subjects))
	for n, c := range s.subjects {
		doing.Go(func() {
			if errs[n] = do(c); errs[n] != nil {
				s.judge.accuse(neverEnded, "client %d: %v", n, errs[n])
			}
		})
	}
	doing.Wait()
	return errors.Join(errs...) == nil
}

// enough reports whether the soak has lasted for as long as it was asked to, and has seen what it was asked to see.
func (s *stage) enough() bool {
	s.judge.mu.Lock()
	defer s.judge.mu.Unlock()
	return time.Since(s.begin) >= s.Duration && s.judge.counts[granted] >= s.Grants && (!s.AllKinds || s.complete())
}

// act breaks things until it is time to look for orphans, or until there was enough. When it returns all is repaired.
func (s *stage) act(ctx context.Context) {
	length := s.Quiet
	if left := s.Duration - time.Since(s.begin); left > 0 {
		length = min(length, left)
	}
	breaking, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var all sync.WaitGroup
	for _, t := range s.tracks {
		all.Go(func() { s.run(breaking, t) })
	}
	for rig.Rest(breaking, time.Second/10) {
		if s.enough() {
			cancel()
		}
	}
	all.Wait()
}

// calm leaves everything alone for a while. Once all has recovered, no waiter may find by its slow poll what an event should
// have told it: a wake-up that is lost shows only in time that passes.
func (s *stage) calm(ctx context.Context) {
	if s.Faults == "none" || !rig.Rest(ctx, calmSettle*s.Session) {
		return
	}
	before := s.rests()
	rig.Rest(ctx, (calmSessions-calmSettle)*s.Session)
	for who, now := range s.rests() {
		if was, same := before[who]; same && now[polls] > was[polls] {
			s.judge.accuse(lostWakeUps, "client %d: only the slow poll told waiters that a lock was theirs: %d", who.Client, now[polls]-was[polls])
		}
	}
}

// rests has all processes count what they have.
func (s *stage) rests() map[holder]map[string]int {
	all := map[holder]map[string]int{}
	for _, c := range s.subjects {
		if r, err := c.ask(doRest, answerBound); err != nil {
			s.say("client %d: %v", c.number, err)
		} else {
			all[r.From] = r.Rest
		}
	}
	return all
}

// quietPoint has all requests end and looks for nodes that they have left, and for what has grown. With last, nothing is
// begun after.
func (s *stage) quietPoint(last bool) {
	if s.eachClient(func(c *subject) error { return c.hush(2*s.Patience + hungGrace) }) {
		s.lookForOrphans(4*s.Session + 10*time.Second)
	} // else some nodes are those of requests that have not ended
	for who, has := range s.rests() {
		s.judge.rested(who, has)
	}
	if !last {
		for _, c := range s.subjects {
			c.command(doGo)
		}
	}
	counts, wrong := s.judge.result()
	s.say("%v, must be zero: %v", counts, wrong)
}

// lookForOrphans gives sessions of clients that were killed the time to expire. An orphan is deleted, lest it block its lock
// for the rest of the run.
func (s *stage) lookForOrphans(within time.Duration) {
	var left map[string]string
	var err error
	for deadline := time.Now().Add(within); ; time.Sleep(100 * time.Millisecond) {
		if left, err = s.children(); err == nil && len(left) == 0 || time.Now().After(deadline) {
			break
		}
	}
	if err != nil {
		s.say("looking for orphans: %v", err)
	}
	for _, path := range slices.Sorted(maps.Keys(left)) {
		if !s.known[path] {
			s.known[path] = true
			s.judge.accuse(orphans, "%s, %s", path, left[path])
		}
		_ = s.direct.Delete(path, -1)
	}
}

// children gives the nodes below all lock paths, each with its owner.
func (s *stage) children() (map[string]string, error) {
	left := map[string]string{}
	if _, err := s.direct.Sync("/"); err != nil {
		return nil, err
	}
	for lock := range s.Locks + s.CalmLocks {
		names, _, err := s.direct.Children(lockPath(lock))
		if err != nil && err != zk.ErrNoNode {
			return nil, err
		}
		for _, name := range names {
			path := lockPath(lock) + "/" + name
			found, stat, err := s.direct.Exists(path)
			if err != nil {
				return nil, err
			}
			if found {
				left[path] = fmt.Sprintf("session 0x%x, zxid 0x%x, made %v", stat.EphemeralOwner, stat.Czxid,
					time.UnixMilli(stat.Ctime).Format(time.TimeOnly))
			}
		}
	}
	return left, nil
}

// Servers compare digests of their trees with the leader's, transaction by transaction, and log when
// they differ. Then one of them has lost or invented a transaction: a bug of the servers. ZooKeeper 3.8.0
// has several (ZOOKEEPER-4785, 4837 and others), and a soak with partitions strikes them now and then.
// Clients of different members then see different queues, and no lock built on them can hold. So that
// ensemble's life is over: what was found since then is counted apart, because it does not accuse the
// library, and the soak goes on with a new ensemble.

// watchReplicas looks at the servers' logs every second until ctx ends: they are kept only in part.
func (s *stage) watchReplicas(ctx context.Context) {
	for looked := time.Now(); rig.Rest(ctx, time.Second); {
		since := looked
		looked = time.Now()
		for n, member := range s.ensemble.Members() {
			if strings.Contains(member.Log(), "Digests are not matching.") {
				s.say("member %d: its tree differs", n)
				s.judge.taint(since)
				s.giveUp(differed)
				return
			}
		}
	}
}

// giveUp ends the ensemble's life, which counts as what is named.
func (s *stage) giveUp(as string) {
	s.judge.mu.Lock()
	defer s.judge.mu.Unlock()
	s.judge.counts[as] = 1
	s.early = true
	s.end()
}

// convict prints a violation. With the first it keeps what clients and servers have logged last, and the members'
// transactions, which tell who made which node in which session.
func (s *stage) convict(kind, text string) {
	s.say("ERROR %s: %s", kind, text)
	s.evidence.Do(func() {
		folder := s.Evidence
		if folder == "" {
			var err error
			if folder, err = os.MkdirTemp("", "soak-evidence-"); err != nil {
				s.say("no evidence is kept: %v", err)
				return
			}
		}
		s.say("evidence is kept in %s", folder)
		for n, member := range s.ensemble.Members() {
			name := filepath.Join(folder, fmt.Sprint("member-", n))
			if err := errors.Join(os.WriteFile(name+".log", []byte(member.Log()), 0o600), member.CopyTransactionLog(name)); err != nil {
				s.say("evidence: %v", err)
			}
		}
		for n, c := range s.subjects {
			if _, err := c.ask(doLog+" "+filepath.Join(folder, fmt.Sprintf("client-%d.log", n)), answerBound); err != nil {
				s.say("no log of client %d: %v", n, err)
			}
		}
	})
}
