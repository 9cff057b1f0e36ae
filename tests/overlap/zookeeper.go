//go:build unix

package main

import (
	"context"
	"os/exec"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// zooKeeper is zklock run on a real server. The first command of each trial reaches it through a relay.
type zooKeeper struct {
	zklock  string // the binary
	timeout time.Duration
	server  *rig.Server
}

func startZooKeeper(zklock string, timeout time.Duration) (system, error) {
	server, err := rig.NewStandalone(rig.WithTickTime(min(2*time.Second, timeout/2)))
	if err != nil {
		return nil, err
	}
	return &zooKeeper{zklock, timeout, server}, nil
}

func (z *zooKeeper) side(context.Context) (link, error) {
	proxy, err := rig.OpenProxy(z.server.Addr())
	return relay{proxy}, err
}

func (z *zooKeeper) first(l link, lock string, command []string) *exec.Cmd {
	return z.run(l.(relay).Addr(), lock, command)
}

func (z *zooKeeper) second(lock string, command []string) *exec.Cmd {
	return z.run(z.server.Addr(), lock, command)
}

func (z *zooKeeper) run(addr, lock string, command []string) *exec.Cmd {
	flags := []string{"run", "--zk", addr, "--session-timeout", z.timeout.String(), "/" + lock, "--"}
	return exec.Command(z.zklock, append(flags, command...)...)
}

func (z *zooKeeper) stop() error { return z.server.Stop() }

// relay is the link of zklock run.
type relay struct{ *rig.Proxy }

func (r relay) down() error {
	r.Refuse(true)
	r.Cut()
	return nil
}

func (r relay) silence() error {
	r.Stall(rig.Up)
	r.Stall(rig.Down)
	return nil
}

// partition is the same: there is nothing between zklock run and the relay.
func (r relay) partition() error { return r.silence() }

func (r relay) close() { r.Close() }
