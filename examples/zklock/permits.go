package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn"
)

func permitsCommand(conn *connection) *cobra.Command {
	return &cobra.Command{
		Use:   "permits PATH [N]",
		Short: "print or set how many may hold a semaphore together",
		Long: `permits PATH prints the number of permits that stands at PATH.

permits PATH N sets it; the node is made where it does not exist. Holders go on
holding; waiters, and all who come from then on, go by the new number, whatever
number they name: zklock run --permits N. ZooKeeper deletes the node, and the
number with it, some time after its last contender.

Exit status 1: there is no number to print. 70: the node has other data than a
number of permits, or its ACL does not allow it.`,
		Example: `  zklock permits /encoders
  zklock permits /encoders 8
  zklock run --permits 8 /encoders -- ffmpeg -i in.mov out.mp4`,
		Args: func(cmd *cobra.Command, args []string) error {
			return checkArguments(cmd, slices.Concat(args[:min(len(args), 1)], args[min(len(args), 2):]))
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return printPermits(cmd, conn, args[0])
			}
			n, err := strconv.Atoi(args[1])
			if err != nil || queue.CheckPermits(n) != "" {
				return badUse(form(cmd)+" N", "permits: N is %q, and must be between 1 and %d", args[1], queue.MaxPermits)
			}
			return conn.asking(cmd, func(ctx context.Context, client *locks.Client) error {
				if err := conn.find(ctx, cmd, client, args[0]); err != nil && !isMissing(err) { // it is made
					return err
				}
				_, err := answer(ctx, func(ctx context.Context) (struct{}, error) {
					return struct{}{}, client.SetPermits(ctx, args[0], n)
				})
				if err != nil {
					return permitsRefused(args[0], err)
				}
				return say(os.Stdout, "%s: %s", args[0], count(n, "permit", "permits"))
			})
		},
	}
}

func printPermits(cmd *cobra.Command, conn *connection, path string) error {
	return conn.asking(cmd, func(ctx context.Context, client *locks.Client) error {
		if err := conn.find(ctx, cmd, client, path); err != nil {
			return err
		}
		n, err := answer(ctx, func(ctx context.Context) (int, error) { return client.Permits(ctx, path) })
		switch {
		case err != nil:
			return permitsRefused(path, err)
		case n == 0:
			return exitWith(statusNo, "%s has no number of permits", path)
		}
		return say(os.Stdout, "%d", n)
	})
}

func permitsRefused(path string, err error) error {
	switch {
	case errors.Is(err, locks.ErrPermits):
		return exitWith(statusRefused, "%s has other data than a number of permits, which were left as they are", path)
	case errors.Is(err, zkconn.ErrNoAuth):
		return exitWith(statusRefused, "%s: its ACL does not allow it (--auth gives a credential): %s", path, short(err))
	}
	return err
}
