package actors

import (
	"slices"

	"github.com/turnstile-locks/turnstile/actors/machine"
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
	found, err := findDeadlocks(conn, t.Root)
	return &messages.DeadlocksFound{Root: t.Root, Deadlocks: found}, err
}

// findDeadlocks reads every queue below a root that has waiters; and when there seems to be a deadlock, once more.
//
// The queues are read one after the other, so that one reading may show a circle that was never there: one wait was
// over before another began. What counts is therefore what both readings show: who waits with the same node, for
// nodes that are the same. All of that was so from the first time it was read to the second, and so all of it
// together at the moment between the two readings, at our server. How far that one is behind the others changes
// nothing: a deadlock stays.
func findDeadlocks(conn *zkconn.Conn, root string) ([]messages.Deadlock, error) {
	w := walk{conn: conn, most: mostNodes}
	if err := w.run(root); err != nil {
		return nil, err
	}
	var paths []string
	for _, l := range w.found {
		if !l.contest && slices.ContainsFunc(machine.Standings(l.children, l.permits), waits) {
			paths = append(paths, l.path)
		}
	}
	slices.Sort(paths)
	first, err := readAll(conn, paths)
	if err != nil || len(machine.Deadlocks(first)) == 0 {
		return nil, err
	}
	second, err := readAll(conn, paths)
	if err != nil {
		return nil, err
	}
	for i := range first {
		first[i] = stayed(first[i], second[i])
	}
	return machine.Deadlocks(first), nil
}

func waits(s machine.Standing) bool { return !s.Holds }

// readAll reads the queues of lock paths, one after the other: each is read in parallel.
func readAll(conn *zkconn.Conn, paths []string) ([]machine.Queues, error) {
	all := make([]machine.Queues, len(paths))
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
func stayed(first, second machine.Queues) machine.Queues {
	type node struct {
		name  string
		token messages.Token
	}
	later := map[node]messages.Contender{}
	for _, c := range second.Contenders {
		later[node{c.Node, c.Token}] = c
	}
	both := machine.Queues{Permits: max(first.Permits, second.Permits)}
	for _, c := range first.Contenders {
		if now, there := later[node{c.Node, c.Token}]; there {
			c.Holds = c.Holds || now.Holds
			both.Contenders = append(both.Contenders, c)
		}
	}
	return both
}
