package coordinator

import (
	"fmt"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// tree is the servers' data: enough to answer every query of a coordinator.
type tree struct {
	nodes   map[string]*znode // by path
	numbers map[string]int    // of the children made so far, by path
	zxid    int64
	// watched and listed are the paths whose node, or children, are watched; events are on their way.
	watched, listed map[string]bool
	events          []Changed
	// deletes is told before a session deletes a node.
	deletes func(path string, czxid int64)
}

// znode is a node. Its owner is the number of an epoch, zero for another session.
type znode struct {
	owner   uint64
	czxid   int64
	version int32
	data    string
}

func newTree() *tree {
	return &tree{nodes: map[string]*znode{}, numbers: map[string]int{},
		watched: map[string]bool{}, listed: map[string]bool{}}
}

var noNode = Failure{Outcome: Refused, Cause: NoNode}

// childrenOf lists the nodes of a path, in the order of their names.
func (s *tree) childrenOf(parent string) (names []string) {
	for path := range s.nodes {
		if of, name := split(path); of == parent {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (s *tree) tell(path string, change Change) {
	if s.watched[path] {
		delete(s.watched, path)
		s.events = append(s.events, Changed{path, change})
	}
}

func (s *tree) childrenChanged(path string) {
	if s.listed[path] {
		delete(s.listed, path)
		s.events = append(s.events, Changed{path, ChildrenChanged})
	}
}

// put makes a node.
func (s *tree) put(path string, owner uint64, data string) {
	s.nodes[path] = &znode{owner: owner, czxid: s.zxid, data: data}
	parent, _ := split(path)
	s.childrenChanged(parent)
}

// remove deletes a node; false where it does not exist.
func (s *tree) remove(path string) bool {
	if s.nodes[path] == nil {
		return false
	}
	delete(s.nodes, path)
	s.tell(path, NodeDeleted)
	parent, _ := split(path)
	s.childrenChanged(parent)
	return true
}

// removeOwn deletes a node for its session.
func (s *tree) removeOwn(path string) bool {
	if n := s.nodes[path]; n != nil && s.deletes != nil {
		s.deletes(path, n.czxid)
	}
	return s.remove(path)
}

// lostGuard reports whether somebody has deleted the guard of a contest's node.
func (s *tree) lostGuard(path string) bool {
	parent, _ := split(path)
	_, guarded := queue.GuardedBy(s.nodes[path].data)
	return guarded && s.nodes[parent+"/"+s.nodes[path].data] == nil
}

// write replaces the data of a node.
func (s *tree) write(path, data string) {
	if n := s.nodes[path]; n != nil {
		n.data = data
		n.version++
		s.tell(path, DataChanged)
	}
}

// contend makes a contender's node.
func (s *tree) contend(sp *Spec, guid string, owner uint64) string {
	number := s.numbers[sp.Path]
	s.numbers[sp.Path]++
	name := nameOf(sp.Style, guid, number)
	s.put(sp.At(name), owner, guid)
	return name
}

// do carries out a query of a session.
func (s *tree) do(query Query, epoch uint64) Answer {
	s.zxid++
	switch q := query.(type) {
	case *Create:
		return s.create(q, epoch)
	case *CreateAt:
		if s.nodes[q.Spec.At(q.Beside)] == nil {
			return &Created{Failure: noNode, Info: Info{Exists: true}}
		}
		if s.nodes[q.Spec.At(q.Name)] != nil {
			return &Created{Failure: Failure{Outcome: Refused, Cause: NodeExists}}
		}
		s.put(q.Spec.At(q.Name), epoch, q.Spec.ID)
		return &Created{Node: Made{Name: q.Name, Czxid: s.zxid, First: true}}
	case *Commit:
		return s.commit(q, epoch)
	case *List:
		return &Listed{View{Queue: queue.NewListing(s.childrenOf(q.Path), q.Permits), Permits: q.Permits}}
	case *WatchChildren:
		s.listed[q.Path] = true
		return &Listed{View{Queue: queue.NewListing(s.childrenOf(q.Path), 0)}}
	case *Watch:
		return s.read(q.Path, epoch)
	case *ReadOwn:
		if n := s.nodes[q.Path]; n != nil && q.Announce {
			s.write(q.Path, n.data)
		}
		return s.read(q.Path, epoch)
	case *WatchContention:
		s.listed[q.Path] = true
		read := s.read(q.Path+"/"+q.Node, epoch)
		return &Contention{Alone: queue.NewListing(s.childrenOf(q.Path), 0).Alone(q.Node),
			Spent: !read.Failure.none() || string(read.Data) == "unlock"}
	case *Look:
		return s.look(q)
	case *RemoveContest:
		n, guard := s.nodes[q.Path], s.nodes[q.Guard]
		if guard != nil {
			s.remove(q.Guard)
		}
		if n == nil || n.czxid != q.Czxid && (guard == nil || guard.czxid != n.czxid) {
			return &Ack{noNode}
		}
		s.removeOwn(q.Path)
		return &Ack{}
	case *Check:
		if s.nodes[q.Path] == nil {
			return &Ack{noNode}
		}
		return &Ack{}
	}
	panic(fmt.Sprintf("%T", query))
}

func (s *tree) create(q *Create, epoch uint64) Answer {
	sp := q.Spec
	if sp.One != "" {
		if s.nodes[sp.At(sp.One)] != nil {
			return &Created{Failure: Failure{Outcome: Refused, Cause: NodeExists}}
		}
		s.put(sp.At(sp.One), epoch, sp.Guard(q.GUID))
		s.put(sp.At(sp.Guard(q.GUID)), epoch, "")
		return &Created{Node: Made{Name: sp.One, Czxid: s.zxid, First: true}}
	}
	name := s.contend(sp, q.GUID, epoch)
	return &Created{Node: Made{Name: name, Czxid: s.zxid, Early: s.early(sp, q.List)},
		Info: Info{Exists: true, Permits: sp.Permits > 0}}
}

// early gives the listing behind a create.
func (s *tree) early(sp *Spec, list bool) *View {
	if !list {
		return nil
	}
	return &View{Queue: queue.NewListing(s.childrenOf(sp.Path), sp.Permits), Permits: sp.Permits}
}

func (s *tree) commit(q *Commit, epoch uint64) Answer {
	for _, path := range slices.Concat(q.Exist, q.Deletes) {
		if s.nodes[path] == nil {
			return &Committed{Failure: Failure{Outcome: Refused, Cause: NoNode, Path: path}}
		}
	}
	a := &Committed{}
	for _, n := range q.Creates {
		a.Made = append(a.Made, Made{Name: s.contend(n.Spec, n.GUID, epoch), Czxid: s.zxid, Place: n.Place})
	}
	for _, path := range q.Deletes {
		s.removeOwn(path)
	}
	for i, n := range q.Creates {
		a.Made[i].Early = s.early(n.Spec, n.List)
	}
	return a
}

func (s *tree) read(path string, epoch uint64) *Read {
	n := s.nodes[path]
	if n == nil {
		return &Read{Failure: noNode}
	}
	s.watched[path] = true
	return &Read{Data: []byte(n.data), Version: n.version, Czxid: n.czxid}
}

// look reads the nodes of an epoch. A guard without its node has no czxid. A node without its guard has data that name it.
func (s *tree) look(q *Look) Answer {
	a := &Looked{}
	for _, name := range s.childrenOf(q.Path) {
		ours, sought := q.Finds(name)
		n := Seen{Name: name}
		if sought {
			n.Czxid = s.nodes[q.Path+"/"+name].czxid
		}
		if one, guards := queue.GuardedBy(name); guards && (s.nodes[q.Path+"/"+one] == nil || s.nodes[q.Path+"/"+one].czxid != n.Czxid) {
			n.Czxid = 0
		}
		if ours {
			a.Nodes = append(a.Nodes, n)
		}
	}
	for _, guard := range q.Guards {
		one, _ := queue.GuardedBy(guard)
		if n := s.nodes[q.Path+"/"+one]; n != nil && n.data == guard && s.nodes[q.Path+"/"+guard] == nil {
			a.Nodes = append(a.Nodes, Seen{guard, n.czxid})
		}
	}
	return a
}

// expire removes the nodes of an epoch.
func (s *tree) expire(epoch uint64) {
	for path, n := range s.nodes {
		if n.owner == epoch {
			s.remove(path)
		}
	}
}

// other is a contender of another session.
var other = NewSpec(&messages.Acquire{Path: "/a"}, "other", "", noTime)
