package zkconn

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// OpKind is the kind of an Op.
type OpKind string

// The kinds.
const (
	OpCreate OpKind = "create"
	OpSet    OpKind = "set"
	OpDelete OpKind = "delete"
	OpCheck  OpKind = "check"
)

// Op is one part of a transaction.
type Op struct {
	Kind OpKind
	// Path is the path of the node. For a sequential create the server appends ten digits to it.
	Path string
	Data []byte
	// Version is the version that a node must have to be set, deleted or checked; -1 for any.
	Version int32
	// Ephemeral: the created node ends with the session. Sequential: the server appends ten digits
	// to its name.
	Ephemeral, Sequential bool
	// Parents: missing parents are to be made with a create, by a caller that finds out which
	// (actors.Session.Transact); Conn.Txn refuses it.
	Parents bool

	acl []ACL // of a parent, see MissingParents; nil for WithACL's
}

// OpResult is the result of one Op.
type OpResult struct {
	// Path is the path of the created node, with its number, or else the path of the Op.
	Path string
	// Version is the new version of a node that was set, Mtime when, by the leader's clock, to the
	// millisecond.
	Version int32
	Mtime   time.Time
}

// Txn carries out all ops or none, in one transaction, if the guard exists and has its version; if
// not, the error wraps ErrGuardGone or ErrGuardChanged, before any other error. Otherwise it is
// that of the first op that was refused, with its path: ErrNoNode, ErrNodeExists, ErrNotEmpty,
// ErrBadVersion, ErrNoAuth, ErrNoChildrenForEphemerals. ErrNoAuth with the guard's path says that
// the session may not READ the guard. ErrTooLarge, ErrBadPath and ErrBadConfig come before anything
// is sent.
//
// before is what was Heard when this was handed over: its own changes have a greater zxid. After an
// unknown outcome, call Fence and then ResolveTxn.
func (c *Conn) Txn(guard Guard, ops []Op) (results []OpResult, before Heard, err error) {
	t := c.newGuarded(guard, ops)
	var parts []zk.MultiResponse
	err = c.operate(t.op, t.path, t.wrong, func(string) (err error) {
		before = c.guard.heard()
		if slices.ContainsFunc(ops, func(o Op) bool { return o.Ephemeral }) {
			c.lease.KeepNodes()
		}
		parts, err = c.transact(t)
		return err
	})
	if err != nil {
		return nil, before, err
	}
	results = make([]OpResult, len(ops))
	for i, o := range ops {
		results[i].Path = o.Path
		switch answer := parts[i+1]; {
		case o.Kind == OpCreate:
			results[i].Path = strings.TrimPrefix(answer.String, c.cfg.chroot)
		case o.Kind == OpSet && answer.Stat != nil:
			results[i].Version, results[i].Mtime = answer.Stat.Version, time.UnixMilli(answer.Stat.Mtime)
		}
	}
	return results, before, nil
}

// CheckOps checks the parts of a transaction before anything is sent. The error wraps ErrBadPath or
// ErrBadConfig.
func CheckOps(ops []Op) error {
	if len(ops) == 0 {
		return fmt.Errorf("%w: a transaction of no parts", ErrBadConfig)
	}
	for _, o := range ops {
		if err := CheckPath(o.Path); err != nil {
			return err
		}
		switch o.Kind {
		case OpCreate, OpSet, OpDelete, OpCheck:
		default:
			return fmt.Errorf("%w: transaction part of unknown kind %q", ErrBadConfig, o.Kind)
		}
		if o.Kind != OpCreate && o.Parents {
			return fmt.Errorf("%w: a %s of %s that makes parents", ErrBadConfig, o.Kind, Shown(o.Path))
		}
		if o.Kind != OpCreate && o.Version < -1 {
			return fmt.Errorf("%w: version %d of %s", ErrBadConfig, o.Version, Shown(o.Path))
		}
	}
	return nil
}

// newGuarded makes the transaction of Txn. Its first part checks the guard.
func (c *Conn) newGuarded(guard Guard, ops []Op) *transaction {
	t := &transaction{conn: c, op: "transaction", path: guard.Path}
	if t.wrong = cmp.Or(CheckPath(guard.Path), CheckOps(ops)); t.wrong == nil && guard.Version < -1 {
		t.wrong = fmt.Errorf("%w: version %d of the guard", ErrBadConfig, guard.Version)
	}
	t.check(theGuard, guard.Path, guard.Version)
	for _, o := range ops {
		data := o.Data
		if data == nil {
			data = []byte{}
		}
		switch o.Kind {
		case OpCreate:
			var wrong error
			if o.Parents {
				wrong = fmt.Errorf("%w: parents are not looked for here", ErrBadConfig)
			}
			acl := c.cfg.acl
			if o.acl != nil {
				acl = o.acl
			}
			t.create(o.Path, wrong, data, acl, o.flags())
		case OpSet:
			t.set(o.Path, data, o.Version)
		case OpDelete:
			t.delete(o.Path, o.Version)
		case OpCheck:
			t.check(anything, o.Path, o.Version)
		}
	}
	return t
}

func (o Op) flags() int32 {
	flags := int32(zk.FlagPersistent)
	if o.Ephemeral {
		flags |= zk.FlagEphemeral
	}
	if o.Sequential {
		flags |= zk.FlagSequence
	}
	return flags
}

