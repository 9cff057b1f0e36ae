package zkconn

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// OpKind is what an Op does.
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
	// Path is the node's. That of a sequential create is what the name begins with.
	Path string
	// Data are for a create and a set.
	Data []byte
	// Version is the version that a node must have to be set, deleted or checked; -1 for any.
	Version int32
	// Ephemeral: the node that is created ends with the session. Sequential: the server puts ten digits behind its name.
	Ephemeral, Sequential bool
	// Parents: a create may have parents that do not exist, which are to be made with it. It is for who looks what is
	// missing (actors.Session.Transact); Conn.Txn refuses it.
	Parents bool

	acl []ACL // of a parent, see MissingParents; nil: that of WithACL
}

// OpResult is what has become of one Op.
type OpResult struct {
	// Path is that of the node that was created, with its number, and otherwise that of the Op.
	Path string
	// Version is that of the node that was set, and Mtime when it was, by the wall clock of the servers' leader, to the
	// millisecond.
	Version int32
	Mtime   time.Time
}

// Heard is what the servers had told this client at some time.
type Heard struct {
	// Zxid is the newest transaction that a reply has told of.
	Zxid int64
	// Whole: no event has come since. An event does not say which transaction it is of. So a holder
	// that was granted its lock by one knows of no zxid that is newer than all writes of the holder
	// before.
	Whole bool
}

// ErrGuardGone: the node that guards a transaction does not exist. Nothing was done.
var ErrGuardGone = errors.New("the guarding node is gone")

// Txn carries out all ops or none, in one transaction, if the node at guard exists. The error wraps
// ErrGuardGone where it does not, whatever else is wrong. Otherwise it is that of the first op that
// was refused, with its path: ErrNoNode, ErrNodeExists, ErrNotEmpty, ErrBadVersion, ErrNoAuth,
// ErrNoChildrenForEphemerals. ErrTooLarge, ErrBadPath and ErrBadConfig come before anything is
// sent.
//
// before is what the servers had told when the transaction was handed over: every change of it has
// a greater zxid. See ResolveTxn for what to do after an unknown outcome.
func (c *Conn) Txn(guard string, ops []Op) (results []OpResult, before Heard, err error) {
	const op = "transaction"
	t, err := c.newGuarded(op, guard, ops)
	if err != nil {
		return nil, before, err
	}
	if err := c.gate.enter(); err != nil {
		return nil, before, &Error{op, guard, err}
	}
	defer c.gate.leave()
	before = c.guard.heard()
	if slices.ContainsFunc(ops, func(o Op) bool { return o.Ephemeral }) {
		c.lease.keepNodes()
		c.link.do((*transport).leaseIsKept)
	}
	answers, err := c.transact(t.parts...)
	if err != nil {
		at := guard
		var refused *partError
		if errors.As(err, &refused) {
			at, err = t.paths[refused.part], refused.cause
			if refused.part == 0 && errors.Is(err, zk.ErrNoNode) {
				err = fmt.Errorf("%w: %w", ErrGuardGone, err)
			}
		}
		return nil, before, c.failure(op, at, err)
	}
	results = make([]OpResult, len(ops))
	for i, o := range ops {
		results[i].Path = o.Path
		switch answer := answers[i+1]; {
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
			return fmt.Errorf("%w: a %s of %s that makes parents", ErrBadConfig, o.Kind, o.Path)
		}
		if o.Kind != OpCreate && o.Version < -1 {
			return fmt.Errorf("%w: version %d of %s", ErrBadConfig, o.Version, o.Path)
		}
	}
	return nil
}

// newGuarded makes what Txn sends: the check of the guard is the first part.
func (c *Conn) newGuarded(op, guard string, ops []Op) (*transaction, error) {
	if err := CheckPath(guard); err != nil {
		return nil, &Error{op, guard, err}
	}
	if err := CheckOps(ops); err != nil {
		return nil, &Error{op, guard, err}
	}
	if at := slices.IndexFunc(ops, func(o Op) bool { return o.Parents }); at >= 0 {
		return nil, &Error{op, ops[at].Path, fmt.Errorf("%w: parents are not looked for here", ErrBadConfig)}
	}
	t := &transaction{}
	t.add(guard, &zk.CheckVersionRequest{Path: c.cfg.chroot + guard, Version: -1})
	for _, o := range ops {
		at, data := c.cfg.chroot+o.Path, o.Data
		if data == nil {
			data = []byte{}
		}
		switch o.Kind {
		case OpCreate:
			acl := c.cfg.acl
			if o.acl != nil {
				acl = o.acl
			}
			t.add(o.Path, &zk.CreateRequest{Path: at, Data: data, Acl: acl, Flags: o.flags()})
		case OpSet:
			t.add(o.Path, &zk.SetDataRequest{Path: at, Data: data, Version: o.Version})
		case OpDelete:
			t.add(o.Path, &zk.DeleteRequest{Path: at, Version: o.Version})
		case OpCheck:
			t.add(o.Path, &zk.CheckVersionRequest{Path: at, Version: o.Version})
		}
	}
	return t, t.checkSize(op, c.cfg)
}

func (t *transaction) add(path string, part any) {
	t.parts, t.paths = append(t.parts, part), append(t.paths, path)
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
