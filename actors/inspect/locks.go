package inspect

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// mostNodes bounds the nodes that are looked at for one query, contenders not counted.
const mostNodes = 100_000

// Locks finds the lock paths that have contenders: see locks.Client.Locks.
func Locks(conn *zkconn.Conn, root string) (*messages.LockTree, error) {
	w, err := walkFrom(conn, root)
	if err != nil {
		return nil, err
	}
	tree := &messages.LockTree{Root: root, Unread: w.unread, Truncated: w.truncated}
	for _, l := range w.found {
		tree.Locks = append(tree.Locks, l.count()...)
	}
	slices.SortFunc(tree.Locks, func(a, b messages.LockCount) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(tree.Unread, func(a, b messages.Unread) int { return cmp.Compare(a.Path, b.Path) })
	return tree, nil
}

// CheckRoot is zkconn.CheckPath for the root of a search, which may be "/".
func CheckRoot(root string) error {
	if root == "/" {
		return nil
	}
	return zkconn.CheckPath(root)
}

// walk looks at a tree level by level. A child with a contender's name makes its parent a lock path
// and is not looked into; every other child is. An ephemeral node is a contest when its data say
// so; other libraries' do not.
type walk struct {
	conn *zkconn.Conn
	most int

	mu        sync.Mutex
	found     []seenLock
	unread    []messages.Unread
	seen      int
	truncated bool
	below     []string
}

type seenLock struct {
	path     string
	contest  bool
	children []string
	permits  int
}

func (l seenLock) count() (counts []messages.LockCount) {
	if l.contest {
		return []messages.LockCount{{Path: l.path, Contest: true, Holders: 1}}
	}
	for i, s := range queue.Standings(l.children, l.permits) {
		if i == 0 || counts[len(counts)-1].Name != s.Name {
			counts = append(counts, messages.LockCount{Path: l.path, Name: s.Name})
		}
		c := &counts[len(counts)-1]
		if s.Mode == messages.Semaphore {
			c.Permits = l.permits
		}
		if s.Holds {
			c.Holders++
			c.Taken += s.Weight
		} else {
			c.Waiters++
		}
	}
	return counts
}

// walkFrom lists the tree below a root, with everything that was committed before the call.
func walkFrom(conn *zkconn.Conn, root string) (*walk, error) {
	w := &walk{conn: conn, most: mostNodes}
	if err := catchUp(conn, root); err != nil {
		return w, err
	}
	return w, w.run(root)
}

func catchUp(conn *zkconn.Conn, root string) error {
	if root == "/" {
		root = "/turnstile" // which need not exist
	}
	return conn.CatchUp(root)
}

func (w *walk) run(root string) error {
	for level := []string{root}; len(level) > 0; level = w.below {
		w.below = nil
		if err := inParallel(len(level), func(i int) error { return w.visit(level[i]) }); err != nil {
			return err
		}
		slices.Sort(w.below) // so that the bound always cuts at the same place
		if w.seen += len(level); w.seen+len(w.below) > w.most {
			w.truncated = true
			w.below = w.below[:max(0, w.most-w.seen)]
		}
	}
	return nil
}

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
			if lock.permits, err = readPermits(w.conn, path); err != nil && !errors.Is(err, queue.ErrNoPermits) {
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

func (w *walk) leaf(path string) error {
	data, stat, err := w.conn.Get(path)
	if err != nil {
		return w.passOver(path, err)
	}
	o, ours := queue.ParseOwner(data)
	if ephemeral(stat) && (ours && o.Mode == messages.Contest.String() || queue.IsRevokeRequest(data)) {
		w.note(seenLock{path: path, contest: true})
	}
	return nil
}

func (w *walk) passOver(path string, err error) error {
	if errors.Is(err, zkconn.ErrNoNode) {
		return nil
	}
	if retriable(err) {
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

// sift divides a node's children into contenders and paths to look into. Nodes that
// zkconn.CheckPath refuses, and guards of contests, are neither.
func sift(path string, children []string) (contenders, others []string) {
	if path == "/" {
		path = ""
	}
	for _, child := range children {
		if _, ok := queue.Parse(child); ok {
			contenders = append(contenders, child)
		} else if below := path + "/" + child; !queue.IsGuard(child) && zkconn.CheckPath(below) == nil {
			others = append(others, below)
		}
	}
	return contenders, others
}

// Missing gives the uppermost missing node on the way to a path, which may be "/": "/" for the
// chroot, "" where the path exists. A node that may not be read exists.
func Missing(conn *zkconn.Conn, path string) (string, error) {
	if err := CheckRoot(path); err != nil {
		return "", err
	}
	if err := catchUp(conn, path); err != nil {
		return "", err
	}
	for _, at := range lineage(path) {
		if there, err := isThere(conn, at); err != nil || !there {
			return at, err
		}
	}
	return "", nil
}

func lineage(path string) []string {
	all := []string{"/"}
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			all = append(all, path[:i])
		}
	}
	if path != "/" {
		all = append(all, path)
	}
	return all
}

// isThere reports whether a node exists. A server that refuses a read tells so that it does.
func isThere(conn *zkconn.Conn, path string) (exists bool, err error) {
	if path == "/" {
		_, err = conn.RootChildren()
		exists = err == nil
	} else {
		_, exists, err = conn.Exists(path)
	}
	switch {
	case errors.Is(err, zkconn.ErrNoNode):
		return false, nil
	case errors.Is(err, zkconn.ErrNoAuth):
		return true, nil
	}
	return exists, err
}
