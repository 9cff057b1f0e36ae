package embedded

import "fmt"

// record is a node as it will be when the parts of a transaction that came before have been applied.
type record struct {
	gone     bool
	stat     stat
	children int
	acl      []access
}

// preparation turns one request into a transaction: it checks every part against the leader's tree
// and against the changes of the parts before it. The order of the checks is ZooKeeper's, because
// it decides which of several errors a client sees.
type preparation struct {
	tree    *tree
	session int64
	// sessionCode is the leader's answer about the session: codeOK, codeSessionExpired or
	// codeSessionMoved. Each part asks, so a multi of a session that is over has the refusal in its
	// first part, and its header says OK.
	sessionCode code
	who         []identity
	sasl        bool // the server knows the scheme
	zxid        int64
	now         int64 // milliseconds since 1970
	single      bool  // there is no next part
	pending     map[string]record
}

// record is the node as the next part finds it.
func (p *preparation) record(path string) (record, bool) {
	if r, ok := p.pending[path]; ok {
		return r, !r.gone
	}
	n := p.tree.nodes[path]
	if n == nil {
		return record{}, false
	}
	return record{stat: n.stat, children: n.children.len(), acl: n.acl}, true
}

func (p *preparation) keep(path string, r record) {
	if p.single {
		return
	}
	if p.pending == nil {
		p.pending = map[string]record{}
	}
	p.pending[path] = r
}

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
	if p.sessionCode != codeOK {
		return part{}, p.sessionCode
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
		return part{}, codeBadArguments // where 3.9.5 stops serving
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
	// The operation decides the node's kind; the flags decide the kind that later parts of the same
	// transaction see. The two differ only for a create with the flags of a container, or a
	// container's create with other flags.
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

func (p *preparation) delete(path string, version int32, err error) (part, code) {
	switch {
	case err != nil:
		return part{}, codeMarshalling
	case p.sessionCode != codeOK:
		return part{}, p.sessionCode
	case path == null:
		return part{}, codeMarshalling
	}
	parentPath, _, ok := splitPath(path)
	if !ok || special(path) {
		return part{}, codeBadArguments
	}
	parent, ok := p.record(parentPath)
	switch {
	case !ok:
		return part{}, codeNoNode
	case !allowed(parent.acl, permDelete, p.who):
		return part{}, codeNoAuth
	}
	r, ok := p.record(path)
	switch {
	case !ok:
		return part{}, codeNoNode
	case version != -1 && version != r.stat.version:
		return part{}, codeBadVersion
	case r.children > 0:
		return part{}, codeNotEmpty
	}
	return p.deleted(parentPath, parent, path), codeOK
}

func (p *preparation) deleted(parentPath string, parent record, path string) part {
	parent.children--
	parent.stat.pzxid = p.zxid
	p.keep(parentPath, parent)
	p.keep(path, record{gone: true})
	return part{op: OpDelete, path: path}
}

// deleteContainer deletes a node without children that is not ephemeral. A leader reaps containers
// and nodes with a time to live so. It checks neither permissions nor the session, also when a
// client sends it.
func (p *preparation) deleteContainer(path string) (part, code) {
	parentPath, _, ok := splitPath(path)
	if !ok || special(path) {
		return part{}, codeBadArguments
	}
	parent, _ := p.record(parentPath)
	r, ok := p.record(path)
	switch {
	case !ok:
		return part{}, codeNoNode
	case r.children > 0:
		return part{}, codeNotEmpty
	case life(r.stat.owner) == ephemeral:
		return part{}, codeBadVersion
	}
	return p.deleted(parentPath, parent, path), codeOK
}

// existing finds a node for a part that wants a permission and names a version of its data.
func (p *preparation) existing(path string, perm, version int32, err error) (record, code) {
	switch {
	case err != nil:
		return record{}, codeMarshalling
	case p.sessionCode != codeOK:
		return record{}, p.sessionCode
	case !validPath(path):
		return record{}, codeBadArguments
	}
	r, ok := p.record(path)
	switch {
	case !ok:
		return record{}, codeNoNode
	case !allowed(r.acl, perm, p.who):
		return record{}, codeNoAuth
	case version != -1 && version != r.stat.version:
		return record{}, codeBadVersion
	}
	return r, codeOK
}

func (p *preparation) setData(path string, data []byte, version int32, err error) (part, code) {
	r, refused := p.existing(path, permWrite, version, err)
	if refused != codeOK {
		return part{}, refused
	}
	r.stat.version++
	r.stat.mtime, r.stat.mzxid = p.now, p.zxid
	p.keep(path, r)
	return part{op: OpSetData, path: path, data: data, version: r.stat.version}, codeOK
}

func (p *preparation) check(path string, version int32, err error) (part, code) {
	if _, refused := p.existing(path, permRead, version, err); refused != codeOK {
		return part{}, refused
	}
	return part{op: OpCheck, path: path}, codeOK
}

func (p *preparation) setACL(path string, list []access, version int32, err error) (part, code) {
	switch {
	case err != nil:
		return part{}, codeMarshalling
	case p.sessionCode != codeOK:
		return part{}, p.sessionCode
	case !validPath(path):
		return part{}, codeBadArguments
	}
	fixed, c := fixACL(list, p.who, p.sasl)
	if c != codeOK {
		return part{}, c
	}
	r, ok := p.record(path)
	switch {
	case !ok:
		return part{}, codeNoNode
	case !allowed(r.acl, permAdmin, p.who):
		return part{}, codeNoAuth
	case version != -1 && version != r.stat.aversion:
		return part{}, codeBadVersion
	}
	return part{op: OpSetACL, path: path, acl: fixed, version: r.stat.aversion + 1}, codeOK
}
