package coordinator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
		s.put(q.Spec.At(q.Name), epoch, q.Spec.GUID)
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
	case *Whose:
		if n := s.nodes[q.Path]; n != nil {
			return &Read{Ours: n.owner == epoch, Czxid: n.czxid}
		}
		return &Read{}
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
	case *Find:
		return s.find(q, epoch)
	case *FindOrphans:
		return s.findOrphans(q, epoch)
	case *RemoveContest:
		if n := s.nodes[q.Path]; n != nil && n.czxid == q.Czxid {
			s.removeOwn(q.Path)
			return &Ack{}
		}
		return &Ack{noNode}
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
			return &Created{Existing: s.one(sp, epoch), Failure: Failure{Outcome: Refused, Cause: NodeExists}}
		}
		s.put(sp.At(sp.One), epoch, sp.GUID)
		return &Created{Node: Made{Name: sp.One, Czxid: s.zxid, First: true}}
	}
	name := s.contend(sp, sp.GUID, epoch)
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
		a.Made = append(a.Made, Made{Name: s.contend(n.Spec, n.Spec.GUID, epoch), Czxid: s.zxid, Place: n.Place})
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
	return &Read{Data: []byte(n.data), Ours: n.owner == epoch, Version: n.version, Czxid: n.czxid}
}

// one reads the node of a contest.
func (s *tree) one(sp *Spec, epoch uint64) *OneNode {
	n := s.nodes[sp.At(sp.One)]
	if n == nil {
		return nil
	}
	return &OneNode{Ours: n.owner == epoch, Czxid: n.czxid, GUID: strings.TrimPrefix(n.data, "unlock")}
}

func (s *tree) find(q *Find, epoch uint64) Answer {
	if q.Spec.One != "" {
		return &Found{One: s.one(q.Spec, epoch)}
	}
	if q.Known != "" {
		if s.nodes[q.Spec.At(q.Known)] == nil {
			return &Found{}
		}
		return &Found{Name: q.Known}
	}
	a := &Found{}
	for _, name := range s.childrenOf(q.Spec.Path) {
		n := s.nodes[q.Spec.At(name)]
		switch {
		case n.owner != epoch || !strings.Contains(name, q.GUID+"-"):
		case a.Name == "" && !slices.Contains(q.Not, name):
			a.Name, a.Czxid = name, n.czxid
		default:
			a.Removed = append(a.Removed, name)
			s.removeOwn(q.Spec.At(name))
		}
	}
	return a
}

func (s *tree) findOrphans(q *FindOrphans, epoch uint64) Answer {
	a := &OrphansFound{}
	if one := s.one(q.Spec, epoch); q.Spec.One != "" {
		if one != nil && one.Ours && (one.GUID == "" || slices.Contains(q.GUIDs, one.GUID)) {
			a.Nodes = append(a.Nodes, FoundOrphan{Name: q.Spec.One, GUID: cmp.Or(one.GUID, q.GUIDs[0]), Guard: one.Guard, Czxid: one.Czxid})
		}
		return a
	}
	for _, name := range s.childrenOf(q.Spec.Path) {
		for _, guid := range q.GUIDs {
			if n := s.nodes[q.Spec.At(name)]; n.owner == epoch && strings.Contains(name, guid+"-") {
				a.Nodes = append(a.Nodes, FoundOrphan{Name: name, GUID: guid, Czxid: n.czxid})
			}
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
