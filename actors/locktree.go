package actors

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// mostNodes bounds how many nodes of a tree are looked at for one question, contenders not counted.
const mostNodes = 100_000

// readLocksTask looks for the locks below a root.
type readLocksTask struct{ messages.ReadLocks }

func (t readLocksTask) check() error { return checkRoot(t.Root) }

func (t readLocksTask) refuse(why messages.Refusal) any {
	return &messages.LockTree{Refusal: why, Root: t.Root}
}

func (t readLocksTask) answer(conn *zkconn.Conn) (any, error) {
	if err := catchUp(conn, anywhere(t.Root)); err != nil {
		return nil, err
	}
	w := walk{conn: conn, most: mostNodes}
	if err := w.run(t.Root); err != nil {
		return nil, err
	}
	tree := &messages.LockTree{Root: t.Root, Unread: w.unread, Truncated: w.truncated}
	for _, l := range w.found {
		tree.Locks = append(tree.Locks, l.count()...)
	}
	slices.SortFunc(tree.Locks, func(a, b messages.LockCount) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(tree.Unread, func(a, b messages.Unread) int { return cmp.Compare(a.Path, b.Path) })
	return tree, nil
}

// walk looks at a tree level by level. A child whose name is a contender's makes its parent a lock path, and is
// not looked into; every other one is. An ephemeral node that says of itself that it is a contest is one; others
// are nobody's lock as far as can be told.
type walk struct {
	conn *zkconn.Conn
	most int // nodes that are looked at

	mu        sync.Mutex
	found     []seenLock
	unread    []messages.Unread
	seen      int
	truncated bool
	below     []string // the next level
}

// seenLock is a lock path with its contenders, or a contest.
type seenLock struct {
	path     string
	contest  bool
	children []string
	permits  int
}

// count says how many hold and wait in each queue of the lock path.
func (l seenLock) count() (counts []messages.LockCount) {
	if l.contest {
		return []messages.LockCount{{Path: l.path, Contest: true, Holders: 1}}
	}
	for i, s := range queue.Standings(l.children, l.permits) {
		if i == 0 || counts[len(counts)-1].Name != s.Name {
			counts = append(counts, messages.LockCount{Path: l.path, Name: s.Name})
		}
		if c := &counts[len(counts)-1]; s.Holds {
			c.Holders++
		} else {
			c.Waiters++
		}
	}
	return counts
}

func (w *walk) run(root string) error {
	for level := []string{root}; len(level) > 0; level = w.below {
		w.below = nil
		if err := inParallel(len(level), func(i int) error { return w.visit(level[i]) }); err != nil {
			return err
		}
		slices.Sort(w.below) // so that the bound cuts at the same place every time
		if w.seen += len(level); w.seen+len(w.below) > w.most {
			w.truncated = true
			w.below = w.below[:max(0, w.most-w.seen)]
		}
	}
	return nil
}

// anywhere is a path to catch up with, which need not exist.
func anywhere(root string) string {
	if root == "/" {
		return "/turnstile"
	}
	return root
}

// visit looks at one node.
func (w *walk) visit(path string) error {
	children, err := w.list(path)
	if err != nil {
		return w.passOver(path, err)
	}
	contenders, others := sift(path, children)
	w.mu.Lock()
	w.below = append(w.below, others...)
	w.mu.Unlock()
	switch {
	case len(contenders) > 0:
		lock := seenLock{path: path, children: contenders}
		if semaphore(contenders) {
			if lock.children, lock.permits, err = readChildren(w.conn, path); err != nil {
				return w.passOver(path, err)
			}
		}
		w.note(lock)
	case len(children) == 0 && path != "/":
		return w.leaf(path)
	}
	return nil
}

func (w *walk) list(path string) ([]string, error) {
	if path == "/" {
		return w.conn.RootChildren()
	}
	return w.conn.Children(path)
}

// leaf finds out whether a node without children is a contest.
func (w *walk) leaf(path string) error {
	data, stat, err := w.conn.Get(path)
	if err != nil {
		return w.passOver(path, err)
	}
	o, ours := parseOwner(data)
	if ephemeral(stat) && (ours && o.Mode == messages.Contest.String() || asksForLock(data)) {
		w.note(seenLock{path: path, contest: true})
	}
	return nil
}

// passOver notes a node that may not be read. One that has gone meanwhile is nothing to note.
func (w *walk) passOver(path string, err error) error {
	if errors.Is(err, zkconn.ErrNoNode) {
		return nil
	}
	if again(err) {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unread = append(w.unread, messages.Unread{Path: path, Refusal: refusal(err)})
	return nil
}

func (w *walk) note(l seenLock) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.found = append(w.found, l)
}

// sift tells a node's children that are contenders from those to look into, whose paths it gives. What ZooKeeper
// keeps for itself is neither.
func sift(path string, children []string) (contenders, others []string) {
	if path == "/" {
		path = ""
	}
	for _, child := range children {
		if _, ok := queue.Parse(child); ok {
			contenders = append(contenders, child)
		} else if below := path + "/" + child; zkconn.CheckPath(below) == nil {
			others = append(others, below)
		}
	}
	return contenders, others
}
