package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// waiting is one edge of the graph: a contender, and one whose end may let it in.
type waiting struct {
	waiter, behind messages.Contender
	deadlock       int // which, from 1; 0 for none
	possible       int // which possible one
}

// graph shows who waits for whom.
type graph struct {
	tree      *messages.LockTree
	edges     []waiting
	deadlocks []messages.Deadlock
	possible  []messages.Deadlock
}

func graphCommand(conn *connection) *cobra.Command {
	var asJSON, dot bool
	cmd := &cobra.Command{
		Use:   "graph [flags] ROOT",
		Short: "who waits for whom, deadlocks marked",
		Long: `graph reads the queues of the locks below ROOT and shows who waits for whom.
Contenders that wait for each other in a circle are a deadlock. It ends only
when one of them gives up (zklock revoke or zklock break). Queues that could
not be read are named: a deadlock there is not seen.

Deadlocks are seen where nodes say who is blocked while it waits: Turnstile's
do. Two requests belong together when the second was made with the context of
the first, in one process. A zklock that runs in the command of another zklock
is not known to belong to it.

A possible deadlock is one if a request that waits blocks its whole process: the
process holds a lock and waits for it, as when it is locked again without the
context of its lease, or two processes hold what the other waits for. A process
with several workers may be well: look at how long they have waited.

Exit status: 1 there is a deadlock; 66 ROOT does not exist.`,
		Example: `  zklock graph /
  zklock graph --dot /orders | dot -Tsvg > orders.svg
  zklock graph / >/dev/null; [ $? = 1 ] && echo "somebody waits for ever"`,
		Args: checkArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asJSON && dot {
				return badUse(withFlag(cmd, "--dot")+", or: "+withFlag(cmd, "--json"),
					"graph: --dot and --json are two forms of one thing")
			}
			return conn.asking(cmd, func(ctx context.Context, client *locks.Client) error {
				if missing := conn.find(ctx, cmd, client, args[0]); missing != nil {
					return whenMissing(missing, asJSON, graph{tree: &messages.LockTree{Root: args[0]}}.json())
				}
				g, err := answer(ctx, func(ctx context.Context) (graph, error) { return readGraph(ctx, client, args[0]) })
				if err != nil {
					return err
				}
				if dot {
					err = g.writeDot(os.Stdout)
				} else {
					err = show(asJSON, g.json(), g.lines(time.Now(), termWidth()))
				}
				if err == nil && len(g.deadlocks) > 0 {
					return &exit{status: statusNo}
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&dot, "dot", false, "print it for Graphviz")
	return cmd
}

// readGraph reads the deadlocks and the queues in which somebody waits.
func readGraph(ctx context.Context, client *locks.Client, root string) (graph, error) {
	g := graph{}
	var err error
	if g.deadlocks, g.possible, err = client.PossibleDeadlocks(ctx, root); err != nil {
		return g, err
	}
	part, possible := waitingIn(g.deadlocks), waitingIn(g.possible)
	if g.tree, err = client.Locks(ctx, root); err != nil {
		return g, err
	}
	var crowded []messages.LockCount
	for _, l := range g.tree.Locks {
		if l.Waiters > 0 {
			crowded = append(crowded, l)
		}
	}
	queues, err := readQueues(ctx, client, crowded)
	if err != nil {
		return g, err
	}
	done := map[string]bool{}
	for _, l := range crowded {
		if done[l.Path] {
			continue
		}
		done[l.Path] = true
		nodes := byNode(queues[l.Path])
		for _, c := range queues[l.Path] {
			for _, name := range c.WaitsFor {
				if other, there := nodes[name]; there {
					g.edges = append(g.edges, waiting{c, other, part[c.At()], possible[c.At()]})
				}
			}
		}
	}
	return g, nil
}

// waitingIn gives the nodes that wait in deadlocks, and in which, from 1.
func waitingIn(all []messages.Deadlock) map[string]int {
	part := map[string]int{}
	for i, d := range all {
		for _, m := range d.Members {
			part[m.Waits.At()] = i + 1
		}
	}
	return part
}

// lines is the graph for people.
func (g graph) lines(now time.Time, width int) []string {
	first := fmt.Sprintf("below %s: %s, %s", g.tree.Root, count(g.waiters(), "waits", "wait"),
		count(len(g.deadlocks), "deadlock", "deadlocks"))
	if len(g.possible) > 0 {
		first += ", " + count(len(g.possible), "possible one", "possible ones")
	}
	lines := []string{first}
	for i, d := range g.deadlocks {
		lines = append(lines, "", fmt.Sprintf("DEADLOCK %d: each waits for the next, the last for the first", i+1))
		lines = append(lines, members(d, width)...)
	}
	for i, d := range g.possible {
		lines = append(lines, "", fmt.Sprintf(
			"POSSIBLE DEADLOCK %d: one if in each process the holder waits for the waiter", i+1))
		lines = append(lines, members(d, width)...)
	}
	if len(g.edges) == 0 {
		return append(lines, missing(g.tree)...)
	}
	t := newTable("WAITER", "WAITS FOR", "BEHIND", "WHICH", ">ASKED", "")
	for _, e := range g.edges {
		mark := ""
		switch {
		case e.deadlock > 0:
			mark = fmt.Sprintf("deadlock %d", e.deadlock)
		case e.possible > 0:
			mark = fmt.Sprintf("possible %d", e.possible)
		}
		t.add(labelled(e.waiter), e.waiter.Path, labelled(e.behind), standing(e.behind),
			ago(e.waiter.Since, now)+" ago", mark)
	}
	return append(append(append(lines, ""), t.lines(width)...), missing(g.tree)...)
}

// members gives the members of a deadlock, in words.
func members(d messages.Deadlock, width int) (lines []string) {
	for _, m := range d.Members {
		lines = append(lines, "  "+labelled(m.Waits))
		for _, line := range wrap(inWords(m), width-4) {
			lines = append(lines, "    "+line)
		}
	}
	return lines
}

// waiters counts the contenders that wait; one may wait for several.
func (g graph) waiters() int {
	nodes := map[string]bool{}
	for _, e := range g.edges {
		nodes[e.waiter.At()] = true
	}
	return len(nodes)
}

// inWords says what a member of a deadlock does.
func inWords(m messages.Member) string {
	waits := fmt.Sprintf("waits for %s (number %d)", m.Waits.Path, m.Waits.Sequence)
	keeps := fmt.Sprintf("%s (number %d)", m.Keeps.Path, m.Keeps.Sequence)
	switch {
	case m.Keeps.At() == m.Waits.At():
		return waits + ", and keeps others waiting there"
	case m.Keeps.Holds:
		return "holds " + keeps + " and " + waits
	}
	return "is before others in the queue of " + keeps + " and " + waits
}

// jsonGraph is the graph as --json shows it.
type jsonGraph struct {
	Root      string           `json:"root"`
	Waiting   []jsonWaiting    `json:"waiting"`
	Deadlocks [][]jsonDeadlock `json:"deadlocks"`
	Possible  [][]jsonDeadlock `json:"possible_deadlocks"`
	Unread    []string         `json:"unread,omitempty"`
	Truncated bool             `json:"truncated,omitempty"`
}

type jsonWaiting struct {
	Waiter   jsonContender `json:"waiter"`
	Behind   jsonContender `json:"behind"`
	Deadlock int           `json:"deadlock,omitempty"`
	Possible int           `json:"possible_deadlock,omitempty"`
}

type jsonDeadlock struct {
	Who   string        `json:"who,omitempty"`
	Keeps jsonContender `json:"keeps"`
	Waits jsonContender `json:"waits"`
}

func (g graph) json() jsonGraph {
	j := jsonGraph{Root: g.tree.Root, Waiting: []jsonWaiting{}, Deadlocks: jsonDeadlocks(g.deadlocks),
		Possible: jsonDeadlocks(g.possible), Unread: unread(g.tree), Truncated: g.tree.Truncated}
	for _, e := range g.edges {
		j.Waiting = append(j.Waiting, jsonWaiting{toJSON(e.waiter), toJSON(e.behind), e.deadlock, e.possible})
	}
	return j
}

func jsonDeadlocks(found []messages.Deadlock) [][]jsonDeadlock {
	all := [][]jsonDeadlock{} // [] and not null where it is empty
	for _, d := range found {
		var members []jsonDeadlock
		for _, m := range d.Members {
			members = append(members, jsonDeadlock{m.Who, toJSON(m.Keeps), toJSON(m.Waits)})
		}
		all = append(all, members)
	}
	return all
}

// writeDot writes the graph for Graphviz: a box for everybody who waits or is waited for, an arrow for each lock that
// one waits for, with deadlocks in red, and possible ones in orange.
func (g graph) writeDot(out io.Writer) error {
	var b strings.Builder
	b.WriteString("digraph locks {\n  rankdir=LR;\n")
	b.WriteString("  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n")
	caught := map[string]bool{}
	for _, e := range g.edges {
		if e.deadlock > 0 {
			caught[vertex(e.waiter)] = true
		}
	}
	drawn := map[string]bool{}
	for _, e := range g.edges {
		for _, c := range []messages.Contender{e.waiter, e.behind} {
			name := vertex(c)
			if drawn[name] {
				continue
			}
			drawn[name] = true
			color := ""
			if caught[name] {
				color = ", color=red"
			}
			fmt.Fprintf(&b, "  %s [label=%s%s];\n", quoted(name), quoted(labelled(c)), color)
		}
	}
	for _, e := range g.edges {
		color := ""
		switch {
		case e.deadlock > 0:
			color = fmt.Sprintf(", color=red, fontcolor=red, tooltip=\"deadlock %d\"", e.deadlock)
		case e.possible > 0:
			color = fmt.Sprintf(", color=orange, fontcolor=orange, tooltip=\"possible deadlock %d\"", e.possible)
		}
		style := ""
		if !e.behind.Holds {
			style = ", style=dashed"
		}
		fmt.Fprintf(&b, "  %s -> %s [label=%s%s%s];\n", quoted(vertex(e.waiter)), quoted(vertex(e.behind)),
			quoted(e.waiter.Path), color, style)
	}
	b.WriteString("}\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// vertex names the caller that is blocked while a contender waits. Several contenders may have the
// same vertex.
func vertex(c messages.Contender) string {
	if c.Who != "" {
		return c.Who
	}
	return c.At()
}

// quoted is a text as Graphviz reads it, which knows no other escapes than these.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(printable(text)) + `"`
}
