package embedded

import (
	"math"
	"strings"
)

// tree is one replica's copy of the data, with the watches of the connections to that replica. It
// applies transactions unchecked: they were checked when they were made.
type tree struct {
	nodes      map[string]*node
	ephemerals map[int64]*set[string]
	reapable   set[string] // containers and nodes with a time to live
	zxid       int64       // of the newest transaction applied
	bytes      int64       // of paths and data, roughly
	data       watches
	children   watches
}

func newTree() *tree {
	t := &tree{nodes: map[string]*node{}, ephemerals: map[int64]*set[string]{}, data: newWatches(), children: newWatches()}
	root := &node{data: []byte{}, acl: openACL}
	t.nodes[rootPath] = root
	t.nodes[""] = root // so that cutting "/a" at its last slash finds the parent
	t.bytes = int64(len(rootPath))
	t.plant(systemPath, openACL)
	t.plant(quotaPath, openACL)
	t.plant(configPath, readACL)
	t.nodes[configPath].stat.aversion = -1
	return t
}

// plant adds a node that is there from the beginning, which counts as no create.
func (t *tree) plant(path string, acl []access) {
	parent, name, _ := splitPath(path)
	t.nodes[parent].children.add(name)
	t.nodes[path] = &node{data: []byte{}, acl: acl}
	t.bytes += int64(len(path))
}

// result is the outcome of a transaction, or of one part of it.
type result struct {
	op   Op
	code code
	path string
	stat *stat
}

// apply carries out a transaction and fires the watches that it touches. The results are one for each part.
func (t *tree) apply(x *txn) []result {
	var results []result
	switch x.op {
	case OpCloseSession:
		for _, path := range x.paths {
			t.delete(path, x.zxid)
		}
		delete(t.ephemerals, x.session)
	case OpMulti:
		results = make([]result, 0, len(x.parts))
		for i := range x.parts {
			results = append(results, t.applyPart(x, &x.parts[i]))
		}
	case OpCreateSession, opError:
	default:
		results = []result{t.applyPart(x, &x.parts[0])}
	}
	t.zxid = x.zxid
	return results
}

func (t *tree) applyPart(x *txn, p *part) result {
	r := result{op: p.op, code: p.code, path: p.path}
	switch p.op {
	case OpCreate, OpCreate2, OpCreateTTL, OpCreateContainer:
		made := t.create(x, p)
		if p.op != OpCreate {
			r.stat = made.seen()
		}
	case OpDelete, OpDeleteContainer:
		t.delete(p.path, x.zxid)
	case OpSetData:
		r.stat = t.setData(x, p)
	case OpSetACL:
		n := t.nodes[p.path]
		n.acl, n.stat.aversion = p.acl, p.version
		r.stat = n.seen()
	}
	return r
}

func (t *tree) create(x *txn, p *part) *node {
	parentPath, name, _ := splitPath(p.path)
	parent := t.nodes[parentPath]
	// A counter that has run over sticks: the greater one wins, as in ZooKeeper.
	if p.parentCversion > parent.stat.cversion {
		parent.stat.cversion = p.parentCversion
		parent.stat.pzxid = x.zxid
	}
	made := &node{data: p.data, acl: p.acl}
	made.stat = stat{czxid: x.zxid, mzxid: x.zxid, pzxid: x.zxid, ctime: x.time, mtime: x.time, owner: p.owner}
	parent.children.add(name)
	t.nodes[p.path] = made
	t.bytes += int64(len(p.path) + len(p.data))
	switch life(p.owner) {
	case container, timed:
		t.reapable.add(p.path)
	case ephemeral:
		owned := t.ephemerals[p.owner]
		if owned == nil {
			owned = &set[string]{}
			t.ephemerals[p.owner] = owned
		}
		owned.add(p.path)
	}
	t.data.trigger(p.path, nodeCreated, x.zxid, p.acl, nil)
	t.children.trigger(shown(parentPath), nodeChildrenChanged, x.zxid, parent.acl, nil)
	return made
}

func (t *tree) delete(path string, zxid int64) {
	gone := t.nodes[path]
	if gone == nil {
		return
	}
	parentPath, name, _ := splitPath(path)
	parent := t.nodes[parentPath]
	parent.children.remove(name)
	parent.stat.pzxid = max(parent.stat.pzxid, zxid)
	delete(t.nodes, path)
	t.bytes -= int64(len(path) + len(gone.data))
	switch life(gone.stat.owner) {
	case container, timed:
		t.reapable.remove(path)
	case ephemeral:
		t.ephemerals[gone.stat.owner].remove(path)
	}
	told := t.data.trigger(path, nodeDeleted, zxid, gone.acl, nil)
	t.children.trigger(path, nodeDeleted, zxid, gone.acl, told)
	t.children.trigger(shown(parentPath), nodeChildrenChanged, zxid, parent.acl, nil)
}

