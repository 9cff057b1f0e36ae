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
	// Prefix is the node's name, before the server adds the sequence number.
	Prefix string
	// Data are its data.
	Data []byte
}

// Commit makes and deletes nodes in one transaction, all or none, if all nodes of exist are there.
// It checks, deletes, and then creates, so the nodes of one parent get consecutive sequence numbers.
// The Created are in the order of creates. next, which may be nil, is called as by CreateBefore if
// there are creates.
//
// The error is that of the first part that failed, with its path. Nothing was done, unless it is
// ErrUnknownOutcome.
func (c *Conn) Commit(creates []NewNode, deletes, exist []string, next func()) (made []Created, err error) {
	t := &transaction{conn: c, op: "commit"}
	for _, path := range exist {
		t.check(anything, path, -1)
	}
	for _, path := range deletes {
		t.delete(path, -1)
	}
	made, places := make([]Created, len(creates)), make(map[string]int, len(creates))
	for i, n := range creates {
		t.create(n.Parent+"/"+n.Prefix, checkPrefix(n.Parent, n.Prefix), n.Data, c.cfg.acl, zk.FlagEphemeralSequential)
		made[i].Place = places[n.Parent]
		places[n.Parent]++
	}
	switch {
	case len(creates)+len(deletes) == 0:
		t.wrong = fmt.Errorf("%w: nothing to do", ErrBadConfig)
	case t.wrong == nil:
		t.path = t.paths[0]
	}
	send := func() { err = t.fill(made) }
	if len(creates) > 0 && next != nil {
		c.before(t.first, next, send)
	} else {
		send()
	}
	if err != nil {
		return nil, err
	}
	return made, nil
}

// fill commits the transaction, and completes what its last parts have made.
func (t *transaction) fill(made []Created) error {
	results, czxid, err := t.commit()
	if err != nil {
		return err
	}
	for i, result := range results[len(results)-len(made):] {
		if result.String == "" {
			return t.conn.failure(t.op, t.path, errors.New("reply to a transaction has parts of other kinds"))
		}
		made[i].Name, made[i].Czxid = lastElement(result.String), czxid
	}
	return nil
}
