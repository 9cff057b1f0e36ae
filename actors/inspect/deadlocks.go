package inspect

import (
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// secondLook is the time between the two readings, in which a holder that gives back can delete its
// node: a write, less than 100 ms where servers are a continent apart.
const secondLook = 250 * time.Millisecond

// settledLook is secondLook for a possible deadlock. A process that passes locks on among its
// workers shows one again and again.
const settledLook = 1250 * time.Millisecond

// Deadlocks finds the contenders below a root that wait for each other in a circle, across locks,
// sessions and processes. The root may be "/". Nodes that this client may not read are passed over.
// A seeming deadlock takes 250 ms longer.
//
// One reading may show a circle that was never there. A holds /x, and B waits for it; B holds /y.
// The search reads /x. Then A gives /x back and waits for /y, and the search reads /y: B seems to
// wait for A, and A for B. So the queues are read twice, and a circle counts when both show the
// same waits: then all lasted from the end of the first reading to the begin of the second.
//
// A node that several calls may have names none of them, so its owner is believed not to be
// blocked. Only their session knows more: see Session.Calls. For the most circles see
// queue.Deadlocks.
func Deadlocks(conn *zkconn.Conn, root string) ([]messages.Deadlock, error) {
	found, err := findAmong(conn, root, nil, false, rest)
	return found.sure, err
}

// PossibleDeadlocks is Deadlocks that also gives possible ones: see queue.PossibleDeadlocks. A
// seeming one takes 1.25 s longer.
func PossibleDeadlocks(conn *zkconn.Conn, root string) (sure, possible []messages.Deadlock, err error) {
	found, err := findAmong(conn, root, nil, true, rest)
	return found.sure, found.possible, err
}

type findings struct{ sure, possible []messages.Deadlock }

func findIn(read []queue.LockPath, possible bool) (f findings) {
	f.sure = queue.Deadlocks(read)
	if possible {
		f.possible = queue.PossibleDeadlocks(read)
	}
	return f
}

// rest waits between the two readings. It ends early with the connection: the second reading says
// why.
func rest(conn *zkconn.Conn, d time.Duration) {
	select {
	case <-time.After(d):
	case <-conn.Done():
	}
}

func findAmong(
	conn *zkconn.Conn, root string, own calls, possible bool, rest func(*zkconn.Conn, time.Duration),
) (findings, error) {
	paths, err := contested(conn, root)
	if err != nil {
		return findings{}, err
	}
	paths = own.contested(paths)
	first, err := readAll(conn, paths)
	if err != nil {
		return findings{}, err
	}
	seeming := findIn(own.addTo(first), possible)
	if len(seeming.sure)+len(seeming.possible) == 0 {
		return findings{}, nil
	}
	look := secondLook
	if len(seeming.possible) > 0 {
		look = settledLook
	}
	rest(conn, look)
	both, err := readAll(conn, paths)
	if err != nil {
		return findings{}, err
	}
	for i, second := range both {
		both[i] = stayed(first[i], second)
	}
	return findIn(own.addTo(both), possible), nil
}

// DeadlockProbe asks whether a waiting contender has to give up: it is the youngest, of those that
// look, in a deadlock. DeadlockProbed answers it.
type DeadlockProbe struct {
	// Root is the path below which to look.
	Root string
	// Node is the contender's node, with its path, or the ID of a call without one.
	Node string
}

// DeadlockProbed answers DeadlockProbe.
type DeadlockProbed struct {
	Node string
	// Deadlock is the one to give up for; nil for none, and when the probe failed.
	Deadlock *messages.Deadlock
}

// IgnoreDeadLetterLogging keeps it out of the log: the request may have ended meanwhile.
func (*DeadlockProbed) IgnoreDeadLetterLogging() {}

func (m DeadlockProbe) answer(all findings) any {
	for _, d := range all.sure {
		c, some := d.Youngest()
		if some && (c.HasNode() && c.At() == m.Node || !c.HasNode() && c.ID == m.Node) {
			return &DeadlockProbed{Node: m.Node, Deadlock: &d}
		}
	}
	return &DeadlockProbed{Node: m.Node}
}

func findDeadlocks(root string, possible bool, answer func(findings) any) query {
	return query{wrong: CheckRoot(root), root: root,
		run: func(conn *zkconn.Conn, own calls) (any, error) { return findAmong(conn, root, own, possible, rest) },
		finish: func(s *Session, all any) any {
			found, resolved := all.(findings), s.resolved(root)
			return answer(findings{slices.DeleteFunc(found.sure, resolved), slices.DeleteFunc(found.possible, resolved)})
		},
	}
}

// resolved tells deadlocks with an unused member, whose node is being deleted, or a call of this
// session that has changed since it was looked at.
func (s *Session) resolved(root string) func(messages.Deadlock) bool {
	now := calls(s.Calls(root))
	gone := func(c messages.Contender) bool { return c.HasNode() && s.Unused(c) || !now.isUnchanged(c) }
	return func(d messages.Deadlock) bool {
		return slices.ContainsFunc(d.Members, func(m messages.Member) bool { return gone(m.Keeps) || gone(m.Waits) })
	}
}

func contested(conn *zkconn.Conn, root string) (paths []string, err error) {
	w, err := walkFrom(conn, root)
	for _, l := range w.found {
		if !l.contest && slices.ContainsFunc(queue.Standings(l.children, l.permits), isWaiting) {
			paths = append(paths, l.path)
		}
	}
	slices.Sort(paths)
	return paths, err
}

func isWaiting(s queue.Standing) bool { return !s.Holds }

func readAll(conn *zkconn.Conn, paths []string) ([]queue.LockPath, error) {
	all := make([]queue.LockPath, len(paths))
	for i, path := range paths {
		q, err := readShown(conn, path, false)
		if err != nil && retriable(err) {
			return nil, err
		}
		if err == nil { // a lock path that may not be read is passed over
			all[i] = q
		}
	}
	return all, nil
}

// stayed gives the contenders of both readings, as far as both agree.
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
			if c.Who != now.Who { // written again: nobody knows who had it in between
				c.Who = ""
			}
			both.Contenders = append(both.Contenders, c)
		}
	}
	return both
}

