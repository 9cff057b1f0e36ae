package inspect

import (
	"errors"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Queue reads the contenders of a lock path, with everything that was committed before the call:
// see locks.Client.Queue.
func Queue(conn *zkconn.Conn, lockPath string) ([]messages.Contender, error) {
	q, err := read(conn, messages.ReadQueue{Path: lockPath}, false)
	return q.Contenders, err
}

func read(conn *zkconn.Conn, m messages.ReadQueue, watched bool) (queue.LockPath, error) {
	if err := conn.CatchUp(m.Path); err != nil {
		return queue.LockPath{}, err
	}
	if m.PermitsOnly {
		permits, err := readPermits(conn, m.Path)
		return queue.LockPath{Permits: permits}, err
	}
	return readShown(conn, m.Path, watched)
}

// readPermits gives the number at a lock path; zero where there is none.
func readPermits(conn *zkconn.Conn, lockPath string) (int, error) {
	data, _, err := conn.Get(lockPath)
	switch {
	case errors.Is(err, zkconn.ErrNoNode), err == nil && len(data) == 0:
		return 0, nil
	case err != nil:
		return 0, err
	}
	return queue.ParsePermits(data)
}

func readQueue(m messages.ReadQueue, watched bool) query {
	return query{wrong: zkconn.CheckPath(m.Path), refused: &messages.Queue{Path: m.Path},
		run: func(conn *zkconn.Conn, _ calls) (any, error) {
			q, err := read(conn, m, watched)
			return &messages.Queue{Path: m.Path, Contenders: q.Contenders, Permits: q.Permits}, err
		},
		finish: func(s *Session, shown any) any { return nameHolders(s, shown.(*messages.Queue)) },
	}
}

// followQueue is readQueue after a watch, so that no later change is missed. The node of a Mutex's
// holder, who may lead, is watched, too.
func followQueue(m messages.Follow) query {
	q := readQueue(messages.ReadQueue(m), true)
	run := q.run
	q.run = func(conn *zkconn.Conn, own calls) (any, error) {
		if err := watch(conn, m); err != nil {
			return nil, err
		}
		return run(conn, own)
	}
	return q
}

func nameHolders(s *Session, shown *messages.Queue) *messages.Queue {
	has, _ := calls(s.Calls(shown.Path)).byNode()
	for i, c := range shown.Contenders {
		if k, known := has[c.At()]; known && c.Session == k.Session {
			shown.Contenders[i] = named(c, k, "")
		}
	}
	return shown
}

// watch watches the children of a lock path, and its data where they are permits, or its creation
// where it does not exist.
func watch(conn *zkconn.Conn, m messages.Follow) error {
	for {
		var err error
		var children []string
		if !m.PermitsOnly {
			children, err = conn.ChildrenWatched(m.Path)
		}
		if err == nil && (m.PermitsOnly || semaphore(children)) {
			_, _, err = conn.GetWatched(m.Path)
		}
		if !errors.Is(err, zkconn.ErrNoNode) {
			return err
		}
		if _, exists, err := conn.ExistsWatched(m.Path); err != nil || !exists {
			return err
		}
	}
}

func readShown(conn *zkconn.Conn, lockPath string, watched bool) (queue.LockPath, error) {
	stat, exists, err := conn.Exists(lockPath)
	switch {
	case err != nil || !exists:
		return queue.LockPath{}, err
	case ephemeral(stat):
		return readContest(conn, lockPath)
	}
	children, permits, err := readChildren(conn, lockPath)
	if errors.Is(err, zkconn.ErrNoNode) {
		return queue.LockPath{}, nil
	}
	if err != nil {
		return queue.LockPath{}, err
	}
	return describeAll(conn, lockPath, children, permits, watched)
}

// readChildren lists a lock path, and then reads a semaphore's number of permits, as its contenders
// do. Without a number nobody gets any permits.
func readChildren(conn *zkconn.Conn, lockPath string) (children []string, permits int, err error) {
	children, err = conn.Children(lockPath)
	if err == nil && semaphore(children) {
		permits, err = readPermits(conn, lockPath)
	}
	if errors.Is(err, queue.ErrNoPermits) {
		err = nil
	}
	return children, permits, err
}

func semaphore(children []string) bool {
	return slices.ContainsFunc(children, func(child string) bool {
		e, ok := queue.Parse(child)
		return ok && e.Mode == messages.Semaphore
	})
}

// describeAll reads the contenders' nodes. Those that have gone since the listing are left out.
func describeAll(conn *zkconn.Conn, lockPath string, children []string, permits int, watched bool) (queue.LockPath, error) {
	all := queue.Standings(children, permits)
	found := make([]messages.Contender, len(all))
	err := inParallel(len(all), func(i int) error {
		e := all[i].Entry
		c := messages.Contender{Path: lockPath, Node: e.Child, Mode: e.Mode, Name: e.Name, Sequence: e.Sequence, Weight: e.Weight}
		read := conn.Get
		if watched && all[i].Holds && e.Mode == messages.Exclusive {
			read = conn.GetWatched
		}
		exists, err := describe(conn, &c, e.Naming, read)
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
		if !found[i].Holds {
			found[i].Holds, found[i].WaitsFor = s.Holds, s.WaitsFor
		}
		found[i].MayHold = s.MayHold && found[i].Library != messages.LibraryTurnstile // whose locks respect all names
	}
	return queue.LockPath{Contenders: found, Permits: permits}, nil
}

func readContest(conn *zkconn.Conn, lockPath string) (queue.LockPath, error) {
	c := messages.Contender{Path: lockPath, Node: path.Base(lockPath), Mode: messages.Contest, Holds: true}
	exists, err := describe(conn, &c, 0, conn.Get)
	if err != nil || !exists {
		return queue.LockPath{}, err
	}
	return queue.LockPath{Contenders: []messages.Contender{c}}, nil
}

// describe completes a contender from its node's data and their stat; false when the node is gone.
// Since 3.8.4 and 3.9.2 (ZOOKEEPER-2590) servers keep the stat of a node that may not be read to
// themselves.
func describe(conn *zkconn.Conn, c *messages.Contender, naming messages.Naming,
	get func(path string) ([]byte, zkconn.Stat, error)) (exists bool, err error) {
	data, stat, err := get(c.At())
	if errors.Is(err, zkconn.ErrNoAuth) {
		c.Unread = true
		stat, exists, err = conn.Exists(c.At())
		if errors.Is(err, zkconn.ErrNoAuth) {
			c.Library = libraryOf(c, naming, nil, false)
			return true, nil
		}
		if err != nil || !exists {
			return false, err
		}
	}
	if errors.Is(err, zkconn.ErrNoNode) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c.Session, c.Since = stat.EphemeralOwner, stat.Ctime
	Describe(c, naming, data, stat.Czxid)
	// A semaphore's holder writes to its node when it comes in. It holds also where the number of
	// permits was made smaller since. Who asks for the permits writes there, too, also to a waiter's.
	written := stat.Version > 1 || stat.Version == 1 && !c.Asked
	c.Holds = c.Holds || c.Mode == messages.Semaphore && written
	return true, nil
}

// Describe completes a contender from its node's data and czxid.
func Describe(c *messages.Contender, naming messages.Naming, data []byte, czxid int64) {
	c.Asked = queue.IsRevokeRequest(data)
	o, ours := queue.ParseOwner(data)
	c.Token, _ = messages.NewToken(czxid, o.Place) // zero where it does not fit, as Contender says
	if c.Library = libraryOf(c, naming, data, ours); c.Session == 0 && czxid != 0 {
		c.Library = messages.LibraryNone
	}
	if ours {
		o.Describe(c)
	}
}

// ephemeral reports whether a node ends with a session. Containers and nodes with a time to live
// have other values in the same field.
func ephemeral(stat zkconn.Stat) bool {
	const timeToLive = 0xff
	owner := stat.EphemeralOwner
	return owner != 0 && owner != math.MinInt64 && uint64(owner)>>56 != timeToLive
}

// A protected node's name is _c_, a GUID, a dash and more. Curator writes the GUID with dashes,
// go-zookeeper without.
const (
	protected = "_c_"
	uuidForm  = len("00000000-0000-0000-0000-000000000000")
	hexForm   = len("00000000000000000000000000000000")
)

// libraryOf guesses a node's library from its name and its data, which are missing if Unread.
func libraryOf(c *messages.Contender, naming messages.Naming, data []byte, ours bool) messages.Library {
	rest, isProtected := strings.CutPrefix(c.Node, protected)
	switch {
	case ours:
		return messages.LibraryTurnstile
	case c.Mode == messages.Contest && c.Asked: // nobody else's nodes are asked there
		return messages.LibraryTurnstile
	case c.Mode == messages.Contest:
		return messages.LibraryUnknown
	case isProtected && guidOf(rest, hexForm) && !strings.Contains(rest[:hexForm], "-"):
		return messages.LibraryGoZookeeper
	case isProtected && (c.Mode == messages.Semaphore || c.Name != ""):
		return messages.LibraryTurnstile // nobody else has such names
	case isProtected && !guidOf(rest, uuidForm), isProtected && c.Unread:
		return messages.LibraryUnknown
	case isProtected && string(data) == queue.RevokeRequest: // the data before it are lost
		return messages.LibraryTurnstile
	case isProtected:
		return messages.LibraryCurator
	case naming == messages.KazooNaming:
		return messages.LibraryKazoo
	}
	return messages.LibraryRecipe
}

func guidOf(rest string, length int) bool {
	if len(rest) <= length || rest[length] != '-' {
		return false
	}
	return strings.Trim(rest[:length], "0123456789abcdefABCDEF-") == ""
}
