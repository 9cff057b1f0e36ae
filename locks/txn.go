package locks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Op is one part of a transaction. Create, CreateSequential, Set, Delete and Check make it.
type Op = zkconn.Op

// OpResult is the result of one Op: the path of the node that was created, the version after a set.
type OpResult = zkconn.OpResult

// AnyVersion is the version of an Op that takes a node of any version.
const AnyVersion int32 = -1

// Create makes a node; with the field Ephemeral, one that ends with the session. A missing parent
// is ErrNoNode, unless an earlier Create of the transaction makes it, or the field Parents is set:
// see Lease.Txn.
func Create(path string, data []byte) Op { return Op{Kind: zkconn.OpCreate, Path: path, Data: data} }

// CreateSequential is Create of path with ten digits from the server.
func CreateSequential(path string, data []byte) Op {
	return Op{Kind: zkconn.OpCreate, Path: path, Data: data, Sequential: true}
}

// Set writes the data of a node that has this version.
func Set(path string, data []byte, version int32) Op {
	return Op{Kind: zkconn.OpSet, Path: path, Data: data, Version: version}
}

// Delete deletes a node that has this version.
func Delete(path string, version int32) Op {
	return Op{Kind: zkconn.OpDelete, Path: path, Version: version}
}

// Check changes nothing: the other ops are carried out only if the node exists with this version.
func Check(path string, version int32) Op {
	return Op{Kind: zkconn.OpCheck, Path: path, Version: version}
}

// Txn writes to ZooKeeper, all ops or none, and only while the lock is held: a check of the
// holder's node goes with the ops, and while that node exists nobody else holds. So no write is
// ever carried out after the loss of the lock, however late it arrives, and no token need be
// compared. The nodes have the ACL of WithACL. The results are in the order of the ops.
//
// The field Parents of a Create has missing parents made in the same transaction, empty, with the
// ACL of WithParentACL; they stay when the nodes below them are deleted:
//
//	op := locks.Create("/jobs/nightly/state", state)
//	op.Parents = true
//
// The error wraps:
//
//   - ErrLost (with ErrRevoked or ErrMaxHold where it was that), or ErrReleased after Unlock:
//     nothing was written.
//   - ErrNoNode, ErrNodeExists, ErrBadVersion or another of zkconn's, with the path: a part was
//     refused, and nothing was written. zkconn.ErrNoAuth with the path of the lease's node: the
//     session may not READ that (WithACL).
//   - The error of ctx, or ErrBadPath, ErrBadAcquire, ErrTooLarge: nothing was written.
//   - ErrUnknownOutcome: the ops may have been carried out, all or none. When ctx ends before the
//     answer they may be yet, until the lock is given back or Get returns.
//
// A transaction whose reply is lost may still be at a server. So it is fenced: each checks the
// version of the holder's node, and the fence raises that by writing the node's own data again.
// Without READ and WRITE (WithACL) the transaction may be carried out for as long as that node
// exists. Then the lost reply is resolved where possible:
//
//   - Not carried out, and sent again, if a node or a list of children that it changes has not
//     changed since before it was sent.
//   - Carried out if every node that it creates or sets is as it would be, with one newer zxid, and
//     the lock was held all the time. This supposes that only holders of this lock write these
//     nodes.
//   - Not known after the loss of the lock, for a transaction that only deletes, for nodes that the
//     session may not READ, and for a lock that several hold together (readers, permits,
//     WithReentry). Add a Set of a node of your own, with its version, to make it known.
//
// A lease's transactions run one after the other, and Unlock gives the lock back after them. So a
// node that serves a later hold, too (WithSticky, WithCohort, a hand-over), never guards an earlier
// one's writes, unless these could not be fenced. Where several hold with one node (WithReentry, a
// downgrade), it guards until the last has given back.
//
// ErrBadAcquire refuses the lease of a Contest, whose node others may make anew, and that of a
// reader WithCohort, whose node stays for others. ErrNeedsSession refuses a lease over a gateway.
func (l *Lease) Txn(ctx context.Context, ops ...Op) ([]OpResult, error) {
	session := l.from.client.Session()
	switch {
	case session == nil:
		return nil, l.notWritten(ErrNeedsSession)
	case l.from.want.Mode == messages.Read && l.from.want.Cohort > 1:
		return nil, l.notWritten(fmt.Errorf("%w: the node of readers that share it cannot guard one's transaction",
			ErrBadAcquire))
	case l.from.want.Mode == messages.Contest:
		return nil, l.notWritten(fmt.Errorf("%w: the node of a contest cannot guard a transaction", ErrBadAcquire))
	}
	if err := zkconn.CheckOps(ops); err != nil {
		if !errors.Is(err, ErrBadPath) {
			err = fmt.Errorf("%w: %w", ErrBadAcquire, err)
		}
		return nil, l.notWritten(err)
	}
	for {
		if err := l.beginTxn(ctx); err != nil {
			return nil, l.notWritten(err)
		}
		results, err := l.transact(ctx, session, ops)
		switch {
		case err == nil:
			return results, nil
		case errors.Is(err, actors.ErrNotHolding):
			return nil, l.notWritten(l.stale())
		case !errors.Is(err, ErrSessionFull) || !l.from.client.calls.TxnRefused(ctx, l.hold):
			return nil, l.notWritten(err)
		}
	}
}

func (l *Lease) transact(ctx context.Context, session *actors.Session, ops []Op) ([]OpResult, error) {
	return session.Transact(ctx, actors.Transaction{
		Epoch: l.hold.Epoch, Guard: l.Path() + "/" + l.Node(), Version: &l.hold.Version, Ops: ops, Exclusive: l.exclusive,
		Hold: l.Context(), Holds: l.Valid,
	}, l.endTxn)
}

