package main

import (
	"context"
	"os"
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
		if !strings.HasPrefix(v, "ZKLOCK_") || strings.HasPrefix(v, authVariable+"=") {
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
// Where that one has lost it meanwhile there is nothing to refuse.
func (r *runArgs) refuseNested(ctx context.Context, client *locks.Client) error {
	held := map[string]bool{}
	for node := range strings.SplitSeq(os.Getenv(heldVariable), "\n") {
		if strings.HasPrefix(node, r.path+"/") {
			held[node] = true
		}
	}
	if len(held) == 0 {
		return nil
	}
	queue, err := answer(ctx, func(ctx context.Context) ([]messages.Contender, error) {
		return client.Queue(ctx,
			r.path)
	})
	if err != nil {
		return r.notHeld(ctx, err)
	}
	for _, c := range queue {
		if held[c.At()] {
			return exitWith(statusRefused,
				"%s is held by the zklock that runs this one (number %d): it would wait for itself; run the "+
					"command without zklock", r.path, c.Sequence)
		}
	}
	return nil
}
