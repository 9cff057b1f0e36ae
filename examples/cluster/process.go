package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// node is a node as the first process sees it.
type node struct {
	name   string
	cmd    *exec.Cmd
	input  io.Closer // its standard input: a node ends in order when that does
	road   *road
	exited chan struct{} // closed when it has ended
	err    error         // how; set before
	killed atomic.Bool
}

// address is the address at which other nodes reach it.
func (n *node) address() string { return n.road.address() }

// start starts a node, and waits until it is ready. Somebody else may take the port that was free: then it
// is tried again.
func (s *stage) start(name string, session bool, gateways ...string) (*node, error) {
	for try := 1; ; try++ {
		n, err := s.launch(name, session, gateways)
		if err == nil {
			return n, nil
		}
		if try == 3 || s.ctx.Err() != nil {
			return nil, fmt.Errorf("starting node %s: %w", name, err)
		}
	}
}

func (s *stage) launch(name string, session bool, gateways []string) (*node, error) {
	listen, err := freeAddress()
	if err != nil {
		return nil, err
	}
	n := &node{name: name, exited: make(chan struct{})}
	if n.road, err = newRoad(listen); err != nil {
		return nil, err
	}
	o := order{Name: name, Listen: listen, Advertised: n.road.address(), Uplink: n.road.uplink(),
		Witness: s.witness.address(), Gateways: gateways}
	if session {
		o.Servers = s.servers
	}
	if err := n.run(o); err != nil {
		n.road.close()
		return nil, err
	}
	for !s.witness.ready(name) {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-n.exited:
			n.road.close()
			return nil, fmt.Errorf("it has ended: %w", n.err)
		case <-s.ctx.Done():
			return nil, errors.Join(s.ctx.Err(), n.kill())
		}
	}
	return n, nil
}

func (n *node) run(o order) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	n.cmd = exec.Command(program)
	n.cmd.Env = append(os.Environ(), orderVariable+"="+string(text))
	n.cmd.Stderr = os.Stderr
	if n.input, err = n.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := n.cmd.Start(); err != nil {
		return err
	}
	go func() {
		n.err = n.cmd.Wait()
		close(n.exited)
	}()
	return nil
}

// kill ends the process, without a word to it.
func (n *node) kill() error {
	n.killed.Store(true)
	defer n.road.close()
	if err := n.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("killing node %s: %w", n.name, err)
	}
	<-n.exited
	return nil
}

// failed reports whether it has ended, and was not killed.
func (n *node) failed() bool {
	select {
	case <-n.exited:
		return !n.killed.Load()
	default:
		return false
	}
}

// end has the node end in order: it gives back what it holds.
func (n *node) end() error {
	if n.killed.Load() {
		return nil
	}
	defer n.road.close()
	_ = n.input.Close()
	select {
	case <-n.exited:
	case <-time.After(30 * time.Second):
		return errors.Join(fmt.Errorf("node %s does not end", n.name), n.kill())
	}
	if n.err != nil {
		return fmt.Errorf("node %s: %w", n.name, n.err)
	}
	return nil
}

// freeAddress gives an address of 127.0.0.1 that is free now.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
