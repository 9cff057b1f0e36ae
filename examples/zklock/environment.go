package main

import (
	"context"
	"os"
	"path"
	"strings"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// heldVariable names the contenders' nodes of all zklocks that a command runs under, a line for each.
const heldVariable = "ZKLOCK_HELD"

// environment is that of the command.
func environment(lease *locks.Lease) []string {
	var env []string
	for _, v := range os.Environ() { // those of a zklock around this one would come first, and some programs take the first
		if !strings.HasPrefix(v, "ZKLOCK_") || strings.HasPrefix(v, authVariable+"=") || strings.HasPrefix(v, saslVariable) {
			env = append(env, v)
		}
	}
	held := lease.Path() + "/" + lease.Node()
	if around := os.Getenv(heldVariable); around != "" {
		held = around + "\n" + held
	}
	return append(env,
		"ZKLOCK_PATH="+lease.Path(),
		"ZKLOCK_NODE="+lease.Node(),
		"ZKLOCK_TOKEN="+lease.Token().String(),
		heldVariable+"="+held)
}

// refuseNested refuses to wait for a lock that the zklock holds which this one runs under: it would wait for itself.
// Where that one has lost it meanwhile there is nothing to refuse. Nodes are known by their names, which are like no
// other's: their paths may be seen through another chroot.
func (r *runArgs) refuseNested(ctx context.Context, client *locks.Client) error {
	held := map[string]bool{}
	for node := range strings.SplitSeq(os.Getenv(heldVariable), "\n") {
		held[path.Base(node)] = true
	}
	if os.Getenv(heldVariable) == "" {
		return nil
	}
	queue, err := answer(ctx, func(ctx context.Context) ([]messages.Contender, error) { return client.Queue(ctx, r.path) })
	if err != nil {
		return r.notHeld(ctx, err)
	}
	would := "would wait for itself"
	if r.shared || r.permits > 0 {
		would = "may wait for itself, where others wait between"
	}
	for _, c := range queue {
		if held[c.Node] {
			return exitWith(statusRefused, "%s is held by the zklock that runs this one (number %d), which %s; run the command without zklock",
				r.path, c.Sequence, would)
		}
	}
	return nil
}
