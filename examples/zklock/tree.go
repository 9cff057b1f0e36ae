package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// branch is a lock in a tree; its queue was read where it was asked for.
type branch struct {
	messages.LockCount
	queue []messages.Contender
}

// forest has the locks below a root.
type forest struct {
	*messages.LockTree
	locks []branch
}

func treeCommand(conn *connection) *cobra.Command {
	var asJSON, watch, long bool
	cmd := &cobra.Command{
		Use:   "tree [flags] ROOT",
		Short: "the locks below a path, with how many hold and wait",
		Long: `tree shows the locks below ROOT, and at it, that have a holder or a waiter.
"/" is everything. It lists every node below ROOT, but not those of the
contenders; --long reads these too, and shows who holds and who has waited
longest.

Exit status 66: ROOT does not exist.`,
		Example: `  zklock tree /
  zklock tree --long /orders
  zklock tree --watch /                        # live; q quits
  zklock tree --json / | jq -r '.locks[] | select(.waiters > 10) | .path'`,
		Args: checkArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if watch {
				if err := watchable(cmd, asJSON); err != nil {
					return err
				}
			}
			return conn.asking(cmd, func(ctx context.Context, client *locks.Client) error {
				read := func(ctx context.Context) (forest, error) { return readForest(ctx, client, args[0], long) }
				if missing := conn.find(ctx, cmd, client, args[0]); missing != nil && !watch {
					return whenMissing(missing, asJSON, forest{LockTree: &messages.LockTree{Root: args[0]}}.json())
				} else if err := noteMissing(missing); err != nil {
					return err
				}
				if watch {
					return watchTree(ctx, client, read, asJSON, long)
				}
				f, err := answer(ctx, read)
				if err != nil {
					return err
				}
				return show(asJSON, f.json(), f.lines(long, time.Now(), termWidth()))
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&watch, "watch", false, "show it as it changes, every two seconds")
	cmd.Flags().BoolVar(&long, "long", false, "with who holds and who has waited longest")
	return cmd
}

// readForest reads the locks below a root, and their queues where they are asked for, several at a time.
func readForest(ctx context.Context, client *locks.Client, root string, queues bool) (forest, error) {
	tree, err := client.Locks(ctx, root)
	if err != nil {
		return forest{}, err
	}
	f := forest{LockTree: tree, locks: make([]branch, len(tree.Locks))}
	for i, l := range tree.Locks {
		f.locks[i].LockCount = l
	}
	if !queues {
		return f, nil
	}
	byPath, err := readQueues(ctx, client, tree.Locks)
	if err != nil {
		return f, err
	}
	for i := range f.locks {
		for _, c := range byPath[f.locks[i].Path] {
			if c.Name == f.locks[i].Name {
				f.locks[i].queue = append(f.locks[i].queue, c)
			}
		}
	}
	return f, nil
}

// lines is a tree for people.
func (f forest) lines(long bool, now time.Time, width int) []string {
	held, waiting := 0, 0
	for _, l := range f.locks {
		held, waiting = held+l.Holders, waiting+l.Waiters
	}
	lines := []string{fmt.Sprintf("below %s: %s, %s, %s", f.Root, count(len(f.locks), "lock", "locks"),
		count(held, "holder", "holders"), count(waiting, "waiter", "waiters"))}
	if len(f.locks) > 0 {
		columns := []string{">HOLD", ">WAIT", "LOCK"}
		if long {
			columns = append(columns, "HELD BY", "LONGEST WAIT")
		}
		t := newTable(columns...)
		for _, l := range f.locks {
			cells := []string{fmt.Sprint(l.Holders), fmt.Sprint(l.Waiters), l.name()}
			if long {
				cells = append(cells, l.heldBy(), l.longestWait(now))
			}
			t.add(cells...)
		}
		lines = append(append(lines, ""), t.lines(width)...)
	}
	return append(lines, missing(f.LockTree)...)
}

// missing names the parts of a tree that were not read.
func missing(tree *messages.LockTree) (lines []string) {
	for _, u := range tree.Unread {
		lines = append(lines, fmt.Sprintf("not read: %s and what is below it (%s)", u.Path, u.Reason))
	}
	if tree.Truncated {
		lines = append(lines, "there is more than is read at once: name a path further down")
	}
	return lines
}

// unread are the paths of nodes that were not read.
func unread(tree *messages.LockTree) (paths []string) {
	for _, u := range tree.Unread {
		paths = append(paths, u.Path)
	}
	return paths
}

func (b branch) name() string {
	name := b.Path
	if b.Name != "" {
		name += " (queue " + b.Name + ")"
	}
	if b.Contest {
		name += " (contest)"
	}
	if b.Permits > 0 {
		name += fmt.Sprintf(" (%d of %s)", b.Taken, count(b.Permits, "permit", "permits"))
	}
	return name
}

func (b branch) heldBy() string {
	for _, c := range b.queue {
		if c.Holds {
			more := ""
			if b.Holders > 1 {
				more = fmt.Sprintf(" +%d", b.Holders-1)
			}
			return labelled(c) + more
		}
	}
	return "nobody"
}

func (b branch) longestWait(now time.Time) string {
	for _, c := range b.queue {
		if !c.Holds {
			return fmt.Sprintf("%s, %s", ago(c.Since, now), labelled(c))
		}
	}
	return ""
}

// jsonTree is a tree as --json shows it.
type jsonTree struct {
	Root      string     `json:"root"`
	Locks     []jsonLock `json:"locks"`
	Unread    []string   `json:"unread,omitempty"`
	Truncated bool       `json:"truncated,omitempty"`
}

type jsonLock struct {
	Path       string          `json:"path"`
	Queue      string          `json:"queue,omitempty"`
	Contest    bool            `json:"contest,omitempty"`
	Holders    int             `json:"holders"`
	Waiters    int             `json:"waiters"`
	Permits    int             `json:"permits,omitempty"`
	Taken      int             `json:"taken,omitempty"` // of the permits
	Contenders []jsonContender `json:"contenders,omitempty"`
}

func (f forest) json() jsonTree {
	j := jsonTree{Root: f.Root, Locks: []jsonLock{}, Unread: unread(f.LockTree), Truncated: f.Truncated}
	for _, l := range f.locks {
		lock := jsonLock{Path: l.Path, Queue: l.Name, Contest: l.Contest, Holders: l.Holders, Waiters: l.Waiters,
			Permits: l.Permits, Taken: l.Taken}
		if len(l.queue) > 0 {
			lock.Contenders = allToJSON(l.queue)
		}
		j.Locks = append(j.Locks, lock)
	}
	return j
}

// treeEvery is the pause between two readings of a live tree.
const treeEvery = 2 * time.Second

// watchTree shows a tree as it changes. Where servers do not answer it says so, and waits for them.
func watchTree(ctx context.Context, client *locks.Client, read func(context.Context) (forest, error), asJSON, long bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	forests := make(chan *forest)
	go func() {
		defer close(forests)
		for {
			f, err := read(ctx) // for as long as somebody looks, as a queue is followed
			if err != nil {
				cancel(err)
				return
			}
			select {
			case forests <- &f:
			case <-ctx.Done():
				return
			}
			if !pause(ctx, treeEvery) {
				return
			}
		}
	}()
	if asJSON {
		for f := range forests {
			if err := printJSON(f.json(), true); err != nil {
				return err
			}
		}
		return context.Cause(ctx)
	}
	_, err := watch(ctx, client, "reading", forests, func(f *forest, now time.Time, width int) []string {
		return f.lines(long, now, width)
	})
	return cmp.Or(err, context.Cause(ctx)) // a reading that fails ends both
}
