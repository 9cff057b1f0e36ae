package inspect

import (
	"errors"
	"path"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Queue reads the contenders of a lock path as they are now or later: queue by queue of those with
// names, each in the order in which they came. There are none where the lock path does not exist.
// At a contest's path there is its holder. A contender whose data may not be read is shown with
// what its name tells. It fails where the lock path itself may not be read: zkconn.ErrNoAuth.
func Queue(conn *zkconn.Conn, lockPath string) ([]messages.Contender, error) {
	if err := conn.CatchUp(lockPath); err != nil {
		return nil, err
	}
	q, err := readShown(conn, lockPath)
	return q.Contenders, err
}

type readQueue struct{ path string }

func (q readQueue) check() error { return zkconn.CheckPath(q.path) }

func (q readQueue) refuse(why messages.Refusal) any {
	return &messages.Queue{Refusal: why, Path: q.path}
}

func (q readQueue) run(conn *zkconn.Conn) (any, error) {
	contenders, err := Queue(conn, q.path)
	return &messages.Queue{Path: q.path, Contenders: contenders}, err
}

// followQueue is readQueue with a watch. The watch is set before the queue is read, so no change
// after the reading is missed.
type followQueue struct{ readQueue }

func (q followQueue) run(conn *zkconn.Conn) (any, error) {
	if err := watch(conn, q.path); err != nil {
		return nil, err
	}
	return q.readQueue.run(conn)
}

// watch watches the children of a lock path, or its creation where it does not exist.
func watch(conn *zkconn.Conn, lockPath string) error {
	for {
		_, err := conn.ChildrenWatched(lockPath)
		if !errors.Is(err, zkconn.ErrNoNode) {
			return err
		}
		if _, exists, err := conn.ExistsWatched(lockPath); err != nil || !exists {
			return err
		}
	}
}

// readShown reads the contenders of a lock path as our server shows them.
func readShown(conn *zkconn.Conn, lockPath string) (queue.LockPath, error) {
	stat, exists, err := conn.Exists(lockPath)
	switch {
	case err != nil || !exists:
		return queue.LockPath{}, err
	case ephemeral(stat):
		return readContest(conn, lockPath)
	}
	children, permits, err := readChildren(conn, lockPath)
	if errors.Is(err, zkconn.ErrNoNode) { // it has gone since
		return queue.LockPath{}, nil
	}
	if err != nil {
		return queue.LockPath{}, err
	}
	return describeAll(conn, lockPath, children, permits)
}

// readChildren lists a lock path, and reads the number of permits where there is a semaphore:
// before the queue, so that the queue is never older than the number by which it is judged. Without
// a recorded number nobody gets any permits.
func readChildren(conn *zkconn.Conn, lockPath string) (children []string, permits int, err error) {
	children, err = conn.Children(lockPath)
	if err != nil || !semaphore(children) {
		return children, 0, err
	}
	data, _, err := conn.Get(lockPath)
	if err != nil {
		return nil, 0, err
	}
	permits, _ = queue.ParsePermits(data)
	children, err = conn.Children(lockPath)
	return children, permits, err
}

// semaphore tells whether there are a semaphore's contenders among the children of a lock path.
func semaphore(children []string) bool {
	return slices.ContainsFunc(children, func(child string) bool {
		e, ok := queue.Parse(child)
		return ok && e.Mode == messages.Semaphore
	})
}

// describeAll reads the nodes of the contenders. Those that have gone since they were listed are
// left out, and the others are judged without them: new nodes come behind those that are left.
func describeAll(conn *zkconn.Conn, lockPath string, children []string, permits int) (queue.LockPath, error) {
	all := queue.Standings(children, permits)
	found := make([]messages.Contender, len(all))
	err := inParallel(len(all), func(i int) error {
		e := all[i].Entry
		c := messages.Contender{Path: lockPath, Node: e.Child, Mode: e.Mode, Name: e.Name, Sequence: e.Sequence, Weight: e.Weight}
		exists, err := describe(conn, &c, e.Naming)
		if exists {
			found[i] = c
		}
		return err
	})
	if err != nil {
		return queue.LockPath{}, err
	}
	found = slices.DeleteFunc(found, func(c messages.Contender) bool { return c.Node == "" })
	left := make([]string, len(found))
	for i, c := range found {
		left[i] = c.Node
	}
	for i, s := range queue.Standings(left, permits) {
		found[i].Holds, found[i].WaitsFor = s.Holds, s.WaitsFor
		found[i].MayHold = s.MayHold && found[i].Library != messages.LibraryTurnstile // whose locks respect all names
	}
	return queue.LockPath{Contenders: found, Permits: permits}, nil
}

// readContest describes the one node of a contest.
func readContest(conn *zkconn.Conn, lockPath string) (queue.LockPath, error) {
	c := messages.Contender{Path: lockPath, Node: path.Base(lockPath), Mode: messages.Contest, Holds: true}
	exists, err := describe(conn, &c, 0)
	if err != nil || !exists {
		return queue.LockPath{}, err
	}
	return queue.LockPath{Contenders: []messages.Contender{c}}, nil
}
