package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

func queueCommand(conn *connection) *cobra.Command {
	var asJSON, watch, wide bool
	cmd := &cobra.Command{
		Use:   "queue [flags] PATH",
		Short: "who holds a lock, and who waits",
		Long: `queue shows the contenders of a lock in the order in which they came: who
holds, and who waits since when. (For whom: zklock graph, or --json.)

NO is the number that ZooKeeper gave the contender: what zklock break takes.
ASKED is when it asked for the lock, by the clock of its own machine. WHO is
its machine and process, or its library and session where it is another
library's. "revoking" is a holder that somebody has asked to give the lock back
(zklock revoke); another library's node then no longer says who it is. "holds?"
is a contender of kazoo's behind one with another name: kazoo does not see that
one unless it is told to, and then holds beside it. A contender may serve many
requests of its process in turn; how many wait there, only that process knows.

Exit status 66: the path does not exist. A lock path comes with its first lock,
and goes some time after its last one.`,
		Example: `  zklock queue /backup
  zklock queue --watch /backup                 # live; q quits
  zklock queue --json /backup | jq '.[] | select(.holds) | .token'
  zklock queue --watch --json /backup          # a line for each change`,
		Args: checkArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if watch {
				if err := watchable(cmd, asJSON); err != nil {
					return err
				}
			}
			return conn.asking(cmd, func(ctx context.Context, client *locks.Client) error {
				missing := conn.find(ctx, cmd, client, args[0])
				if watch {
					return watchQueue(ctx, client, args[0], asJSON, wide, missing)
				}
				if missing != nil {
					return whenMissing(missing, asJSON, []jsonContender{})
				}
				q, err := answer(ctx, func(ctx context.Context) (q *messages.Queue, err error) {
					q = &messages.Queue{Path: args[0]}
					q.Contenders, err = client.Queue(ctx, q.Path)
					if err == nil && slices.ContainsFunc(q.Contenders, takesPermits) {
						q.Permits, err = client.Permits(ctx, q.Path)
					}
					return q, err
				})
				if err != nil {
					return err
				}
				lines := queueLines(q, wide, time.Now(), termWidth())
				if len(q.Contenders) == 0 {
					lines = append(lines, persistent(ctx, client, q.Path)...)
				}
				return show(asJSON, allToJSON(q.Contenders), lines)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&watch, "watch", false, "show it as it changes")
	cmd.Flags().BoolVar(&wide, "wide", false, "with sessions, tokens and the nodes' names")
	return cmd
}

func takesPermits(c messages.Contender) bool { return c.Mode == messages.Semaphore }

// persistent says of a lock path without contenders that its node keeps a contest's waiters out:
// they have no nodes of their own.
func persistent(ctx context.Context, client *locks.Client, path string) []string {
	now, _ := client.Session().Connection()
	_, stat, err := client.Session().Read(ctx, now.Epoch, path)
	if err != nil || stat.EphemeralOwner != 0 || path == "/" {
		return nil
	}
	return []string{fmt.Sprintf("the path is a persistent node, made %s ago: a contest there waits until it is deleted",
		ago(stat.Ctime, time.Now()))}
}

// queueLines is a queue for people.
func queueLines(q *messages.Queue, wide bool, now time.Time, width int) []string {
	path, queue := q.Path, q.Contenders
	if len(queue) == 0 {
		return []string{path + ": nobody holds it, nobody waits"}
	}
	holders, beside, taken := 0, 0, 0
	names := false
	for _, c := range queue {
		switch {
		case c.Holds:
			holders++
			taken += c.Weight
		case c.MayHold:
			beside++
		}
		names = names || c.Name != ""
	}
	head := fmt.Sprintf("%s: %s, %s", path, count(holders, "holds", "hold"), count(len(queue)-holders-beside, "waits", "wait"))
	if q.Permits > 0 {
		head += fmt.Sprintf(", %d of %s taken", taken, count(q.Permits, "permit", "permits"))
	}
	if beside > 0 {
		head += fmt.Sprintf(", %d may hold", beside)
	}
	columns := []string{">NO", "STATE", "KIND", ">ASKED", "WHO", "LABEL"}
	if names {
		columns = append(columns, "QUEUE")
	}
	if wide {
		columns = append(columns, "SESSION", ">TOKEN", "NODE")
		width = 0
	}
	t := newTable(columns...)
	for _, c := range queue {
		cells := []string{fmt.Sprint(c.Sequence), standing(c), kind(c), ago(c.Since, now) + " ago", who(c),
			c.Label}
		if names {
			cells = append(cells, c.Name)
		}
		if wide {
			cells = append(cells, fmt.Sprintf("0x%x", c.Session), c.Token.String(), c.Node)
		}
		t.add(cells...)
	}
	lines := append([]string{head, ""}, t.lines(width)...)
	for _, c := range queue {
		if c.MayHold {
			return append(lines, append([]string{""}, wrap("warning: "+mayHold(c)+"; "+mendStrangers, width)...)...)
		}
	}
	return lines
}

// watchQueue shows a queue as it changes.
func watchQueue(ctx context.Context, client *locks.Client, path string, asJSON, wide bool, missing error) error {
	if missing != nil && !isMissing(missing) {
		return missing
	}
	queues := follow(ctx, client, path)
	if asJSON {
		if err := noteMissing(missing); err != nil {
			return err
		}
		for q := range queues {
			if q.Reason != messages.ReasonNone {
				return refusal(q)
			}
			if err := printJSON(allToJSON(q.Contenders), true); err != nil {
				return err
			}
		}
		return nil
	}
	newest, err := watch(ctx, client, path, queues, func(q *messages.Queue, now time.Time, width int) []string {
		if len(q.Contenders) > 0 {
			missing = nil // it exists now
		} else if missing != nil {
			return []string{path + ": nobody holds it, nobody waits", missing.Error()}
		}
		return queueLines(q, wide, now, width)
	})
	if err == nil && newest != nil && newest.Reason != messages.ReasonNone {
		return refusal(newest)
	}
	return err
}
