package embedded

import "math"

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

// node is one znode in one replica's tree. Its stat's cversion counts the creates below it, which is what
// sequence numbers are made of; what clients see is made from that.
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

// lifetime is what ends a node.
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

// createMode is what the flags of a create ask for.
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
