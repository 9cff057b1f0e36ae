package embedded

import "strings"

// answer carries out a request that changes no data, from the replica's own tree.
func (c *conn) answer(xid int32, op Op, d *decoder) bool {
	if refused := c.refusedByLeader(); refused != codeOK {
		return c.refuse(xid, refused)
	}
	if op == OpPing {
		c.reply(-2, c.r.tree.zxid, codeOK, nil)
		return true
	}
	body, result := c.lookUp(op, d)
	if d.err != nil {
		body, result = nil, codeMarshalling
	}
	c.reply(xid, c.r.tree.zxid, result, body)
	return true
}

// sync is answered when everything committed before it is applied here. A leader that was cut off
// does not know of the next one, and answers from its own tree.
func (c *conn) sync(xid int32, d *decoder) bool {
	path := d.text()
	malformed := d.err != nil
	synced := func() bool { return c.synced(xid, path, malformed) }
	switch following := c.r.following(); {
	case !following && c.r.cut != deposed:
		c.park()
		return true
	case c.refusedByLeader() != codeOK:
		return c.refuse(xid, c.refusedByLeader())
	case len(c.waiting) == 0 && (!following || c.direct()):
		return synced()
	case !following:
		c.answered(c.await(), synced)
		return true
	}
	queued := c.await()
	c.r.toLeader(func() {
		answer := func() { c.r.fromLeader(func() { c.answered(queued, synced) }) }
		if len(c.e.intake) == 0 { // nothing is proposed that it would have to wait for
			answer()
			return
		}
		c.e.enter(answer)
	})
	return true
}

// refusedByLeader reports, at the leader, whether a connection's session is over or has gone to
// another replica. Followers find out by a write.
func (c *conn) refusedByLeader() code {
	if c.r != c.e.leader {
		return codeOK
	}
	return c.e.check(c.sessionID, c.r)
}

// refuse answers a read of a session that is over. A client whose session has moved is on another connection, so this
// one is closed without an answer.
func (c *conn) refuse(xid int32, refused code) bool {
	if refused == codeSessionMoved {
		return false
	}
	c.reply(xid, c.r.tree.zxid, refused, nil)
	return true
}

// synced answers a sync.
func (c *conn) synced(xid int32, path string, malformed bool) bool {
	c.r.catchUp()
	if malformed {
		c.reply(xid, c.r.tree.zxid, codeMarshalling, nil)
		return true
	}
	c.reply(xid, c.r.tree.zxid, codeOK, func(e *encoder) {
		if path == null {
			e.bytes(nil)
			return
		}
		e.text(path)
	})
	return true
}

// lookUp gives the writer of the reply's body.
func (c *conn) lookUp(op Op, d *decoder) (func(*encoder), code) {
	t := c.r.tree
	switch op {
	case OpExists:
		return c.exists(d.text(), d.bool(), d.err)
	case OpGetData:
		return c.getData(d.text(), d.bool(), d.err)
	case OpGetChildren, OpGetChildren2:
		return c.getChildren(op, d.text(), d.bool(), d.err)
	case OpGetACL:
		return c.getACL(d.text())
	case OpGetAllChildrenNumber:
		path := d.text()
		if _, refused := c.lookAt(path); refused != codeOK {
			return nil, refused
		}
		return func(e *encoder) { e.int32(t.countBelow(path)) }, codeOK
	case OpGetEphemerals:
		return c.getEphemerals(d.text()), codeOK
	case OpMultiRead:
		return c.multiRead(d)
	case OpWhoAmI:
		return c.whoAmI, codeOK
	case OpSetWatches, OpSetWatches2:
		return nil, c.setWatches(op, d)
	case OpAddWatch:
		return c.addWatch(d.text(), d.int32(), d.err)
	case OpRemoveWatches:
		return nil, c.removeWatches(d.text(), d.int32(), d.err)
	default: // OpCheckWatches
		return nil, c.checkWatches(d.text(), d.int32(), d.err)
	}
}

// lookAt finds a node that the connection may read.
func (c *conn) lookAt(path string) (*node, code) {
	if path == null {
		return nil, codeMarshalling
	}
	n := c.r.tree.nodes[path]
	if n == nil {
		return nil, codeNoNode
	}
	if !allowed(n.acl, permRead, c.who) {
		return nil, codeNoAuth
	}
	return n, codeOK
}