func (t *tree) setData(x *txn, p *part) *stat {
	n := t.nodes[p.path]
	t.bytes += int64(len(p.data) - len(n.data))
	n.data = p.data
	n.stat.mtime, n.stat.mzxid, n.stat.version = x.time, x.zxid, p.version
	s := n.seen()
	t.data.trigger(p.path, nodeDataChanged, x.zxid, n.acl, nil)
	return s
}

// countBelow counts the nodes below a path; for the root all but itself.
func (t *tree) countBelow(path string) int32 {
	if path == rootPath {
		return int32(len(t.nodes) - 2) // the root has two names
	}
	n := int32(0)
	for name := range t.nodes {
		if strings.HasPrefix(name, path+"/") {
			n++
		}
	}
	return n
}

// clone copies the data, and no watches.
func (t *tree) clone() *tree {
	twin := newTree()
	twin.zxid, twin.bytes = t.zxid, t.bytes
	for path, n := range t.nodes {
		same := &node{data: n.data, acl: n.acl, stat: n.stat}
		for _, child := range n.children.items {
			same.children.add(child)
		}
		twin.nodes[path] = same
	}
	twin.nodes[""] = twin.nodes[rootPath]
	for id, owned := range t.ephemerals {
		theirs := &set[string]{}
		for _, path := range owned.items {
			theirs.add(path)
		}
		twin.ephemerals[id] = theirs
	}
	for _, path := range t.reapable.items {
		twin.reapable.add(path)
	}
	return twin
}

// stat is a node's Stat, as it goes over the wire. Times are milliseconds since 1970.
type stat struct {
	czxid, mzxid, pzxid int64
	ctime, mtime        int64
	version             int32
	cversion            int32
	aversion            int32
	owner               int64
	dataLength          int32
	numChildren         int32
}

// node is one znode in one replica's tree. Its stat's cversion counts the creates below it.
// Sequence numbers and the cversion that clients see are made from it.
type node struct {
	data     []byte
	acl      []access
	stat     stat
	children set[string]
}

// seen is the node's stat as clients see it. For every create there was a delete, but for the children
// that are still there.
func (n *node) seen() *stat {
	s := n.stat
	s.dataLength = int32(len(n.data))
	s.numChildren = int32(n.children.len())
	s.cversion = n.stat.cversion*2 - s.numChildren
	if life(s.owner) != ephemeral {
		s.owner = 0
	}
	return &s
}

// lifetime says which event ends a node.
type lifetime int

const (
	persistent lifetime = iota
	ephemeral           // the end of its session
	container           // its last child's deletion
	timed               // its time to live, while it has no children
)

const (
	containerOwner = math.MinInt64
	ttlMask        = -0x100000000000000 // 0xff00000000000000
	maxTTL         = 0xffffffffff       // milliseconds
)

// life reads a node's lifetime from its owner field, where ZooKeeper keeps all of them.
func life(owner int64) lifetime {
	switch {
	case owner == 0:
		return persistent
	case owner == containerOwner:
		return container
	case owner&ttlMask == ttlMask:
		return timed
	default:
		return ephemeral
	}
}

// createMode is the kind of node that the flags of a create name.
type createMode struct {
	sequential bool
	life       lifetime
}

var createModes = [...]createMode{
	0: {false, persistent},
	1: {false, ephemeral},
	2: {true, persistent},
	3: {true, ephemeral},
	4: {false, container},
	5: {false, timed},
	6: {true, timed},
}

func modeOf(flags int32) (createMode, bool) {
	if flags < 0 || int(flags) >= len(createModes) {
		return createMode{}, false
	}
	return createModes[flags], true
}

// noReplica is the asker where no client has asked: the leader has ended the session.
const noReplica = -1

// txn is one transaction: a decision of the leader, which every replica applies.
type txn struct {
	op      Op // opError when it was refused; even that takes a zxid
	zxid    int64
	time    int64 // milliseconds since 1970
	session int64
	asker   int      // of OpCloseSession: the number of the replica whose client has asked for it, or noReplica
	code    code     // of opError, and of a multi that was refused
	parts   []part   // of a multi all of them, otherwise one
	paths   []string // of OpCloseSession: the ephemeral nodes that end with it
}

// refusal gives the code of a refused transaction, or of the refused part of a multi; codeOK for a
// transaction that was carried out.
func (x *txn) refusal() code {
	if x.op == opError || x.op == OpMulti {
		return x.code
	}
	return codeOK
}

// part is one change, or one check, of a transaction. In a multi that failed every part is opError,
// with the code for its place in the reply.
type part struct {
	op             Op
	code           code
	path           string
	data           []byte
	acl            []access
	owner          int64
	version        int32 // the new one
	parentCversion int32
}
