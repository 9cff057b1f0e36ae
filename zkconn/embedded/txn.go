package embedded

// txn is one transaction: what the leader has decided, and what every replica then applies.
type txn struct {
	op      Op // opError when it was refused; even that takes a zxid
	zxid    int64
	time    int64 // milliseconds since 1970
	session int64
	asker   *Replica // of OpCloseSession: whose client has asked for it; nil when the leader has ended the session
	code    code     // of opError, and of a multi that was refused
	parts   []part   // of a multi all of them, otherwise one
	paths   []string // of OpCloseSession: the ephemeral nodes that end with it
}

// refusal is why nothing was done: the code of the whole, or of the part of a multi that was refused.
func (x *txn) refusal() code {
	if x.op == opError || x.op == OpMulti {
		return x.code
	}
	return codeOK
}

// part is one change, or one check, of a transaction. In a multi that failed every part is opError, with
// the code that its place in the reply takes.
type part struct {
	op             Op
	code           code
	path           string
	data           []byte
	acl            []access
	owner          int64
	version        int32 // the new one
	parentCversion int32
}
