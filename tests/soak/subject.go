package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/tests/child"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// subject is a client as the controller sees it: its process, one after the other when it is killed,
// and its proxies, one for each member.
type subject struct {
	number  int
	proxies []*rig.Proxy
	launch  func(incarnation int) (*child.Process, error)

	mu          sync.Mutex
	process     *child.Process
	control     *line
	incarnation int
	idle        chan struct{} // gets one for every idle report
	log         chan string
	counted     chan report
}

func (s *subject) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.launch(s.incarnation)
	if err != nil {
		return err
	}
	s.process, s.control = p, nil
	return nil
}

// attach is called when the process has connected.
func (s *subject) attach(from holder, control *line) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if from.Incarnation != s.incarnation {
		return false // of a process that was killed meanwhile
	}
	s.control = control
	return true
}

// command says something to the process, if it is there.
func (s *subject) command(do string) error {
	s.mu.Lock()
	control := s.control
	s.mu.Unlock()
	if control == nil {
		return fmt.Errorf("soak: client %d is not connected", s.number)
	}
	return control.send(command{Do: do})
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

func (s *subject) current() *child.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

// connected waits until the process has connected to the controller.
func (s *subject) connected(within time.Duration) error {
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		s.mu.Lock()
		there := s.control != nil
		s.mu.Unlock()
		if there {
			return nil
		}
		if p := s.current(); !p.Running() {
			return fmt.Errorf("soak: client %d has ended: %w", s.number, p.Err())
		}
	}
	return fmt.Errorf("soak: client %d does not connect", s.number)
}

// end tells the process to stop and waits until it is gone.
func (s *subject) end(within time.Duration) error {
	p := s.current()
	if p == nil {
		return nil
	}
	err := s.command(doStop)
	if err == nil {
		select {
		case <-p.Exited():
			return p.Err()
		case <-time.After(within):
			err = errors.New("it did not end")
		}
	}
	return fmt.Errorf("soak: client %d: %w", s.number, errors.Join(err, p.Kill()))
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

// hush has the process finish its requests and begin none.
func (s *subject) hush(within time.Duration) error {
	select {
	case <-s.idle: // of an earlier time
	default:
	}
	if err := s.connected(within); err != nil {
		return err
	}
	if err := s.command(doQuiet); err != nil {
		return err
	}
	select {
	case <-s.idle:
		return nil
	case <-s.current().Exited():
		return fmt.Errorf("soak: client %d has ended by itself: %w", s.number, s.current().Err())
	case <-time.After(within):
		return fmt.Errorf("soak: client %d: its requests do not end", s.number)
	}
}

func (s *subject) closeProxies() {
	for _, p := range s.proxies {
		p.Close()
	}
}
