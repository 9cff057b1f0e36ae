package main

import (
	"context"
	"errors"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn"
)

func permitsCommand(conn *connection) *cobra.Command {
	return &cobra.Command{
		Use:   "permits PATH N",
		Short: "set how many may hold a semaphore together",
		Long: `permits sets the number of permits of the semaphore at PATH, or sets it for the
first time; the node is made where it does not exist. Holders go on
holding; waiters, and all who come from then on, go by the new number, whatever
number they name: zklock run --permits N. zklock tree shows it. ZooKeeper deletes
the node, and the number with it, some time after its last contender.

Exit status 70: the node has other data than a number of permits, or its ACL
does not allow it.`,
		Example: `  zklock permits /encoders 8
  zklock run --permits 8 /encoders -- ffmpeg -i in.mov out.mp4`,
		Args: checkArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[1])
			if err != nil || queue.CheckPermits(n) != "" {
				return badUse(form(cmd), "permits: N is %q, and must be between 1 and %d", args[1], queue.MaxPermits)
			}
			return conn.asking(cmd, func(ctx context.Context, client *locks.Client) error {
				if err := conn.find(ctx, cmd, client, args[0]); err != nil && !isMissing(err) { // it is made
					return err
				}
				_, err := answer(ctx, func(ctx context.Context) (struct{}, error) {
					return struct{}{}, client.SetPermits(ctx, args[0], n)
				})
				switch {
				case errors.Is(err, locks.ErrPermits):
					return exitWith(statusRefused, "%s has other data than a number of permits, which were left as they are", args[0])
				case errors.Is(err, zkconn.ErrNoAuth):
					return exitWith(statusRefused, "%s: its ACL does not allow to write there (--auth gives a credential): %s",
						args[0], short(err))
				case err != nil:
					return err
				}
				return say(os.Stdout, "%s: %s", args[0], count(n, "permit", "permits"))
			})
		},
	}
}