// ResolveTxn finds out by the nodes whether a Txn with an unknown outcome was carried out. The Txn
// must be over for good, and visible: first call Fence on the same Conn, or CatchUp on that of a
// later session, when the old one has expired. before is what Txn returned.
//
// NotApplied is certain: a node that the transaction changes, or the list of children that it
// changes, was last changed by a transaction that is no newer than before.
//
// Applied needs that before is Whole (nothing that was done before is newer) and exclusive is true:
// nobody else can have changed these nodes since, because the guard has existed all the time and
// only its owner changes them. Every node that the transaction creates and sets must then have its
// data, one zxid newer than before, and the version that follows; and the nodes that it deletes
// must be gone. Where nothing is created or set it is Unknown: a missing node does not say who
// deleted it. A node that the session may not READ says nothing.
func (c *Conn) ResolveTxn(ops []Op, before Heard, exclusive bool) (Outcome, []OpResult, error) {
	f := &finding{conn: c, before: before.Zxid, results: make([]OpResult, len(ops)), taken: map[string]bool{}}
	for i, o := range ops {
		f.results[i].Path = o.Path
		if err := f.resolve(o, &f.results[i]); err != nil {
			return Unknown, nil, err
		}
		if f.not {
			return NotApplied, nil, nil
		}
	}
	if exclusive && before.Whole && f.witnesses > 0 && !f.contradicted {
		return Applied, f.results, nil
	}
	return Unknown, nil, nil
}

type finding struct {
	conn         *Conn
	before       int64
	results      []OpResult
	taken        map[string]bool // sequential nodes that are accounted for
	zxid         int64           // of the transaction, once known
	witnesses    int
	contradicted bool
	not          bool // certainly not carried out
}

func (f *finding) resolve(o Op, result *OpResult) error {
	switch {
	case o.Kind == OpCheck:
		return nil
	case o.Kind == OpCreate && o.Sequential:
		return f.sequential(o, result)
	}
	data, stat, err := f.conn.Get(o.Path)
	switch {
	case errors.Is(err, ErrNoNode):
		f.contradicted = f.contradicted || o.Kind != OpDelete
		if o.Kind == OpSet {
			return nil
		}
		return f.parent(o) // nothing created, nothing deleted: then it was not carried out
	case err != nil:
		return f.unseen(err)
	}
	switch o.Kind {
	case OpDelete:
		f.not = stat.Czxid <= f.before
		f.contradicted = true
	case OpCreate:
		f.not = stat.Czxid <= f.before
		f.witness(stat.Czxid, stat.Mzxid == stat.Czxid && bytes.Equal(data, o.Data))
	case OpSet:
		f.not = stat.Mzxid <= f.before
		f.witness(stat.Mzxid, bytes.Equal(data, o.Data) && (o.Version < 0 || stat.Version == o.Version+1))
		result.Version, result.Mtime = stat.Version, stat.Mtime
	}
	return nil
}

// unseen takes the error of a read. A node that the session may not READ is no evidence; another
// may be.
func (f *finding) unseen(err error) error {
	if !errors.Is(err, ErrNoAuth) {
		return err
	}
	f.contradicted = true
	return nil
}

// witness notes a node as evidence: zxid wrote it last, and agrees reports whether it is as the
// transaction would have left it.
func (f *finding) witness(zxid int64, agrees bool) {
	if f.zxid == 0 {
		f.zxid = zxid
	}
	f.witnesses++
	f.contradicted = f.contradicted || !agrees || zxid != f.zxid
}

func (f *finding) parent(o Op) error {
	at := cmp.Or(f.conn.cfg.chroot+o.Path[:strings.LastIndexByte(o.Path, '/')], "/")
	return f.unseen(f.conn.operate("exists", o.Path, nil, func(string) error {
		stat, exists, err := f.conn.lookUp(at)
		if err == nil && exists {
			f.not = stat.Pzxid <= f.before
		}
		return err
	}))
}

// sequential looks for a node with a number: the newest with the lowest number, because parts come
// in order.
func (f *finding) sequential(o Op, result *OpResult) error {
	if err := f.parent(o); err != nil || f.not {
		return err
	}
	at := strings.LastIndexByte(o.Path, '/')
	if at == 0 { // Children takes no root
		f.contradicted = true
		return nil
	}
	names, err := f.conn.Children(o.Path[:at])
	if err != nil && !errors.Is(err, ErrNoNode) {
		return f.unseen(err)
	}
	slices.Sort(names)
	found := ""
	for _, name := range slices.Backward(names) {
		path := o.Path[:at+1] + name
		if len(path) != len(o.Path)+sequenceDigits || !strings.HasPrefix(path, o.Path) || f.taken[path] {
			continue
		}
		data, stat, err := f.conn.Get(path)
		switch {
		case errors.Is(err, ErrNoNode):
			continue
		case err != nil:
			return f.unseen(err)
		}
		if stat.Czxid <= f.before {
			break
		}
		if bytes.Equal(data, o.Data) && (f.zxid == 0 || stat.Czxid == f.zxid) {
			found, f.zxid = path, stat.Czxid
		}
	}
	if found == "" {
		f.contradicted = true
		return nil
	}
	f.taken[found], result.Path = true, found
	f.witnesses++
	return nil
}

const sequenceDigits = 10