func (l *Lease) beginTxn(ctx context.Context) error {
	if !l.Valid() {
		return l.stale()
	}
	if err := l.from.client.enter(ctx, &l.from.client.requests); err != nil {
		return err
	}
	select {
	case l.hold.Turn <- struct{}{}:
	case <-ctx.Done():
		l.from.client.requests.Done()
		return ended(ctx)
	}
	if !l.from.client.calls.TxnBegun(l.call) { // given back before the transaction was known of
		<-l.hold.Turn
		l.from.client.requests.Done()
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.givenBack && l.cause == nil {
			return ErrReleased
		}
		return stale(l.cause)
	}
	if !l.Valid() {
		l.endTxn(true)
		return l.stale()
	}
	return nil
}

// endTxn ends a transaction. fenced is false where it may still be carried out.
func (l *Lease) endTxn(fenced bool) {
	<-l.hold.Turn
	l.from.client.calls.TxnEnded(l.hold, fenced)
	l.from.client.requests.Done()
}

// exclusive reports whether no other holder can have written while this lease holds. Others of a
// nested lease's owner may share its hold.
func (l *Lease) exclusive() bool {
	want := &l.from.want
	return (want.Mode == messages.Exclusive || want.Mode == messages.Write) && !l.from.want.Reentry && !l.nested &&
		!l.shared.Load()
}

func (l *Lease) stale() error { return stale(l.why()) }

func stale(cause error) error {
	var e *Error
	switch {
	case cause == nil:
		return ErrLost
	case errors.As(cause, &e):
		cause = e.Err
	}
	if errors.Is(cause, ErrLost) || errors.Is(cause, ErrReleased) {
		return cause
	}
	return fmt.Errorf("%w: %w", ErrLost, cause)
}

func (l *Lease) notWritten(err error) error {
	state := messages.StateNone
	if l.Valid() {
		state = messages.StateHeld
	}
	return &Error{Op: "transaction under", Path: l.Path(), Node: l.Node(), State: state, Err: err}
}

// Get reads a node while the lock is held: its data, and the version for a Set or a Check of Txn.
//
//	data, version, err := lease.Get(ctx, "/position")
//	_, err = lease.Txn(ctx, locks.Set("/position", next(data), version))
//
// It shows every Txn of earlier holders, and waits for this lease's earlier ones: so it resolves an
// ErrUnknownOutcome. It may miss writes without the lock, and through another client of ZooKeeper,
// whose server may be ahead. Write with Txn, and read with Get; or write the token beside the data,
// and refuse smaller ones (locks/guides/fencing.md).
//
// The error wraps:
//
//   - ErrLost, ErrRevoked, ErrMaxHold or ErrReleased: the lease is over. The data, which
//     may be another holder's, are not given. A read of the lease's own node finds this before the
//     session hears of it.
//   - zkconn.ErrNoNode: there is no such node; or ErrNoAuth: it may not be read.
//   - The error of ctx, or ErrBadPath. Get waits for a connection, and reads again when one is
//     lost.
//   - ErrNeedsSession: the client is one over gateways.
func (l *Lease) Get(ctx context.Context, path string) (data []byte, version int32, err error) {
	if l.from.client.Session() == nil {
		return nil, 0, l.notRead(ErrNeedsSession)
	}
	ctx, done := l.outlast(ctx)
	defer done()
	turns := l.hold.Turn
	select {
	case turns <- struct{}{}: // behind the earlier transactions
		<-turns
	case <-ctx.Done():
		if !l.Valid() {
			return nil, 0, l.notRead(l.stale())
		}
		return nil, 0, l.notRead(ended(ctx))
	}
	data, stat, err := l.read(ctx, path)
	if err == nil || zkconn.OutcomeOf(err) == zkconn.Refused {
		if lost := l.readNode(ctx); lost != nil {
			return nil, 0, lost
		}
	}
	return data, stat.Version, err
}

// readNode reads the lease's own node after another read. If it is there, no other holder has
// written what was read. A contest's node may be another's.
func (l *Lease) readNode(ctx context.Context) error {
	if l.from.want.Mode == messages.Contest {
		return nil
	}
	switch _, _, err := l.read(ctx, l.Path()+"/"+l.Node()); {
	case errors.Is(err, zkconn.ErrNoNode):
		return l.notRead(ErrLost)
	case errors.Is(err, ErrNoAuth): // it exists
		return nil
	default:
		return err
	}
}

// read reads a node in the session that holds. It checks the lease after the answer: the data may
// be another holder's.
func (l *Lease) read(ctx context.Context, path string) ([]byte, zkconn.Stat, error) {
	data, stat, err := l.from.client.Session().Read(ctx, l.hold.Epoch, path)
	switch {
	case errors.Is(err, actors.ErrNotHolding) || errors.Is(err, errLeaseOver) || !l.Valid():
		return nil, zkconn.Stat{}, l.notRead(l.stale())
	case err != nil:
		return nil, zkconn.Stat{}, l.notRead(err)
	}
	return data, stat, nil
}

func (l *Lease) notRead(err error) error {
	return &Error{Op: "read under", Path: l.Path(), Node: l.Node(), Err: err}
}

var errLeaseOver = errors.New("the lease is over")

// outlast gives a context that ends with ctx, and shortly after the lease, whose end says more and
// is heard of first.
func (l *Lease) outlast(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(l.Context(), func() {
		select {
		case <-time.After(l.from.client.lastWord):
			cancel(errLeaseOver)
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
