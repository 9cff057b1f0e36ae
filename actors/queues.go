package actors

import (
	"errors"
	"math"
	"path"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// readQueueTask looks into one lock path.
type readQueueTask struct{ messages.ReadQueue }

func (t readQueueTask) check() error { return zkconn.CheckPath(t.Path) }

func (t readQueueTask) refuse(why messages.Refusal) any {
	return &messages.Queue{Refusal: why, Path: t.Path}
}

func (t readQueueTask) answer(conn *zkconn.Conn) (any, error) {
	q, err := readContenders(conn, t.Path)
	return &messages.Queue{Path: t.Path, Contenders: q.Contenders}, err
}

// readContenders reads all that there is to say of the contenders of a lock path, as it is now or later. There are
// none where it does not exist.
func readContenders(conn *zkconn.Conn, lockPath string) (queue.LockPath, error) {
	if err := catchUp(conn, lockPath); err != nil {
		return queue.LockPath{}, err
	}
	return readSeen(conn, lockPath)
}

// catchUp returns when our server shows all that was there when it was called. It commits a transaction that changes
// nothing, for which it does not matter whether the node exists or what is allowed. A sync is not enough: a leader
// answers its own clients' at once, and may have told a follower of a change, and that one its client, before it has
// made the change itself (seen: a node that was deleted with success, after a sync). Neither is a refusal that a server
// gives by itself: that one is returned.
func catchUp(conn *zkconn.Conn, path string) error {
	if _, err := conn.Heartbeat(path); err != nil && !zkconn.CommittedRefusal(err) {
		return err
	}
	return nil
}

// readSeen is readContenders for what our server shows.
func readSeen(conn *zkconn.Conn, lockPath string) (queue.LockPath, error) {
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

// readChildren lists a lock path, and reads the number of permits where there is a semaphore: before the queue, so
// that the queue is never older than what it is judged by. Where none is recorded nobody gets any.
func readChildren(conn *zkconn.Conn, lockPath string) (children []string, permits int, err error) {
	children, err = conn.Children(lockPath)
	if err != nil || !semaphore(children) {
		return children, 0, err
	}
	data, _, err := conn.Get(lockPath)
	if err != nil {
		return nil, 0, err
	}
	permits, _ = parsePermits(data)
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

// describeAll reads the nodes of the contenders. Who has gone since they were listed is left out: nobody can
// have come in before those that are left.
func describeAll(conn *zkconn.Conn, lockPath string, children []string, permits int) (queue.LockPath, error) {
	all := queue.Standings(children, permits)
	found := make([]*messages.Contender, len(all))
	err := inParallel(len(all), func(i int) (err error) {
		found[i], err = describe(conn, lockPath, all[i].Entry)
		return err
	})
	if err != nil {
		return queue.LockPath{}, err
	}
	by := map[string]*messages.Contender{}
	var left []string
	for i, c := range found {
		if c != nil {
			by[all[i].Child] = c
			left = append(left, all[i].Child)
		}
	}
	q := queue.LockPath{Permits: permits}
	for _, s := range queue.Standings(left, permits) {
		c := by[s.Child]
		c.Holds, c.WaitsFor = s.Holds, s.WaitsFor
		q.Contenders = append(q.Contenders, *c)
	}
	return q, nil
}

// describe reads one contender's node; nil where it is gone.
func describe(conn *zkconn.Conn, lockPath string, e queue.Entry) (*messages.Contender, error) {
	c := &messages.Contender{Path: lockPath, Node: e.Child, Mode: e.Mode, Name: e.Name, Sequence: e.Sequence,
		Weight: e.Weight}
	data, exists, err := read(conn, c)
	if err != nil || !exists {
		return nil, err
	}
	c.Library = libraryOf(e, data, !c.Unread)
	return c, nil
}

// readContest describes the one node of a contest.
func readContest(conn *zkconn.Conn, lockPath string) (queue.LockPath, error) {
	c := messages.Contender{Path: lockPath, Node: path.Base(lockPath), Mode: messages.Contest, Holds: true}
	data, exists, err := read(conn, &c)
	if err != nil || !exists {
		return queue.LockPath{}, err
	}
	if _, ours := parseOwner(data); ours || c.Asked {
		c.Library = messages.LibraryTurnstile
	}
	return queue.LockPath{Contenders: []messages.Contender{c}}, nil
}

// read reads a contender's node: its data, and what they and the stat say. What may not be read is said less of.
func read(conn *zkconn.Conn, c *messages.Contender) (data []byte, exists bool, err error) {
	data, stat, err := conn.Get(c.At())
	if errors.Is(err, zkconn.ErrNoAuth) {
		c.Unread = true
		stat, exists, err = conn.Exists(c.At())
		if err != nil || !exists {
			return nil, exists, err
		}
	}
	if errors.Is(err, zkconn.ErrNoNode) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	c.Session, c.Since = stat.EphemeralOwner, stat.Ctime
	c.Asked = asksForLock(data)
	o, ours := parseOwner(data)
	c.Token, _ = messages.NewToken(stat.Czxid, o.Place) // zero where it does not fit, as Contender says
	if ours {
		c.Host, c.PID, c.Actor, c.Owner, c.Caller, c.Label = o.Host, o.PID, o.Actor, o.Owner, o.Caller, o.Label
		c.Who, c.Detects = o.Waits(), o.Detects
		if !o.Since.IsZero() {
			c.Since = o.Since
		}
	}
	return data, true, nil
}

// ephemeral tells whether a node goes with a session. Servers show container nodes and those with a time to live
// by values in the same field that are no session's.
func ephemeral(stat zkconn.Stat) bool {
	const timeToLive = 0xff
	owner := stat.EphemeralOwner
	return owner != 0 && owner != math.MinInt64 && uint64(owner)>>56 != timeToLive
}
