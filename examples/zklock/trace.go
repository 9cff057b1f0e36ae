package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

func traceCommand(conn *connection) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "trace [flags] PATH",
		Short: "who comes, gets the lock and goes, as it happens",
		Long: `trace prints a line when a contender comes to a lock's queue, holds the lock,
is asked to give it back, or goes, until it is interrupted. It begins with
the contenders that are there.

It reads the queue whenever it changes. It does not see what came and went
between two readings. A revoke request shows with the next change of the queue.
The times are those of the readings.`,
		Example: `  zklock trace /backup
  zklock trace --json /backup | tee backup.trace`,
		Args: checkArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.asking(cmd, func(ctx context.Context, client *locks.Client) error {
				if err := noteMissing(conn.find(ctx, cmd, client, args[0])); err != nil {
					return err
				}
				var before []messages.Contender
				for q := range follow(ctx, client, args[0]) {
					if q.Reason != messages.ReasonNone {
						return refusal(q)
					}
					now := time.Now()
					for _, c := range changes(before, q.Contenders) {
						if err := c.print(now, asJSON); err != nil {
							return err
						}
					}
					before = q.Contenders
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON for each")
	return cmd
}

// The words for the changes of a contender, in the order in which simultaneous changes are told.
const (
	gone  = "gone"
	waits = "waits"
	holds = "holds"
	asked = "revoking"
)

// change is something that happened to a contender.
type change struct {
	what string
	messages.Contender
	before int // how many it waits behind, where it waits
	held   bool
	behind bool // it waited, and its predecessor is still there
}

// changes gives the changes between two readings of a queue: first the contenders that have gone, then, in the order
// of the queue, those that have come and those that hold.
func changes(before, now []messages.Contender) []change {
	old, young := byNode(before), byNode(now)
	var all []change
	for _, c := range before {
		if _, still := young[c.Node]; !still {
			all = append(all, change{what: gone, Contender: c, held: c.Holds, behind: stillThere(c.WaitsFor, young)})
		}
	}
	for i, c := range now {
		was, known := old[c.Node]
		if c.Asked && was.Host != "" { // what its node said is overwritten, and we have read it before
			c.Host, c.PID, c.Label = was.Host, was.PID, was.Label
			now[i] = c
		}
		switch {
		case c.Holds && !was.Holds:
			all = append(all, change{what: holds, Contender: c})
		case !c.Holds && !known:
			all = append(all, change{what: waits, Contender: c, before: i})
		}
		if c.Asked && !was.Asked {
			all = append(all, change{what: asked, Contender: c})
		}
	}
	return all
}

// stillThere reports whether all that a contender waited for are in the queue.
func stillThere(nodes []string, queue map[string]messages.Contender) bool {
	for _, node := range nodes {
		if _, there := queue[node]; !there {
			return false
		}
	}
	return len(nodes) > 0
}

func byNode(contenders []messages.Contender) map[string]messages.Contender {
	all := make(map[string]messages.Contender, len(contenders))
	for _, c := range contenders {
		all[c.Node] = c
	}
	return all
}

// jsonChange is a change as --json shows it.
type jsonChange struct {
	At   time.Time `json:"at"`
	What string    `json:"what"`
	jsonContender
}

func (c change) print(at time.Time, asJSON bool) error {
	if asJSON {
		return printJSON(jsonChange{at, c.what, toJSON(c.Contender)}, true)
	}
	return say(os.Stdout, "%s  %-10s  %4d  %s%s", at.Format("15:04:05.000"), c.what, c.Sequence,
		labelled(c.Contender), c.more())
}

// more gives the details. A contender that waited at one reading and is gone at the next may
// have held between the two: it was not seen to.
func (c change) more() string {
	switch {
	case c.what == waits:
		return fmt.Sprintf(", %d before it", c.before)
	case c.what == holds && c.Token != 0:
		return fmt.Sprintf(", token %v", c.Token)
	case c.what == gone && c.held:
		return ", held it"
	case c.what == gone && c.behind:
		return ", never held it"
	case c.what == gone:
		return ", not seen to hold it"
	}
	return ""
}
