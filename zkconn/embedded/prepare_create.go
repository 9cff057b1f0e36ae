package embedded

import "fmt"

// creation is the record of a create, of any kind.
type creation struct {
	path  string
	data  []byte
	acl   []access
	flags int32
	ttl   int64 // milliseconds; -1 for the kinds that carry none
	err   error
}

func readCreate(op Op, d *decoder) creation {
	c := creation{path: d.text(), data: d.data(), acl: d.acl(), flags: d.int32(), ttl: -1}
	if op == OpCreateTTL {
		c.ttl = d.int64()
	}
	c.err = d.err
	return c
}

func (p *preparation) create(op Op, c creation) (part, code) {
	if c.err != nil {
		return part{}, codeMarshalling
	}
	mode, ok := modeOf(c.flags)
	if !ok || !validTTL(mode, c.ttl) {
		return part{}, codeBadArguments
	}
	if p.standing != codeOK {
		return part{}, p.standing
	}
	if c.path == null {
		return part{}, codeMarshalling
	}
	parentPath, _, ok := splitPath(c.path)
	if !ok {
		return part{}, codeBadArguments
	}
	acl, refused := fixACL(c.acl, p.who, p.sasl)
	if refused != codeOK {
		return part{}, refused
	}
	parent, ok := p.record(parentPath)
	switch {
	case !ok:
		return part{}, codeNoNode
	case !allowed(parent.acl, permCreate, p.who):
		return part{}, codeNoAuth
	}
	path := c.path
	if mode.sequential {
		path += fmt.Sprintf("%010d", parent.stat.cversion)
	}
	if !validPath(path) {
		return part{}, codeBadArguments
	}
	if _, exists := p.record(path); exists {
		return part{}, codeNodeExists
	}
	if life(parent.stat.owner) == ephemeral {
		return part{}, codeNoChildrenEphemeral
	}
	if op == OpCreateTTL && mode.life != timed {
		return part{}, codeBadArguments // where 3.8.0 stops its server
	}
	return p.created(op, mode, parentPath, parent, part{op: op, path: path, data: c.data, acl: acl}, c.ttl), codeOK
}

// validTTL refuses a time to live that is missing, out of range, or given to a node that takes none.
func validTTL(mode createMode, ttl int64) bool {
	if mode.life == timed {
		return ttl > 0 && ttl <= maxTTL
	}
	return ttl < 0
}

func (p *preparation) created(op Op, mode createMode, parentPath string, parent record, made part, ttl int64) part {
	parent.children++
	parent.stat.cversion++ // runs over at 2147483647, and the tree then keeps the greater value
	parent.stat.pzxid = p.zxid
	made.parentCversion = parent.stat.cversion
	// What the node becomes follows the operation; what later parts of the same transaction take its kind
	// for follows the flags. They differ only for a create that asks for a container, or a container's
	// create with other flags.
	switch op {
	case OpCreateContainer:
		made.owner = containerOwner
	case OpCreateTTL:
		made.owner = ttlMask | ttl
	default:
		if mode.life == ephemeral {
			made.owner = p.session
		}
	}
	r := record{acl: made.acl, stat: stat{czxid: p.zxid, mzxid: p.zxid, pzxid: p.zxid, ctime: p.now, mtime: p.now}}
	switch mode.life {
	case container:
		r.stat.owner = containerOwner
	case timed:
		r.stat.owner = ttlMask | ttl
	case ephemeral:
		r.stat.owner = p.session
	}
	p.keep(parentPath, parent)
	p.keep(made.path, r)
	return made
}
