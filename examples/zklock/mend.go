package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

func revokeCommand(conn *connection) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke PATH",
		Short: "ask the holders to give the lock back",
		Long: `revoke asks the holders to give the lock back, and takes nothing away. zklock
run then ends its command, unless it was started with --keep. Programs with
Turnstile are told, and decide. So are Curator's that made themselves
revocable. go-zookeeper's and kazoo's do not listen: see zklock help break.

Exit status 1: nobody holds the lock.`,
		Example: `  zklock revoke /backup
  zklock trace /backup                         # and see whether it goes`,
		Args: checkArguments,
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
					tellAsked(c)
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
	}
}

func tellAsked(c messages.Contender) {
	_ = say(os.Stdout, "asked number %d, %s%s", c.Sequence, labelled(c), listens(c))
}

// listens says what is known of whether a holder hears what it is asked.
func listens(c messages.Contender) string {
	switch c.Library {
	case messages.LibraryGoZookeeper, messages.LibraryKazoo:
		return fmt.Sprintf("; locks of %s do not listen: %s", c.Library, typed("break", c.Path, fmt.Sprint(c.Sequence)))
	case messages.LibraryCurator:
		return "; one of Curator's listens if it was made revocable"
	}
	return ""
}

func breakCommand(conn *connection) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "break [--yes] PATH CONTENDER",
		Short: "take a contender out of the queue by force",
		Long: `break deletes a contender's node, so that the next in the queue holds the lock.
It is for a holder that hangs while its session lives on. CONTENDER is its
number, as "zklock queue" shows it, or a part of its node's name that no other
has.

Ask first, with zklock revoke: that is kinder. The holder may still be at work,
and its work then goes on beside the next holder's. Only a resource that checks
fencing tokens is safe from that. A Turnstile holder is told at once;
others notice nothing.

break asks before it deletes. Without a terminal it needs --yes.

Exit status 1: the contender is gone, or the answer was no.`,
		Example: `  zklock queue /backup
  zklock break /backup 42
  zklock break --yes /backup 42                # from a script`,
		Args: checkArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !yes && !term.IsTerminal(int(os.Stdin.Fd())) {
				return badUse(withFlag(cmd, "--yes"),
					"break asks before it takes a lock away, and there is no terminal to ask at")
			}
			return conn.asking(cmd, func(ctx context.Context, client *locks.Client) error {
				missing := conn.find(ctx, cmd, client, args[0])
				if isMissing(missing) {
					return exitWith(statusNo, "%v; so there is no contender %q", missing, args[1])
				} else if missing != nil {
					return missing
				}
				return breakContender(ctx, cmd, client, args[0], args[1], yes)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func breakContender(ctx context.Context, cmd *cobra.Command, client *locks.Client, path, which string, yes bool) error {
	queue, err := answer(ctx, func(ctx context.Context) ([]messages.Contender, error) { return client.Queue(ctx, path) })
	if err != nil {
		return err
	}
	c, err := choose(cmd, queue, path, which)
	if err != nil {
		return err
	}
	if !yes {
		_ = say(os.Stderr, "%s: number %d %s, and asked for it %s ago: %s", path, c.Sequence, standing(c),
			ago(c.Since, time.Now()), labelled(c))
		if c.Holds {
			fmt.Fprintln(os.Stderr, "If it is at work, that goes on beside what the next holder does.")
		}
		sure, err := confirm(ctx, "Break it? [y/N] ")
		if err != nil {
			return err
		}
		if !sure {
			return exitWith(statusNo, "%s: nothing was done", path)
		}
	}
	_, err = answer(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, client.Break(ctx, c) })
	switch {
	case errors.Is(err, locks.ErrGone):
		return exitWith(statusNo, "%s: number %d was gone already", path, c.Sequence)
	case errors.Is(err, zkconn.ErrNoAuth):
		return exitWith(statusRefused, "%s: the node may not be deleted (--auth gives a credential): %s", path,
			short(err))
	case err != nil:
		return err
	}
	return say(os.Stdout, "broken: number %d, %s", c.Sequence, labelled(c))
}

// choose finds the contender that is meant: by its number, or by a part of its node's name.
func choose(cmd *cobra.Command, queue []messages.Contender, path, which string) (messages.Contender, error) {
	var found []messages.Contender
	number, err := strconv.ParseInt(which, 10, 32)
	for _, c := range queue {
		if err == nil && c.Sequence == int32(number) || err != nil && strings.Contains(c.Node, which) {
			found = append(found, c)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return messages.Contender{}, exitWith(statusNo,
			"%s: there is no contender %q; %s shows who there is", path, which, typed("queue", path))
	}
	return messages.Contender{}, badUse(form(cmd),
		"%s: %q fits %s; give more of the node's name (%s shows it)",
		path, which, count(len(found), "contender", "contenders"), typed("queue", "--wide", path))
}

// confirm asks at the terminal. Only a yes is one.
func confirm(ctx context.Context, question string) (bool, error) {
	fmt.Fprint(os.Stderr, question)
	line := make(chan string, 1)
	go func() { // it ends with the program
		text, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		line <- text
	}()
	select {
	case text := <-line:
		text = strings.ToLower(strings.TrimSpace(text))
		return text == "y" || text == "yes", nil
	case <-ctx.Done():
		fmt.Fprintln(os.Stderr)
		return false, context.Cause(ctx)
	}
}
