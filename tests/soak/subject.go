package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// subject is a client as the controller sees it: its process, one after the other when it is killed,
// and its proxies, one for each member.
type subject struct {
	stage   *stage
	number  int
	proxies []*rig.Proxy
	answers map[string]chan report // to commands, by their names

	mu          sync.Mutex
	process     *rig.Talker
	incarnation int
}

// start starts the process, with its proxies where it is the first, and listens to it.
func (s *subject) start() error {
	if len(s.proxies) == 0 {
		for _, kind := range []string{doQuiet, doRest, doLog} {
			s.answers[kind] = make(chan report, 1)
		}
		for _, member := range s.stage.ensemble.Members() {
			p, err := rig.OpenProxy(member.Addr())
			if err != nil {
				return err
			}
			s.proxies = append(s.proxies, p)
		}
	}
	var addrs []string
	for _, p := range s.proxies {
		addrs = append(addrs, p.Addr())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	incarnation := s.incarnation
	cmd, err := rig.Again(clientVariable, order{s.stage.options, strings.Join(addrs, ","), s.number, incarnation})
	if err != nil {
		return err
	}
	cmd.Stderr = os.Stderr
	p, err := rig.Talk(cmd)
	if err != nil {
		return fmt.Errorf("soak: a client: %w", err)
	}
	s.process = p
	s.stage.listening.Go(func() {
		for text := range p.Says {
			var r report
			if json.Unmarshal([]byte(text), &r) != nil {
				continue // the process was killed while it wrote
			}
			r.From.Client, r.From.Incarnation = s.number, incarnation
			if c := s.answers[r.Kind]; c == nil {
				s.stage.judge.hear(r)
			} else {
				select {
				case c <- r:
				default:
				}
			}
		}
		s.stage.judge.gone(s.number, incarnation)
	})
	return nil
}

func (s *subject) current() *rig.Talker {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

// command says something to the process. One that is not there has nothing to go on with.
func (s *subject) command(do string) { _ = s.current().Tell(do) }

// ask has the process carry out a command, and gives its answer.
func (s *subject) ask(command string, within time.Duration) (report, error) {
	do, _, _ := strings.Cut(command, " ")
	answer, p := s.answers[do], s.current()
	select {
	case <-answer: // of an earlier time
	default:
	}
	if err := p.Tell(command); err != nil {
		return report{}, err
	}
	select {
	case r := <-answer:
		return r, nil
	case <-p.Exited():
		return report{}, fmt.Errorf("it has ended by itself: %w", p.Err())
	case <-time.After(within):
		return report{}, fmt.Errorf("%s: no answer", do)
	}
}

// hush has the process finish its requests and begin none.
func (s *subject) hush(within time.Duration) error {
	_, err := s.ask(doQuiet, within)
	return err
}

// restart kills the process and starts the next.
func (s *subject) restart(after time.Duration) error {
	if err := s.current().Kill(); err != nil {
		return err
	}
	time.Sleep(after)
	s.mu.Lock()
	s.incarnation++
	s.mu.Unlock()
	return s.start()
}

// end tells the process to stop and waits until it is gone.
func (s *subject) end(within time.Duration) error {
	s.command(doStop)
	select {
	case <-s.current().Exited():
		return s.current().Err()
	case <-time.After(within):
		return errors.Join(errors.New("it does not end"), s.current().Kill())
	}
}

// heal undoes what was done to the network.
func (s *subject) heal() {
	for _, p := range s.proxies {
		p.Refuse(false)
		for _, w := range []rig.Way{rig.Up, rig.Down} {
			p.Delay(w, 0)
			p.Resume(w)
		}
	}
}

// stall holds back one direction of all its connections.
func (s *subject) stall(w rig.Way) {
	for _, p := range s.proxies {
		p.Stall(w)
	}
}

// down has it reach no server.
func (s *subject) down() {
	for _, p := range s.proxies {
		p.Refuse(true)
		p.Cut()
	}
}

// at is the member to which the client is connected, counted from 0; -1 where it is not connected.
func (s *subject) at() int {
	return slices.IndexFunc(s.proxies, func(p *rig.Proxy) bool { return p.Connections() > 0 })
}

// moveTo lets the client connect to one member alone, until it has or the time is over.
func (s *subject) moveTo(ctx context.Context, member int, within time.Duration) {
	for n, p := range s.proxies {
		if n != member {
			p.Refuse(true)
			p.Cut()
		}
	}
	for begin := now(); s.at() != member && now()-begin < int64(within) && rig.Rest(ctx, 10*time.Millisecond); {
	}
	for _, p := range s.proxies {
		p.Refuse(false)
	}
}
