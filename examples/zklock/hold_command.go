package main

import (
	"context"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstile-locks/turnstile/locks"
)

func holdCommand(conn *connection) *cobra.Command {
	r := &runArgs{conn: conn, grace: time.Second}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "hold [flags] PATH",
		Short: "take the lock, and hold it until a signal comes",
		Long: `hold waits for the lock at PATH, prints a line when it is held, and holds it
until SIGINT, SIGTERM, SIGHUP or SIGQUIT comes, or its standard input ends,
where that is a pipe or a socket: then the program that started it is gone, or
needs the lock no more. It is for scripts that do several things under one
lock, and for keeping others out by hand.

Nothing stops what you do under the lock when it is lost: hold ends then. Where
one command is all that there is to do, zklock run is safer.

Exit status:
  0   the lock was held, and given back after a signal or the end of the input
  64  bad use
  69  no connection to ZooKeeper, or the servers did not answer
  70  refused: by a node's ACL, by other data than permits, or by the server
  75  not acquired: --wait is over while others had it, or the input has ended
  79  the lock was lost
  80  given back, because somebody asked for it
  128 + n  signal n ended it before it held the lock`,
		Example: `  zklock hold --label "maintenance until noon" /orders     # until Ctrl-C

  # from a script: several steps under one lock
  coproc LOCK { zklock hold -w 60 /deploy; }
  read -r held <&"${LOCK[0]}" || exit 1
  ./build && ./install
  eval "exec ${LOCK[1]}>&-"                                # and give it back`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := checkArguments(cmd, args); err != nil {
				return err
			}
			r.path = args[0]
			return r.checkFlags(cmd)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return r.hold(cmd, asJSON) },
	}
	r.addTo(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// hold is the whole of it.
func (r *runArgs) hold(cmd *cobra.Command, asJSON bool) error {
	ctx, signalled := untilSignals(cmd.Context())
	defer signalled()
	waiting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	input := endOfInput()
	go func() {
		select {
		case <-input:
			cancel(exitWith(statusNotAcquired, "%s: the input has ended before the lock was held", r.path))
		case <-waiting.Done():
		}
	}()
	waiting, lift := limited(waiting, r.bound())
	defer lift()
	client, err := r.conn.open(waiting, cmd)
	if err != nil {
		return err
	}
	defer func() { closeClient(client, r.silent) }()
	if err := r.refuseNested(waiting, client); err != nil {
		return err
	}
	lease, err := r.acquire(waiting, client)
	if err != nil {
		return r.notHeld(waiting, err)
	}
	defer giveBack(lease)
	if err := tellHeld(lease, asJSON); err != nil {
		return err
	}
	return r.untilOver(ctx, lease, input)
}

// tellHeld prints that the lock is held.
func tellHeld(lease *locks.Lease, asJSON bool) error {
	if asJSON {
		return printJSON(struct {
			Path  string `json:"path"`
			Node  string `json:"node"`
			Token string `json:"token"`
		}{lease.Path(), lease.Node(), lease.Token().String()}, true)
	}
	return say(os.Stdout, "holds %s, token %v", lease.Path(), lease.Token())
}

// untilOver waits until there is a reason to give the lock back, or it is lost.
func (r *runArgs) untilOver(ctx context.Context, lease *locks.Lease, input <-chan struct{}) error {
	revoked := lease.Revoked()
	for {
		select {
		case <-ctx.Done():
		case <-input:
		case <-lease.Context().Done():
			return exitWith(statusLost, "%s: %s", r.path, lossOf(lease))
		case <-revoked:
			if r.keep {
				_ = say(os.Stderr, "zklock: somebody asks for %s; it is held on (--keep)", r.path)
				revoked = nil
				continue
			}
			return exitWith(statusRevoked, "%s: somebody asks for the lock; it was given back", r.path)
		}
		if !lease.Valid() {
			return exitWith(statusLost, "%s: %s", r.path, lossOf(lease))
		}
		return nil
	}
}

// endOfInput is closed when standard input ends. Anything but a pipe or a socket says nothing of whether anybody is
// there: it is left alone.
func endOfInput() <-chan struct{} {
	stat, err := os.Stdin.Stat()
	if err != nil || stat.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return nil
	}
	ended := make(chan struct{})
	go func() { // it ends with the program
		defer close(ended)
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	return ended
}
