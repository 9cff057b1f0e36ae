package main

import (
	"context"
	"errors"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// lookForRoot looks whether the chroot and the root are there, before anything is written or said of the locks below. It
// tells whether there is anything to go on with, and whether the root is there.
func (e *examination) lookForRoot(ctx context.Context, conn *zkconn.Conn, cfg zkconn.Config) (goOn, root bool) {
	missing, err := inTime(ctx, e.timeout, func() (string, error) { return inspect.Missing(conn, e.root) })
	switch {
	case errors.Is(err, errSilent):
		e.note(broken, "answer", "it takes sessions, and answers no request: look at the servers' load, disks and logs",
			"%v", err)
	case err != nil:
		e.note(broken, "root", advice(err), "%s", short(err))
	case missing == "/":
		e.note(broken, "chroot", "is it spelled right in --zk? Whoever locks elsewhere is not kept out. The first lock makes it",
			"%s", absence(cfg, "/", missing))
	case missing != "":
		e.note(broken, "root", "is --root spelled right?", "%s", absence(cfg, e.root, missing))
		return true, false // the rest does not depend on it
	default:
		return true, true
	}
	return false, false
}
