package locks

import (
	"context"
	"errors"
	"time"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Get reads a node while the lock is held: its data, and the version that a Set or a Check of Txn wants.
//
//	data, version, err := lease.Get(ctx, "/position")
//	_, err = lease.Txn(ctx, locks.Set("/position", next(data), version))
//
// It shows what every holder before has written with Txn, and every Txn of this lease that was called before Get. It
// waits for one that is still under way, so it tells what became of a Txn that has returned ErrUnknownOutcome. What
// others write meanwhile without the lock it may not show yet. Nothing of theirs goes unnoticed where the Set names
// the version that was read.
//
// Data that your program writes through another client of ZooKeeper, even to the same servers, is not in this order:
// the server of this session may be behind. Such writes are not checked for the lock either. Write with Txn, and read
// with Get; or write the token beside the data, and refuse smaller ones ("Fencing" in package guides).
//
// What the error says:
//
//   - It wraps ErrLost, ErrRevoked, ErrMaxHold or ErrReleased: the lease is over, so what was read may be another
//     holder's, and is not given.
//   - It wraps zkconn.ErrNoNode: there is no such node; or ErrNoAuth: it may not be read.
//   - It wraps that of ctx, or ErrBadPath. Get waits for a connection, and reads again when one is lost.
//   - It wraps ErrNeedsSession: the client is one over gateways.
func (l *Lease) Get(ctx context.Context, path string) (data []byte, version int32, err error) {
	if l.from.client.Session() == nil {
		return nil, 0, l.notRead(ErrNeedsSession)
	}
	ctx, done := l.outlast(ctx)
	defer done()
	turns := l.turns()
	select {
	case turns <- struct{}{}: // behind the transactions that were there before
		<-turns
	case <-ctx.Done():
		if !l.Valid() {
			return nil, 0, l.notRead(l.stale())
		}
		return nil, 0, l.notRead(ended(ctx))
	}
	data, stat, err := l.read(ctx, path)
	return data, stat.Version, err
}

// read reads a node, as the servers show it to the session that holds. The lease is looked at behind the answer: another
// holder may have written what is read once it is over.
func (l *Lease) read(ctx context.Context, path string) ([]byte, zkconn.Stat, error) {
	data, stat, err := l.from.client.Session().Read(ctx, l.held.Epoch, path)
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

// errLeaseOver is why a request under a lease is not waited for any more.
var errLeaseOver = errors.New("the lease is over")

// outlast gives a context that ends with ctx, and shortly after the lease: when the end of the lease itself has been
// told to whoever waits for an answer, which says more.
func (l *Lease) outlast(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(l.ctx, func() {
		select {
		case <-time.After(l.from.client.session.LastWord()):
			cancel(errLeaseOver)
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
