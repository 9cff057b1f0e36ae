//go:build unix

package main

import (
	"errors"
	"fmt"
	"os/exec"
)

// namespace is a network namespace of Linux for one agent, as on another machine. A pair of virtual interfaces joins it to
// this machine's network. It takes root, and iproute2.
type namespace struct {
	name, outer, inner string // its name, and the interfaces outside and inside
	addr               string
	peers              []string // addresses of the agents outside
}

// nowhere is a hardware address that no interface has: what is sent to it is lost, and nobody is told.
const nowhere = "02:00:00:00:00:77"

// newNamespace makes a namespace with an address, from which the peers can be reached.
func newNamespace(addr string, network, host int, peers ...string) (*namespace, error) {
	n := &namespace{name: fmt.Sprintf("overlap-%d-%d", network, host), outer: fmt.Sprintf("ov%do%d", network, host),
		inner: fmt.Sprintf("ov%di%d", network, host), addr: addr, peers: peers}
	inside := []string{"-n", n.name}
	steps := [][]string{
		{"netns", "add", n.name},
		{"link", "add", n.outer, "type", "veth", "peer", "name", n.inner, "netns", n.name},
		{"link", "set", n.outer, "up"},
		{"route", "add", addr, "dev", n.outer},
		append(inside, "link", "set", "lo", "up"),
		append(inside, "link", "set", n.inner, "up"),
		append(inside, "addr", "add", addr, "dev", n.inner),
	}
	for _, peer := range peers {
		steps = append(steps, append(inside, "route", "add", peer, "dev", n.inner))
	}
	for _, step := range steps {
		if err := ip(step...); err != nil {
			return nil, errors.Join(err, n.remove())
		}
	}
	return n, nil
}

// within has a command run in the namespace.
func (n *namespace) within(cmd *exec.Cmd) error {
	path, err := exec.LookPath("ip")
	if err != nil {
		return err
	}
	cmd.Path, cmd.Args = path, append([]string{path, "netns", "exec", n.name, cmd.Path}, cmd.Args[1:]...)
	return nil
}

// partition loses all packets between the agent and its peers from now on. No connection is closed.
func (n *namespace) partition() error {
	err := lose(n.addr, n.outer)
	for _, peer := range n.peers {
		err = errors.Join(err, lose(peer, n.inner, "-n", n.name))
	}
	return err
}

// lose has packets to an address by an interface go nowhere.
func lose(addr, by string, where ...string) error {
	return ip(append(where, "neigh", "replace", addr, "lladdr", nowhere, "dev", by, "nud", "permanent")...)
}

// remove takes the namespace away, and both interfaces with it.
func (n *namespace) remove() error { return ip("netns", "del", n.name) }

// addHostAddress gives this machine an address that namespaces can reach, until it is removed.
func addHostAddress(addr string) (remove func() error, err error) {
	return func() error { return ip("addr", "del", addr+"/32", "dev", "lo") }, ip("addr", "add", addr+"/32", "dev", "lo")
}

// ip is the command of iproute2.
func ip(args ...string) error {
	if output, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %q: %w\n%s", args, err, output)
	}
	return nil
}
