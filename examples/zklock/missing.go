package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// find looks whether a path exists, before anything is said of the locks there: a path or a chroot that was mistyped
// has neither holders nor waiters. It is the first question of a command, so it finds out whether the servers answer
// at all, in the time that connecting has. The error is that of a path that does not exist, with its status.
func (c *connection) find(ctx context.Context, cmd *cobra.Command, client *locks.Client, path string) error {
	within, lift := limited(ctx, c.connectTimeout)
	defer lift()
	missing, err := client.Missing(within, path)
	if over, isOver := overIn(within, err); isOver {
		return exitWith(statusUnreachable, "%s: the servers did not answer within %v; zklock doctor tells more", path,
			over.after)
	}
	if err != nil || missing == "" {
		return err
	}
	s, err := c.settings(cmd)
	if err != nil {
		return err
	}
	cfg, err := s.config()
	if err != nil {
		return err
	}
	return exitWith(statusMissing, "%s", absence(cfg, path, missing))
}

// absence says that a path does not exist, and what may be the reason.
func absence(cfg zkconn.Config, path, missing string) string {
	switch {
	case missing == "/" && path == "/":
		return fmt.Sprintf("the chroot %s does not exist at these servers", cfg.Chroot())
	case missing == "/":
		return fmt.Sprintf("%s does not exist, because the chroot %s does not exist at these servers", path, cfg.Chroot())
	case missing == path:
		return fmt.Sprintf("%s does not exist: nobody has locked it, or nobody for a while", path)
	}
	return fmt.Sprintf("%s does not exist, and neither does %s", path, missing)
}

// isMissing tells whether an error is that of a path that does not exist.
func isMissing(err error) bool {
	var e *exit
	return errors.As(err, &e) && e.status == statusMissing
}

// whenMissing gives the error of a path that does not exist, behind an empty answer where JSON is read.
func whenMissing(err error, asJSON bool, empty any) error {
	if asJSON && isMissing(err) {
		if failed := printJSON(empty, false); failed != nil {
			return failed
		}
	}
	return err
}

// noteMissing says that a path does not exist, and goes on: whoever follows what happens there waits for it.
func noteMissing(err error) error {
	if isMissing(err) {
		_, err = fmt.Fprintf(os.Stderr, "zklock: %v\n", err)
	}
	return err
}
