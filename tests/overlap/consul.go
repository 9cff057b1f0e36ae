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
	network        int    // the addresses are subnet.network.x
	subnet         string // 127.77, or 10.77 where the first agent is in a namespace
	agents         int    // started so far
	server, other  *agent
	addresses      []func() error // take this machine's addresses away
}

// agent is one process of Consul's, and the link of the consul lock that asks it.
type agent struct {
	*child.Process
	addr, log string
	client    string     // the address at which it answers consul lock
	in        *namespace // nil for this machine's own network
}

// ready bounds the time until an agent has joined and there is a leader.
const ready = 2 * time.Minute

// startConsul starts the server, and the agent of the second command.
func startConsul(ctx context.Context, binary, folder, scene string, network int) (system, error) {
	c := &consul{binary: binary, folder: filepath.Join(folder, fmt.Sprint("consul-", network)), network: network, subnet: "127.77"}
	if scene == scenePartitioned {
		c.subnet = "10.77"
	}
	for _, start := range []func() error{
		func() (err error) { c.server, err = c.start(ctx, false, "-server", "-bootstrap-expect=1"); return err },
		func() (err error) { c.other, err = c.join(ctx, false); return err },
	} {
		if err := start(); err != nil {
			return nil, errors.Join(err, c.stop())
		}
	}
	return c, nil
}

// place gives an agent an address, in a network namespace of its own where it is apart.
func (c *consul) place(a *agent, apart bool) (err error) {
	c.agents++
	a.addr = fmt.Sprintf("%s.%d.%d", c.subnet, c.network, c.agents)
	a.client = a.addr
	switch {
	case c.subnet == "127.77": // all of 127 is this machine's
	case apart:
		a.client = "127.0.0.1" // needs no route, as on a machine without its network
		a.in, err = newNamespace(a.addr, c.network, c.agents, c.server.addr, c.other.addr)
	default:
		var remove func() error
		if remove, err = addHostAddress(a.addr); err == nil {
			c.addresses = append(c.addresses, remove)
		}
	}
	return err
}

// start starts an agent, and waits until it knows a leader.
func (c *consul) start(ctx context.Context, apart bool, flags ...string) (_ *agent, err error) {
	a := &agent{}
	if err := c.place(a, apart); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
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
	all := []string{"agent", "-node=" + a.addr, "-bind=" + a.addr, "-client=" + a.client, "-data-dir=" + data, "-log-level=warn",
		"-disable-host-node-id", "-hcl=disable_update_check = true"}
	cmd := exec.Command(c.binary, append(all, flags...)...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := a.here(cmd); err != nil {
		return nil, err
	}
	if a.Process, err = child.Start(cmd, nil); err != nil {
		return nil, err
	}
	if err := c.await(ctx, a); err != nil {
		text, _ := os.ReadFile(a.log)
		return nil, fmt.Errorf("agent %s: %w\n%s", a.addr, err, text)
	}
	return a, nil
}

// here has a command run in the agent's network.
func (a *agent) here(cmd *exec.Cmd) error {
	if a.in == nil {
		return nil
	}
	return a.in.within(cmd)
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
	cmd.Env = append(os.Environ(), "CONSUL_HTTP_ADDR="+a.client+":8500")
	if err := a.here(cmd); err != nil {
		cmd.Err = err
	}
	return cmd
}

// join starts an agent that is not a server.
func (c *consul) join(ctx context.Context, apart bool) (*agent, error) {
	return c.start(ctx, apart, "-retry-join="+c.server.addr)
}

func (c *consul) side(ctx context.Context) (link, error) { return c.join(ctx, true) }

func (c *consul) first(l link, lock string, command []string) *exec.Cmd {
	return c.lock(l.(*agent), lock, command)
}

func (c *consul) second(lock string, command []string) *exec.Cmd {
	return c.lock(c.other, lock, command)
}

func (c *consul) lock(a *agent, lock string, command []string) *exec.Cmd {
	return c.ask(context.Background(), a, append([]string{"lock", "-shell=false", lock}, command...)...)
}

func (c *consul) stop() (err error) {
	for _, a := range []*agent{c.other, c.server} {
		if a != nil {
			err = errors.Join(err, a.end())
		}
	}
	for _, remove := range c.addresses {
		err = errors.Join(err, remove())
	}
	return err
}

func (a *agent) down() error      { return a.Kill() }
func (a *agent) silence() error   { return a.Pause() }
func (a *agent) partition() error { return a.in.partition() }
func (a *agent) close()           { _ = a.end() }

// end ends the agent, and takes its namespace away.
func (a *agent) end() (err error) {
	if a.Process != nil {
		err = a.Kill()
	}
	if a.in != nil {
		err = errors.Join(err, a.in.remove())
	}
	return err
}
