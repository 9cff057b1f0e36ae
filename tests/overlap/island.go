//go:build unix

package main

import (
	"errors"
	"fmt"
	"os/exec"
)

// island is a network of its own for one agent, as on another machine: a namespace of Linux, joined to this machine's by
// a pair of virtual interfaces. It takes root, and iproute2.
type island struct {
	name, outer, inner string // the namespace, and the interface at either end
	addr               string
	mainland           []string // addresses of the agents outside
}

// nowhere is a hardware address that no interface has: what is sent to it is lost without a word.
const nowhere = "02:00:00:00:00:77"

// newIsland makes the network of an address. mainland are addresses of this machine.
func newIsland(addr string, network, host int, mainland ...string) (*island, error) {
	i := &island{name: fmt.Sprintf("overlap-%d-%d", network, host), outer: fmt.Sprintf("ov%do%d", network, host),
		inner: fmt.Sprintf("ov%di%d", network, host), addr: addr, mainland: mainland}
	inside := []string{"-n", i.name}
	steps := [][]string{
		{"netns", "add", i.name},
		{"link", "add", i.outer, "type", "veth", "peer", "name", i.inner, "netns", i.name},
		{"link", "set", i.outer, "up"},
		{"route", "add", addr, "dev", i.outer},
		append(inside, "link", "set", "lo", "up"),
		append(inside, "link", "set", i.inner, "up"),
		append(inside, "addr", "add", addr, "dev", i.inner),
	}
	for _, other := range mainland {
		steps = append(steps, append(inside, "route", "add", other, "dev", i.inner))
	}
	for _, step := range steps {
		if err := ip(step...); err != nil {
			return nil, errors.Join(err, i.remove())
		}
	}
	return i, nil
}

// within has a command run on the island.
func (i *island) within(cmd *exec.Cmd) error {
	path, err := exec.LookPath("ip")
	if err != nil {
		return err
	}
	cmd.Path, cmd.Args = path, append([]string{path, "netns", "exec", i.name, cmd.Path}, cmd.Args[1:]...)
	return nil
}

// cutOff loses all packets between the island and the mainland from now on. No connection is closed.
func (i *island) cutOff() error {
	err := lose(i.addr, i.outer)
	for _, other := range i.mainland {
		err = errors.Join(err, lose(other, i.inner, "-n", i.name))
	}
	return err
}

// lose has what is sent to an address by an interface go nowhere.
func lose(addr, by string, where ...string) error {
	return ip(append(where, "neigh", "replace", addr, "lladdr", nowhere, "dev", by, "nud", "permanent")...)
}

// remove takes the island away, and its interfaces with it.
func (i *island) remove() error { return ip("netns", "del", i.name) }

// mainlandAddress gives this machine an address that islands can reach, and takes it away again.
func mainlandAddress(addr string) (remove func() error, err error) {
	return func() error { return ip("addr", "del", addr+"/32", "dev", "lo") }, ip("addr", "add", addr+"/32", "dev", "lo")
}

// ip is the command of iproute2.
func ip(args ...string) error {
	if output, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %q: %w\n%s", args, err, output)
	}
	return nil
}
