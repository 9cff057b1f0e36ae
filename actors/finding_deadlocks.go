package actors

import (
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// findDeadlocksTask looks for deadlocks below a root.
type findDeadlocksTask struct{ messages.FindDeadlocks }

func (t findDeadlocksTask) check() error { return checkRoot(t.Root) }

func (t findDeadlocksTask) refuse(why messages.Refusal) any {
	return &messages.DeadlocksFound{Refusal: why, Root: t.Root}
}

func (t findDeadlocksTask) answer(conn *zkconn.Conn) (any, error) {
	if err := catchUp(conn, anywhere(t.Root)); err != nil {
		return nil, err
	}
	return suspectDeadlocks(conn, t.Root, t)
}

func (t findDeadlocksTask) found(all []messages.Deadlock) any {
	return &messages.DeadlocksFound{Root: t.Root, Deadlocks: all}
}

// deadlockTask is a question that is answered by the deadlocks below a root.
type deadlockTask interface {
	task
	found(all []messages.Deadlock) any
}

// secondLook is how long after the first the second reading of the queues is begun: so long has the
// session of a retained node to hear that somebody has come, and to delete it. That takes an event
// and a write, less than 100 ms where servers are a continent apart. A deadlock is broken that much
// later.
const secondLook = 250 * time.Millisecond

// suspectDeadlocks reads every queue below a root that has waiters; and when there seems to be a
// deadlock, has it looked for once more in a while.
//
// The queues are read one after the other, so that one reading may show a circle that was never there: one wait was
// over before another began. What counts is therefore what both readings show: who waits with the same node, for
// nodes that are the same. All of that was so from the first time it was read to the second, and so all of it
// together at the moment between the two readings, at our server. How far that one is behind the others changes
// nothing: a deadlock stays.
//
// Nodes do not say whether they are retained: a node that nobody holds keeps others out, and names
// somebody who may stand still elsewhere. What nobody holds does not stay, though, when somebody
// waits for it: its session deletes it as soon as it hears of that. Of its own nodes the session
// that looks knows it (see amend); those of others have until the second reading. A session that
// does not hear of anything for longer, cut off or paused, may still look like a member.
func suspectDeadlocks(conn *zkconn.Conn, root string, t deadlockTask) (any, error) {
	w := walk{conn: conn, most: mostNodes}
	if err := w.run(root); err != nil {
		return nil, err
	}
	var paths []string
	for _, l := range w.found {
		if !l.contest && slices.ContainsFunc(queue.Standings(l.children, l.permits), waits) {
			paths = append(paths, l.path)
		}
	}
	slices.Sort(paths)
	first, err := readAll(conn, paths)
	if err != nil {
		return nil, err
	}
	if len(queue.Deadlocks(first)) == 0 {
		return t.found(nil), nil
	}
	return &deadlockAgain{deadlockTask: t, paths: paths, first: first, read: time.Now()}, nil
}

// deadlockAgain is a question of which the first reading has shown a deadlock.
type deadlockAgain struct {
	deadlockTask
	paths []string
	first []queue.LockPath
	read  time.Time
}

// in is how long the second reading has to wait.
func (t *deadlockAgain) in() time.Duration { return time.Until(t.read.Add(secondLook)) }

func (t *deadlockAgain) answer(conn *zkconn.Conn) (any, error) {
	if t.in() > 0 { // it was asked for at once, because the session is another
		return t, nil
	}
	second, err := readAll(conn, t.paths)
	if err != nil {
		return nil, err
	}
	both := make([]queue.LockPath, len(second))
	for i := range second {
		both[i] = stayed(t.first[i], second[i])
	}
	return &deadlocks{queue.Deadlocks(both), t}, nil
}

// deadlocks are those that both readings have shown.
type deadlocks struct {
	all []messages.Deadlock
	of  deadlockTask
}

// amend gives the answer without the deadlocks that this session knows to be none: a node of its
// own that keeps others out was given back, or is being deleted.
func (d *deadlocks) amend(s *session) any {
	return d.of.found(slices.DeleteFunc(d.all, func(d messages.Deadlock) bool {
		return slices.ContainsFunc(d.Members, func(m messages.Member) bool { return s.letsGo(m.Keeps) || s.letsGo(m.Waits) })
	}))
}

// letsGo tells whether a node is one of this session with which nobody holds or waits any more.
func (s *session) letsGo(node messages.Contender) bool {
	if node.Session != s.lease.session {
		return false
	}
	for _, c := range s.contenders {
		if c.node == node.Node && c.path == node.Path && !c.gone && !c.laid && !c.leaves && !c.settling {
			return false
		}
	}
	return true
}

func waits(s queue.Standing) bool { return !s.Holds }

// readAll reads the queues of lock paths, one after the other: each is read in parallel.
func readAll(conn *zkconn.Conn, paths []string) ([]queue.LockPath, error) {
	all := make([]queue.LockPath, len(paths))
	for i, path := range paths {
		q, err := readSeen(conn, path)
		if err != nil && again(err) {
			return nil, err
		}
		if err == nil { // what may not be read is passed over
			all[i] = q
		}
	}
	return all, nil
}

// stayed gives who is in both readings of a lock path; waiting, who waits in both.
func stayed(first, second queue.LockPath) queue.LockPath {
	type node struct {
		name  string
		token messages.Token
	}
	later := map[node]messages.Contender{}
	for _, c := range second.Contenders {
		later[node{c.Node, c.Token}] = c
	}
	both := queue.LockPath{Permits: max(first.Permits, second.Permits)}
	for _, c := range first.Contenders {
		if now, there := later[node{c.Node, c.Token}]; there {
			c.Holds = c.Holds || now.Holds
			both.Contenders = append(both.Contenders, c)
		}
	}
	return both
}