// exists needs READ on an existing node, and watches a missing one, too.
func (c *conn) exists(path string, watch bool, err error) (func(*encoder), code) {
	if err != nil || path == null {
		return nil, codeMarshalling
	}
	if strings.IndexByte(path, 0) >= 0 {
		return nil, codeBadArguments
	}
	n := c.r.tree.nodes[path]
	if n != nil && !allowed(n.acl, permRead, c.who) {
		return nil, codeNoAuth
	}
	if watch {
		c.r.tree.data.add(path, c, once)
	}
	if n == nil {
		return nil, codeNoNode
	}
	return func(e *encoder) { e.stat(n.seen()) }, codeOK
}

func (c *conn) getData(path string, watch bool, err error) (func(*encoder), code) {
	if err != nil {
		return nil, codeMarshalling
	}
	n, refused := c.lookAt(path)
	if refused != codeOK {
		return nil, refused
	}
	if watch {
		c.r.tree.data.add(path, c, once)
	}
	return func(e *encoder) {
		e.bytes(n.data)
		e.stat(n.seen())
	}, codeOK
}

func (c *conn) getChildren(op Op, path string, watch bool, err error) (func(*encoder), code) {
	if err != nil {
		return nil, codeMarshalling
	}
	n, refused := c.lookAt(path)
	if refused != codeOK {
		return nil, refused
	}
	if watch {
		c.r.tree.children.add(path, c, once)
	}
	return func(e *encoder) {
		e.texts(n.children.items)
		if op == OpGetChildren2 {
			e.stat(n.seen())
		}
	}, codeOK
}

// getACL answers clients that may read a node or change its list; only the latter see digests.
func (c *conn) getACL(path string) (func(*encoder), code) {
	if path == null {
		return nil, codeMarshalling
	}
	n := c.r.tree.nodes[path]
	if n == nil {
		return nil, codeNoNode
	}
	if !allowed(n.acl, permRead|permAdmin, c.who) {
		return nil, codeNoAuth
	}
	list := n.acl
	if !allowed(n.acl, permAdmin, c.who) {
		list = maskACL(list)
	}
	return func(e *encoder) {
		e.acl(list)
		e.stat(n.seen())
	}, codeOK
}

func (c *conn) getEphemerals(prefix string) func(*encoder) {
	all := prefix == null || strings.TrimSpace(prefix) == "" || strings.TrimSpace(prefix) == rootPath
	var found []string
	if owned := c.r.tree.ephemerals[c.sessionID]; owned != nil {
		for _, path := range owned.items {
			if all || strings.HasPrefix(path, prefix) {
				found = append(found, path)
			}
		}
	}
	return func(e *encoder) { e.texts(found) }
}

func (c *conn) whoAmI(e *encoder) {
	e.int32(int32(len(c.who)))
	for _, who := range c.who {
		user := who.id
		if who.scheme == "digest" { // the digest of the password stays private
			user, _, _ = strings.Cut(user, ":")
		}
		e.text(who.scheme)
		e.text(user)
	}
}

// multiRead answers every part, a refused one with its error.
func (c *conn) multiRead(d *decoder) (func(*encoder), code) {
	operations, form := readMulti(d)
	if form != whole {
		return nil, codeMarshalling
	}
	// ZooKeeper finds a part that it cannot carry out after it has begun the reply, and sends the
	// reply up to that part.
	result := codeOK
	for i, o := range operations {
		if !o.reads() || o.path == null {
			operations, result = operations[:i], codeMarshalling
			break
		}
	}
	return func(e *encoder) {
		for _, o := range operations {
			if len(e.buf) > c.out.most {
				return // a short request for one large node many times: the connection is closed for it
			}
			c.readPart(e, o)
		}
		e.multiHeader(opError, true, -1)
	}, result
}

func (c *conn) readPart(e *encoder, o operation) {
	n, refused := c.lookAt(o.path)
	switch {
	case refused != codeOK:
		e.multiHeader(opError, false, refused)
		e.int32(int32(refused))
	case o.op == OpGetData:
		e.multiHeader(OpGetData, false, codeOK)
		e.bytes(n.data)
		e.stat(n.seen())
	default:
		e.multiHeader(OpGetChildren, false, codeOK)
		e.texts(n.children.items)
	}
}
