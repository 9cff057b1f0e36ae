package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

func revokeCommand(conn *connection) *cobra.Command {
	return &cobra.Command{
		Use:         "revoke PATH",
		Annotations: map[string]string{argsKey: "PATH"},
		Short:       "ask the holders to give the lock back",
		Long: `revoke asks the holders to give the lock back, and takes nothing away. zklock
run then ends its command, unless it was started with --keep. Programs with
Turnstile are told, and decide. So are Curator's that made themselves
revocable. go-zookeeper's and kazoo's do not listen: see zklock help break.

Exit status 1: nobody holds the lock.`,
		Example: `  zklock revoke /backup
  zklock trace /backup                         # and see whether it goes`,
		Args: named("PATH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.asking(cmd, func(ctx context.Context, client *locks.Client) error {
				missing := conn.find(ctx, cmd, client, args[0])
				if isMissing(missing) {
					return exitWith(statusNo, "%v; so there was nobody to ask", missing)
				} else if missing != nil {
					return missing
				}
				asked, err := answer(ctx, func(ctx context.Context) ([]messages.Contender,
					error) {
					return client.Revoke(ctx, args[0])
				})
				for _, c := range asked {
					fmt.Printf("asked number %d, %s%s\n", c.Sequence, labelled(c), listens(c))
				}
				switch {
				case errors.Is(err, locks.ErrNotHolding):
					return exitWith(statusNo, "%s: nobody holds it, so there was nobody to ask", args[0])
				case errors.Is(err, zkconn.ErrNoAuth):
					return exitWith(statusRefused,
						"%s: a holder's node may not be written (--auth gives a credential): %s", args[0], short(err))
				}
				return err
			})
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}

// listens says what is known of whether a holder hears what it is asked.
func listens(c messages.Contender) string {
	switch c.Library {
	case messages.LibraryGoZookeeper, messages.LibraryKazoo:
		return fmt.Sprintf("; locks of %s do not listen: zklock break %s %d", c.Library, c.Path, c.Sequence)
	case messages.LibraryCurator:
		return "; one of Curator's listens if it was made revocable"
	}
	return ""
}
