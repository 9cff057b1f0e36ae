package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/tests/child"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// stage is everything that a run has started.
type stage struct {
	o         options
	out       io.Writer
	begin     time.Time
	ensemble  *rig.Partitionable
	judge     *judge
	hall      *hall
	subjects  []*subject
	inspector *inspector
	evidence  *evidence
	chronicle *chronicle

	mu sync.Mutex // guards out
}

// say prints a line with the time since the beginning.
func (s *stage) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "%8.1fs %s\n", time.Since(s.begin).Seconds(), fmt.Sprintf(format, args...))
}

func (s *stage) sayIfVerbose(format string, args ...any) {
	if s.o.verbose {
		s.say(format, args...)
	}
}

// raise starts everything. The stage is to be torn down even when there is an error.
func (s *stage) raise() error {
	var err error
	s.ensemble, err = rig.NewPartitionable(s.o.members, s.o.ensemble()...)
	if err != nil {
		return err
	}
	s.evidence = &evidence{stage: s, folder: s.o.history}
	s.judge = newJudge(s.o.allLocks(), s.o.session, s.evidence.convict)
	s.judge.strict = s.o.peer == peerTurnstile
	if s.chronicle, err = newChronicle(s.judge, s.o.history, s.accuse); err != nil {
		return err
	}
	if s.inspector, err = newInspector(s.ensemble.Addrs(), s.o.allLocks()); err != nil {
		return err
	}
	if err = s.inspector.makeJournals(); err != nil {
		return err
	}
	if s.hall, err = openHall(s.judge); err != nil {
		return err
	}
	for n := range s.o.clients + s.o.calm {
		made, err := s.subject(n)
		if err != nil {
			return err
		}
		s.subjects = append(s.subjects, made)
	}
	s.hall.run(s.subjects)
	for _, client := range s.subjects {
		if err := errors.Join(client.start(), client.connected(time.Minute)); err != nil {
			return err
		}
	}
	return nil
}

// subject makes a client with its proxies; it does not run yet.
func (s *stage) subject(n int) (*subject, error) {
	made := &subject{number: n, idle: make(chan struct{}, 1), log: make(chan string, 1), counted: make(chan report, 1)}
	var addrs []string
	for _, member := range s.ensemble.Members() {
		p, err := rig.OpenProxy(member.Addr())
		if err != nil {
			made.closeProxies()
			return nil, err
		}
		made.proxies = append(made.proxies, p)
		addrs = append(addrs, p.Addr())
	}
	made.launch = func(incarnation int) (*child.Process, error) {
		return startProcess(s.o.peer, s.o.arguments(s.hall.addr(), strings.Join(addrs, ","), n, incarnation))
	}
	return made, nil
}

// quietPoint has all requests end and looks for nodes that they have left. With last, nothing is
// begun after.
func (s *stage) quietPoint(last bool) {
	s.hushAll()
	s.lookForOrphans(4*s.o.session + 10*time.Second)
	s.judgeCommits(30 * time.Second)
	s.look()
	if !last {
		s.goOn()
	}
}

// hushAll has all clients finish their requests and begin none.
func (s *stage) hushAll() {
	var waiting sync.WaitGroup
	for _, client := range s.subjects {
		waiting.Go(func() {
			if err := client.hush(2 * (s.o.patience + 2*hungGrace)); err != nil {
				s.accuse(neverEnded, "%v", err)
			}
		})
	}
	waiting.Wait()
}

// goOn lets all clients begin requests again.
func (s *stage) goOn() {
	for _, client := range s.subjects {
		if err := client.command(doGo); err != nil {
			s.say("%v", err)
		}
	}
}

// lookForOrphans gives sessions of clients that were killed the time to expire.
func (s *stage) lookForOrphans(within time.Duration) {
	left, err := s.inspector.await(within)
	if err != nil {
		s.say("looking for orphans: %v", err)
	}
	for _, path := range s.judge.unclaimed(slices.Sorted(maps.Keys(left))) {
		if !s.inspector.known[path] {
			s.inspector.known[path] = true
			s.accuse(orphans, "%s, %s", path, left[path])
		}
		s.inspector.remove(path)
	}
}

func (s *stage) accuse(kind, format string, args ...any) {
	s.judge.mu.Lock()
	defer s.judge.mu.Unlock()
	s.judge.violation(kind, format, args...)
}

// endClients closes them in order.
func (s *stage) endClients() {
	var ending sync.WaitGroup
	for _, client := range s.subjects {
		ending.Go(func() {
			if err := client.end(closeBound + 2*(s.o.patience+2*hungGrace)); err != nil {
				s.accuse(neverEnded, "%v", err)
			}
		})
	}
	ending.Wait()
}

// tearDown stops what raise has started.
func (s *stage) tearDown() error {
	for _, client := range s.subjects {
		if p := client.current(); p != nil {
			_ = p.Kill()
		}
	}
	if s.hall != nil {
		s.hall.close()
	}
	if s.inspector != nil {
		s.inspector.close()
	}
	if s.chronicle != nil {
		s.chronicle.close()
	}
	for _, client := range s.subjects {
		client.closeProxies()
	}
	if s.ensemble == nil {
		return nil
	}
	return s.ensemble.Stop()
}
