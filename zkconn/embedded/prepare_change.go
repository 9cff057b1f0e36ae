package embedded

func (p *preparation) delete(path string, version int32, err error) (part, code) {
	switch {
	case err != nil:
		return part{}, codeMarshalling
	case p.standing != codeOK:
		return part{}, p.standing
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

// deleteContainer deletes a node without children that is not ephemeral. That is how a leader reaps containers and
// nodes with a time to live. It asks neither for permission nor for the session, also when a client sends it.
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
	case p.standing != codeOK:
		return record{}, p.standing
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
	case p.standing != codeOK:
		return part{}, p.standing
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