type calls []messages.Contender

func (own calls) contested(paths []string) []string {
	for _, k := range own {
		if !k.HasNode() {
			paths = append(paths, k.Path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

func (own calls) byNode() (has map[string]messages.Contender, waiting map[string][]messages.Contender) {
	has, waiting = map[string]messages.Contender{}, map[string][]messages.Contender{}
	for _, k := range own {
		if k.HasNode() {
			has[k.At()] = k
			continue
		}
		behind := k
		behind.Node = k.WaitsFor[0]
		waiting[behind.At()] = append(waiting[behind.At()], k)
	}
	return has, waiting
}

func (own calls) addTo(read []queue.LockPath) []queue.LockPath {
	has, waiting := own.byNode()
	all := slices.Clone(read)
	for i := range all {
		all[i].Contenders, all[i].Waiting = slices.Clone(all[i].Contenders), map[string][]messages.Contender{}
		for at, c := range all[i].Contenders {
			if k, known := has[c.At()]; known {
				all[i].Contenders[at] = named(c, k, k.ID)
				all[i].Waiting[c.Node] = waiting[c.At()]
			}
		}
	}
	return all
}

func named(c, has messages.Contender, id string) messages.Contender {
	if c.Host == "" { // else the node's is newer: a leader may have changed it
		c.Label = has.Label
	}
	c.Library, c.Host, c.PID, c.Actor = has.Library, has.Host, has.PID, has.Actor
	c.Owner, c.Caller, c.Since = has.Owner, has.Caller, has.Since
	c.Who, c.Detects, c.ID = has.Who, has.Detects, id
	return c
}

// isUnchanged reports whether a call still has its node, or waits behind the same one. Other
// members were in both readings.
func (own calls) isUnchanged(c messages.Contender) bool {
	return c.ID == "" || slices.ContainsFunc(own, func(k messages.Contender) bool {
		return k.ID == c.ID && k.Node == c.Node && (c.HasNode() || slices.Equal(k.WaitsFor, c.WaitsFor))
	})
}
