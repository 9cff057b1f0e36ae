package zkconn

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
)

// NewNode is an ephemeral sequential node that is to be made, as CreateCounted makes it.
type NewNode struct {
	// Parent is its parent, whose data are empty and may be written.
	Parent string
	// Prefix is its name, before the server adds the sequence number.
	Prefix string
	// Data are its data.
	Data []byte
}

// Commit makes and deletes nodes, all or none, in one transaction, if all of some others
// exist: first it looks for those, then come the deletes, then the creates of each parent in the order in which they are
// given, so that those of one parent get sequence numbers that follow each other, and at its end one write of nothing to
// each parent, which tells the czxid of its creates and the number of its children. The Created are in the order of the
// creates.
//
// An error means that nothing was done, unless it is ErrUnknownOutcome; it is that of the first part that failed, and
// names its path. sent is the time just before the request was handed over.
func (c *Conn) Commit(creates []NewNode, deletes, exist []string) (made []Created, sent time.Time, err error) {
	const op = "commit"
	t, err := c.newTransaction(op, creates, deletes, exist)
	if err != nil {
		return nil, time.Time{}, err
	}
	if err := c.gate.enter(); err != nil {
		return nil, time.Time{}, &Error{op, t.paths[0], err}
	}
	defer c.gate.leave()
	if err := t.checkSize(op, c.cfg); err != nil {
		return nil, time.Time{}, err
	}
	sent = time.Now()
	results, err := c.transact(t.parts...)
	if err != nil {
		at := t.paths[0]
		var refused *partError
		if errors.As(err, &refused) {
			at, err = t.paths[refused.part], refused.cause
		}
		return nil, sent, c.failure(op, at, err)
	}
	made, err = t.read(results)
	if err != nil {
		return nil, sent, c.failure(op, t.paths[0], err)
	}
	for i := range made {
		made[i].Sent = sent
	}
	return made, sent, nil
}

// transaction is what Commit sends, and where the answers are to be found.
type transaction struct {
	parts   []any
	paths   []string // of each part
	creates []int    // the part of each create
	places  []int    // among the creates of its parent
	writes  map[string]int
	counts  map[string]int
	parents []string // of each create
}

func (c *Conn) newTransaction(op string, creates []NewNode, deletes, exist []string) (*transaction, error) {
	if len(creates)+len(deletes) == 0 {
		return nil, &Error{op, "", fmt.Errorf("%w: nothing to do", ErrBadConfig)}
	}
	t := &transaction{writes: map[string]int{}, counts: map[string]int{}, creates: make([]int, len(creates)),
		places: make([]int, len(creates)), parents: make([]string, len(creates))}
	for _, path := range exist {
		if err := CheckPath(path); err != nil {
			return nil, &Error{op, path, err}
		}
		t.add(path, &zk.CheckVersionRequest{Path: c.cfg.chroot + path, Version: -1})
	}
	for _, path := range deletes {
		if err := CheckPath(path); err != nil {
			return nil, &Error{op, path, err}
		}
		t.add(path, &zk.DeleteRequest{Path: c.cfg.chroot + path, Version: -1})
	}
	byParent := map[string][]int{}
	var order []string
	for i, n := range creates {
		path := n.Parent + "/" + n.Prefix
		if err := checkPrefix(n.Parent, n.Prefix); err != nil {
			return nil, &Error{op, path, err}
		}
		if err := checkSize(op, path, n.Data); err != nil {
			return nil, err
		}
		if byParent[n.Parent] == nil {
			order = append(order, n.Parent)
		}
		byParent[n.Parent] = append(byParent[n.Parent], i)
	}
	for _, parent := range order {
		for place, i := range byParent[parent] {
			n := creates[i]
			t.creates[i], t.places[i], t.parents[i] = len(t.parts), place, parent
			t.add(parent+"/"+n.Prefix, &zk.CreateRequest{Path: c.cfg.chroot + parent + "/" + n.Prefix, Data: n.Data,
				Acl: c.cfg.acl, Flags: zk.FlagEphemeralSequential})
		}
		t.counts[parent] = len(byParent[parent])
		t.writes[parent] = len(t.parts)
		t.add(parent, &zk.SetDataRequest{Path: c.cfg.chroot + parent, Data: []byte{}, Version: -1})
	}
	return t, nil
}

func (t *transaction) add(path string, part any) {
	t.parts, t.paths = append(t.parts, part), append(t.paths, path)
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

// read finds what was made in the answers.
func (t *transaction) read(results []zk.MultiResponse) ([]Created, error) {
	made := make([]Created, len(t.creates))
	for i, part := range t.creates {
		parent := t.parents[i]
		stat := results[t.writes[parent]].Stat
		if stat == nil || results[part].String == "" {
			return nil, errors.New("reply to a transaction has parts of other kinds")
		}
		made[i] = Created{Name: lastElement(results[part].String), Czxid: stat.Mzxid, Siblings: stat.NumChildren,
			Place: t.places[i], Together: t.counts[parent]}
	}
	return made, nil
}
