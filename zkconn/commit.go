package zkconn

import (
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

// NewNode describes an ephemeral sequential node that Commit makes.
type NewNode struct {
	// Parent is its parent.
	Parent string
	// Prefix is its name, before the server adds the sequence number.
	Prefix string
	// Data are its data.
	Data []byte
}

// Commit makes and deletes nodes in one transaction, all or none, if all nodes of exist are there.
// First it checks those, then come the deletes. Then come the creates of each parent in their
// order, so the nodes of one parent get consecutive sequence numbers. The Created are in the order of
// the creates. If there are creates, next is called as by CreateBefore. It may be nil.
//
// An error means that nothing was done, unless it is ErrUnknownOutcome. It says why the first part
// failed that did, and names its path.
func (c *Conn) Commit(creates []NewNode, deletes, exist []string, next func()) (made []Created, err error) {
	t, err := c.newTransaction(creates, deletes, exist)
	if err != nil {
		return nil, err
	}
	if first := t.firstCreate(); first != "" && next != nil {
		c.before(c.cfg.chroot+first, next, func() { made, err = c.commit(t) })
		return made, err
	}
	return c.commit(t)
}

func (c *Conn) commit(t *transaction) (made []Created, err error) {
	const op = commitOp
	if err := c.gate.enter(); err != nil {
		return nil, &Error{op, t.paths[0], err}
	}
	defer c.gate.leave()
	if err := t.checkSize(op, c.cfg); err != nil {
		return nil, err
	}
	first := c.cfg.chroot + t.firstCreate()
	want := c.wants.want(opCreate, first, nil)
	defer want.done()
	results, err := c.transact(t.parts...)
	if err != nil {
		at := t.paths[0]
		var refused *partError
		if errors.As(err, &refused) {
			at, err = t.paths[refused.part], refused.cause
		}
		return nil, c.failure(op, at, err)
	}
	var at int64
	if len(t.creates) > 0 {
		at, err = want.czxid(first)
	}
	if err == nil {
		made, err = t.read(results, at)
	}
	if err != nil {
		return nil, c.failure(op, t.paths[0], err)
	}
	return made, nil
}

// transaction is the request of Commit, and maps its answers to the nodes.
type transaction struct {
	parts   []any
	paths   []string // of each part
	creates []newChild
	parents []changedParent
}

// commitOp names Commit in errors.
const commitOp = "commit"

// newChild locates a create among the parts: its parent, and its place among the creates of that
// parent.
type newChild struct{ parent, place int }

// changedParent is a parent of new nodes: its creates are the parts from first on.
type changedParent struct {
	path           string
	first, creates int
}

// firstCreate is the path of the first part that makes a node, before the server adds the sequence number; empty for none.
func (t *transaction) firstCreate() string {
	if len(t.parents) == 0 {
		return ""
	}
	return t.paths[t.parents[0].first]
}

func (c *Conn) newTransaction(creates []NewNode, deletes, exist []string) (*transaction, error) {
	const op = commitOp
	if len(creates)+len(deletes) == 0 {
		return nil, &Error{op, "", fmt.Errorf("%w: nothing to do", ErrBadConfig)}
	}
	t := &transaction{}
	t.placeCreates(creates, len(exist)+len(deletes))
	size := len(exist) + len(deletes) + len(creates)
	t.parts, t.paths = make([]any, size), make([]string, size)
	checked, deleted := make([]zk.CheckVersionRequest, len(exist)), make([]zk.DeleteRequest, len(deletes))
	for i, path := range exist {
		if err := CheckPath(path); err != nil {
			return nil, &Error{op, path, err}
		}
		checked[i] = zk.CheckVersionRequest{Path: c.cfg.chroot + path, Version: -1}
		t.parts[i], t.paths[i] = &checked[i], path
	}
	for i, path := range deletes {
		if err := CheckPath(path); err != nil {
			return nil, &Error{op, path, err}
		}
		deleted[i] = zk.DeleteRequest{Path: c.cfg.chroot + path, Version: -1}
		t.parts[len(exist)+i], t.paths[len(exist)+i] = &deleted[i], path
	}
	if err := c.addCreates(t, creates); err != nil {
		return nil, err
	}
	return t, nil
}

// placeCreates gives each create its part: those of one parent are adjacent, from part first on.
func (t *transaction) placeCreates(creates []NewNode, first int) {
	t.creates = make([]newChild, len(creates))
	known := make(map[string]int, len(creates))
	for i, n := range creates {
		parent, found := known[n.Parent]
		if !found {
			parent = len(t.parents)
			known[n.Parent] = parent
			t.parents = append(t.parents, changedParent{path: n.Parent})
		}
		t.creates[i] = newChild{parent, t.parents[parent].creates}
		t.parents[parent].creates++
	}
	for i := range t.parents {
		t.parents[i].first = first
		first += t.parents[i].creates
	}
}

// addCreates adds the creates.
func (c *Conn) addCreates(t *transaction, creates []NewNode) error {
	const op = commitOp
	made := make([]zk.CreateRequest, len(creates))
	for i, n := range creates {
		path := n.Parent + "/" + n.Prefix
		if err := checkPrefix(n.Parent, n.Prefix); err != nil {
			return &Error{op, path, err}
		}
		if err := checkSize(op, path, n.Data); err != nil {
			return err
		}
		made[i] = zk.CreateRequest{Path: c.cfg.chroot + path, Data: n.Data, Acl: c.cfg.acl, Flags: zk.FlagEphemeralSequential}
		at := t.part(i)
		t.parts[at], t.paths[at] = &made[i], path
	}
	return nil
}

// part gives the part of a create.
func (t *transaction) part(create int) int {
	at := t.creates[create]
	return t.parents[at.parent].first + at.place
}

// checkSize refuses a transaction that a server would cut the connection for. Each part may be small enough by itself.
func (t *transaction) checkSize(op string, cfg Config) error {
	const fields = 32 // of a part, more or less
	acl, size := 0, 0
	for _, e := range cfg.acl {
		acl += 12 + len(e.Scheme) + len(e.ID)
	}
	for i, part := range t.parts {
		size += fields + len(cfg.chroot) + len(t.paths[i])
		switch part := part.(type) {
		case *zk.CreateRequest:
			size += acl + len(part.Data)
		case *zk.SetDataRequest:
			size += len(part.Data)
		}
	}
	if size > maxRequest {
		return &Error{op, t.paths[0], fmt.Errorf("%w: a transaction of %d bytes, the limit is %d", ErrTooLarge, size, maxRequest)}
	}
	return nil
}

// read finds the created nodes in the answers.
func (t *transaction) read(results []zk.MultiResponse, czxid int64) ([]Created, error) {
	made := make([]Created, len(t.creates))
	for i, child := range t.creates {
		name := results[t.part(i)].String
		if name == "" {
			return nil, errors.New("reply to a transaction has parts of other kinds")
		}
		made[i] = Created{Name: lastElement(name), Czxid: czxid, Place: child.place}
	}
	return made, nil
}
