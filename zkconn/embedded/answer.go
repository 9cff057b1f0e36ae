package embedded

import "strings"

// answer carries out a request that changes no data, from the replica's own tree.
func (c *conn) answer(s *session, xid int32, op Op, d *decoder) bool {
	if c.r == c.e.leader && (s == nil || s.at != nil && s.at != c.r) {
		return false // the leader knows that the session has moved; the others find out by a write
	}
	switch op {
	case OpPing:
		c.reply(-2, c.r.tree.zxid, codeOK, nil)
		return true
	case OpSync:
		return c.sync(xid, d)
	}
	body, result := c.lookUp(op, d)
	if d.err != nil {
		body, result = nil, codeMarshalling
	}
	if result != codeOK {
		body = nil
	}
	c.reply(xid, c.r.tree.zxid, result, body)
	return true
}

// sync is answered when everything committed before it is applied here. A leader that was cut off does not
// know that there is another, and answers from what it has.
func (c *conn) sync(xid int32, d *decoder) bool {
	path, null := d.text()
	malformed := d.err != nil
	if !c.r.following() && !c.r.deposed {
		c.parked = true
		return true
	}
	c.r.catchUp()
	if malformed {
		c.reply(xid, c.r.tree.zxid, codeMarshalling, nil)
		return true
	}
	c.reply(xid, c.r.tree.zxid, codeOK, func(e *encoder) {
		if null {
			e.bytes(nil)
			return
		}
		e.text(path)
	})
	return true
}

// lookUp gives what is to be written after the reply's header.
func (c *conn) lookUp(op Op, d *decoder) (func(*encoder), code) {
	t := c.r.tree
	switch op {
	case OpExists:
		return c.exists(d.path(), d.bool(), d.err)
	case OpGetData:
		return c.getData(d.path(), d.bool(), d.err)
	case OpGetChildren, OpGetChildren2:
		return c.getChildren(op, d.path(), d.bool(), d.err)
	case OpGetACL:
		return c.getACL(d.path())
	case OpGetAllChildrenNumber:
		path := d.path()
		if _, refused := c.readable(path); refused != codeOK {
			return nil, refused
		}
		return func(e *encoder) { e.int32(t.countBelow(path)) }, codeOK
	case OpGetEphemerals:
		prefix, null := d.text()
		return c.getEphemerals(prefix, null), codeOK
	case OpMultiRead:
		return c.multiRead(d)
	case OpWhoAmI:
		return c.whoAmI, codeOK
	case OpSetWatches, OpSetWatches2:
		return nil, c.setWatches(op, d)
	case OpAddWatch:
		return c.addWatch(d.path(), d.int32(), d.err)
	case OpRemoveWatches:
		return nil, c.removeWatches(d.path(), d.int32(), d.err)
	default: // OpCheckWatches
		return nil, c.checkWatches(d.path(), d.int32(), d.err)
	}
}

// readable finds a node that the connection may read.
func (c *conn) readable(path string) (*node, code) {
	n := c.r.tree.nodes[path]
	if n == nil {
		return nil, codeNoNode
	}
	if !allowed(n.acl, permRead, c.who) {
		return nil, codeNoAuth
	}
	return n, codeOK
}

// exists asks for no permission, and watches also what is not there.
func (c *conn) exists(path string, watch bool, err error) (func(*encoder), code) {
	if err != nil {
		return nil, codeMarshalling
	}
	if strings.IndexByte(path, 0) >= 0 {
		return nil, codeBadArguments
	}
	if watch {
		c.r.tree.data.add(path, c, once)
	}
	n := c.r.tree.nodes[path]
	if n == nil {
		return nil, codeNoNode
	}
	return func(e *encoder) { e.stat(n.seen()) }, codeOK
}

func (c *conn) getData(path string, watch bool, err error) (func(*encoder), code) {
	if err != nil {
		return nil, codeMarshalling
	}
	n, refused := c.readable(path)
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
	n, refused := c.readable(path)
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

// getACL is for those who may read a node or change its list; only the latter see digests.
func (c *conn) getACL(path string) (func(*encoder), code) {
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

func (c *conn) getEphemerals(prefix string, null bool) func(*encoder) {
	all := null || strings.TrimSpace(prefix) == "" || strings.TrimSpace(prefix) == rootPath
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
		user, _, _ := strings.Cut(who.id, ":")
		e.text(who.scheme)
		e.text(user)
	}
}

// multiRead answers every part, those that are refused with their errors.
func (c *conn) multiRead(d *decoder) (func(*encoder), code) {
	type asked struct {
		op   Op
		path string
	}
	var all []asked
	for {
		op, done := Op(d.int32()), d.bool()
		d.int32()
		if done || d.err != nil {
			break
		}
		if op != OpGetData && op != OpGetChildren {
			return nil, codeMarshalling
		}
		all = append(all, asked{op, d.path()})
		d.bool() // a watch; 3.8.0 sets none here
	}
	if d.err != nil {
		return nil, codeMarshalling
	}
	return func(e *encoder) {
		for _, a := range all {
			n, refused := c.readable(a.path)
			switch {
			case refused != codeOK:
				e.multiHeader(opError, false, refused)
				e.int32(int32(refused))
			case a.op == OpGetData:
				e.multiHeader(OpGetData, false, codeOK)
				e.bytes(n.data)
				e.stat(n.seen())
			default:
				e.multiHeader(OpGetChildren, false, codeOK)
				e.texts(n.children.items)
			}
		}
		e.multiHeader(opError, true, -1)
	}, codeOK
}
