package zkconn

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"
)

// NewNode describes an ephemeral sequential node that Commit makes.
type NewNode struct {
	// Parent is its parent.
	Parent string
	// Prefix is the node's name, before the server adds the sequence number.
	Prefix string
	// Data are its data.
	Data []byte
}

// Commit makes and deletes nodes in one transaction, all or none, if all nodes of exist are there.
// It checks, deletes, and then creates, parent by parent, so the nodes of one parent get
// consecutive sequence numbers. The Created are in the order of creates. next, which may be nil, is
// called as by CreateBefore if there are creates.
//
// The error is that of the first part that failed, with its path. Nothing was done, unless it is
// ErrUnknownOutcome.
func (c *Conn) Commit(creates []NewNode, deletes, exist []string, next func()) (made []Created, err error) {
	t, err := c.newBatch(creates, deletes, exist)
	if err != nil {
		return nil, err
	}
	if first := t.firstCreate(); first != "" && next != nil {
		c.before(t.at(first), next, func() { made, err = t.commit() })
		return made, err
	}
	return t.commit()
}

// batch is the transaction of Commit, and maps its answers to the nodes. Its creates are the last of its parts.
type batch struct {
	transaction
	creates []newChild
}

func (t *batch) commit() (made []Created, err error) {
	c := t.conn
	if err := c.gate.enter(); err != nil {
		return nil, &Error{t.op, t.path, err}
	}
	defer c.gate.leave()
	if err := t.checkSize(); err != nil {
		return nil, err
	}
	first := t.at(t.firstCreate())
	want := c.wants.want(opCreate, first, nil)
	defer want.done()
	results, err := c.transact(&t.transaction)
	if err != nil {
		return nil, err
	}
	var at int64
	if len(t.creates) > 0 {
		at, err = want.czxid(first)
	}
	if err == nil {
		made, err = t.read(results, at)
	}
	if err != nil {
		return nil, c.failure(t.op, t.path, err)
	}
	return made, nil
}

// newChild says which node a part creates, and its place among the creates of its parent.
type newChild struct{ node, place int }

// firstCreate is the path of the first create, without the sequence number; empty for none.
func (t *batch) firstCreate() string {
	if len(t.creates) == 0 {
		return ""
	}
	return t.paths[len(t.paths)-len(t.creates)]
}

func (c *Conn) newBatch(creates []NewNode, deletes, exist []string) (*batch, error) {
	t := &batch{transaction{conn: c, op: "commit"}, placed(creates)}
	if len(creates)+len(deletes) == 0 {
		return nil, &Error{t.op, "", fmt.Errorf("%w: nothing to do", ErrBadConfig)}
	}
	for _, path := range slices.Concat(exist, deletes) {
		if err := CheckPath(path); err != nil {
			return nil, &Error{t.op, path, err}
		}
	}
	for _, path := range exist {
		t.check(anything, path, -1)
	}
	for _, path := range deletes {
		t.delete(path, -1)
	}
	for _, child := range t.creates {
		n := creates[child.node]
		path := n.Parent + "/" + n.Prefix
		if err := checkPrefix(n.Parent, n.Prefix); err != nil {
			return nil, &Error{t.op, path, err}
		}
		if err := checkSize(t.op, path, n.Data); err != nil {
			return nil, err
		}
		t.create(path, n.Data, c.cfg.acl, zk.FlagEphemeralSequential)
	}
	t.path = t.paths[0]
	return t, nil
}

// placed gives the creates in the order in which they go out: parent by parent.
func placed(creates []NewNode) []newChild {
	all := make([]newChild, 0, len(creates))
	first, places := make(map[string]int, len(creates)), make([]int, len(creates))
	for i, n := range creates {
		at, known := first[n.Parent]
		if !known {
			at = i
			first[n.Parent] = i
		}
		all = append(all, newChild{i, places[at]})
		places[at]++
	}
	slices.SortStableFunc(all, func(a, b newChild) int {
		return cmp.Compare(first[creates[a.node].Parent], first[creates[b.node].Parent])
	})
	return all
}

// checkSize refuses a transaction for which a server would cut the connection.
func (t *transaction) checkSize() error {
	const fields = 32 // of a part, more or less
	acl, size := 0, 0
	for _, e := range t.conn.cfg.acl {
		acl += 12 + len(e.Scheme) + len(e.ID)
	}
	for i, part := range t.parts {
		size += fields + len(t.at(t.paths[i]))
		switch part := part.(type) {
		case *zk.CreateRequest:
			size += acl + len(part.Data)
		case *zk.SetDataRequest:
			size += len(part.Data)
		}
	}
	if size > maxRequest {
		return &Error{t.op, t.path, fmt.Errorf("%w: a transaction of %d bytes, the limit is %d", ErrTooLarge, size, maxRequest)}
	}
	return nil
}

// read finds the created nodes in the answers.
func (t *batch) read(results []zk.MultiResponse, czxid int64) ([]Created, error) {
	made := make([]Created, len(t.creates))
	for i, result := range results[len(results)-len(t.creates):] {
		if result.String == "" {
			return nil, errors.New("reply to a transaction has parts of other kinds")
		}
		made[t.creates[i].node] = Created{Name: lastElement(result.String), Czxid: czxid, Place: t.creates[i].place}
	}
	return made, nil
}
