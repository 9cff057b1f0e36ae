//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/turnstile-locks/turnstile/tests/child"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// consul is consul lock, with a server and agents on loopback addresses of their own: each agent has the usual ports.
type consul struct {
	binary, folder string
	network        int // the addresses are 127.77.network.x
	agents         int // started so far
	server, other  *agent
}

// agent is one process of Consul's, and the link of the consul lock that asks it.
type agent struct {
	*child.Process
	addr, log string
}

// ready bounds the time until an agent has joined and there is a leader.
const ready = 2 * time.Minute

// startConsul starts the server, and the agent of the second command.
func startConsul(ctx context.Context, binary, folder string, network int) (system, error) {
	c := &consul{binary: binary, folder: filepath.Join(folder, fmt.Sprint("consul-", network)), network: network}
	var err error
	if c.server, err = c.start(ctx, "-server", "-bootstrap-expect=1"); err != nil {
		return nil, err
	}
	if c.other, err = c.join(ctx); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

// start starts an agent, and waits until it knows a leader.
func (c *consul) start(ctx context.Context, flags ...string) (*agent, error) {
	c.agents++
	a := &agent{addr: fmt.Sprintf("127.77.%d.%d", c.network, c.agents)}
	data := filepath.Join(c.folder, a.addr)
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	a.log = data + ".log"
	log, err := os.Create(a.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	all := []string{"agent", "-node=" + a.addr, "-bind=" + a.addr, "-client=" + a.addr, "-data-dir=" + data, "-log-level=warn",
		"-disable-host-node-id", "-hcl=disable_update_check = true"}
	cmd := exec.Command(c.binary, append(all, flags...)...)
	cmd.Stdout, cmd.Stderr = log, log
	if a.Process, err = child.Start(cmd, nil); err != nil {
		return nil, err
	}
	if err := c.await(ctx, a); err != nil {
		text, _ := os.ReadFile(a.log)
		return nil, errors.Join(fmt.Errorf("agent %s: %w\n%s", a.addr, err, text), a.Kill())
	}
	return a, nil
}

// await waits until an agent answers for a leader: a key can be written.
func (c *consul) await(ctx context.Context, a *agent) error {
	within, cancel := context.WithTimeout(ctx, ready)
	defer cancel()
	for {
		out, err := c.ask(within, a, "kv", "put", "ready", a.addr).CombinedOutput()
		switch {
		case err == nil:
			return nil
		case !a.Running():
			return fmt.Errorf("it has ended: %w", a.Err())
		case !rig.Rest(within, 100*time.Millisecond):
			return fmt.Errorf("%w: %s", err, out)
		}
	}
}

func (c *consul) ask(ctx context.Context, a *agent, command ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.binary, command...)
	cmd.Env = append(os.Environ(), "CONSUL_HTTP_ADDR="+a.addr+":8500")
	return cmd
}

// join starts an agent that is not a server.
func (c *consul) join(ctx context.Context) (*agent, error) {
	return c.start(ctx, "-retry-join="+c.server.addr)
}

func (c *consul) side(ctx context.Context) (link, error) { return c.join(ctx) }

func (c *consul) first(l link, lock string, command []string) *exec.Cmd {
	return c.lock(l.(*agent), lock, command)
}

func (c *consul) second(lock string, command []string) *exec.Cmd {
	return c.lock(c.other, lock, command)
}

func (c *consul) lock(a *agent, lock string, command []string) *exec.Cmd {
	return c.ask(context.Background(), a, append([]string{"lock", "-shell=false", lock}, command...)...)
}

func (c *consul) stop() error {
	if c.other == nil {
		return c.server.Kill()
	}
	return errors.Join(c.other.Kill(), c.server.Kill())
}

func (a *agent) down() error    { return a.Kill() }
func (a *agent) silence() error { return a.Pause() }
func (a *agent) close()         { _ = a.Kill() }
