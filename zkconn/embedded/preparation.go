package embedded

// record is a node as it will be when the parts of a transaction that came before have been applied.
type record struct {
	gone     bool
	stat     stat
	children int
	acl      []access
}

// preparation turns one request into a transaction: it checks every part against the leader's tree and
// against what the parts before it will have changed. The order of the checks is ZooKeeper's, because it
// decides which of several errors a client sees.
type preparation struct {
	tree    *tree
	session int64
	// standing is what the leader says of the session: codeOK, codeSessionExpired or codeSessionMoved. Each part asks,
	// so a multi of a session that is over has the refusal in its first part, and its header says OK.
	standing code
	who      []identity
	sasl     bool // the server knows the scheme
	zxid     int64
	now      int64 // milliseconds since 1970
	single   bool  // there is no next part
	pending  map[string]record
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
