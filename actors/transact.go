package actors

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/retry"
)

// ErrNotHolding: the hold under which a transaction was to run is over. Nothing was written.
var ErrNotHolding = errors.New("turnstile: the hold is over")

// Transaction is carried out only while a lock is held.
type Transaction struct {
	// Epoch is the epoch of the grant; it is sent in no other.
	Epoch uint64
	// Guard is the path of the holder's node: the servers check that it exists.
	Guard string
	// Version keeps that node's version as last seen, for the transactions of one hold. Servers
	// refuse a wrong one, and it is read anew. nil stands for a new one.
	Version *atomic.Int32
	// Ops are the changes. Missing parents are made with a create that asks for them.
	Ops []zkconn.Op
	// Exclusive reports whether nobody else has written to these nodes while the guard was there,
	// and no other transaction of this hold is under way. Once false it stays false. Where false,
	// or nil, a lost reply may be resolved only as not carried out.
	Exclusive func() bool
	// Hold ends with the hold; Holds tells, by the clock, whether the hold goes on. Nothing is sent
	// after either.
	Hold  context.Context
	Holds func() bool
}

// Transact carries out a transaction, and waits for its outcome or the end of ctx. It waits for a
// connection, resolves a lost reply where it can (see locks.Lease.Txn), and while the hold goes on
// sends again what was certainly not carried out.
//
// A transaction whose reply is lost is fenced first (zkconn.Conn.Fence), also after the end of ctx.
// Where the session may not READ or WRITE the holder's node there is no fence, and the outcome is
// unknown.
//
// The error wraps ErrNotHolding where the hold is over, ErrSessionFull where there is no room for
// its ephemeral nodes and nothing was sent, zkconn's error for a refused part, the error of ctx
// where nothing was sent before it ended, and zkconn.ErrUnknownOutcome where the transaction may
// have been carried out, or may yet be. over, which may be nil, is called when it has been carried
// out or never will be, perhaps later. fenced is false where it could not be fenced, and may be
// carried out for as long as the node exists; otherwise the node may guard the writes of a later
// grant.
func (s *Session) Transact(ctx context.Context, t Transaction, over func(fenced bool)) ([]zkconn.OpResult, error) {
	if t.Version == nil {
		t.Version = new(atomic.Int32)
	}
	x := &transacting{Transaction: t, session: s, ctx: ctx, done: make(chan struct{})}
	x.parents.begin(&x.Ops)
	go func() {
		if over != nil {
			defer func() { over(!x.unfenced) }()
		}
		defer close(x.done)
		x.results, x.err = x.weighAndRun()
	}()
	select {
	case <-x.done:
		return x.results, x.err
	case <-ctx.Done():
	}
	if x.stage.CompareAndSwap(unsent, givenUp) {
		return nil, x.explain(context.Cause(ctx))
	}
	if t.Hold.Err() != nil { // ctx may have ended with it, and the answer may be on its way
		select {
		case <-x.done:
		case <-time.After(answerBehindLoss):
		}
	}
	select {
	case <-x.done: // both: what happened counts
		return x.results, x.err
	default:
		return nil, x.explain(fmt.Errorf("%w: %w", zkconn.ErrUnknownOutcome, context.Cause(ctx)))
	}
}

// answerBehindLoss is how long an answer is waited for after the lease: it says more than an
// unknown outcome.
const answerBehindLoss = 100 * time.Millisecond

const (
	unsent  int32 = iota // nothing of it is at the servers
	sent                 // it may be
	givenUp              // nothing of it is sent any more
)

type transacting struct {
	Transaction
	session   *Session
	ctx       context.Context
	stage     atomic.Int32
	hangUps   int                    // in a row, also where it was put off
	trouble   atomic.Pointer[string] // what keeps it from being carried out; nil for nothing
	done      chan struct{}
	results   []zkconn.OpResult
	err       error
	parents   madeParents
	undecided bool
	// unfenced: it may be carried out for as long as its guard exists.
	unfenced bool
}

func (x *transacting) weighAndRun() ([]zkconn.OpResult, error) {
	weight := x.weight()
	if weight > 0 {
		if err := x.admit(weight); err != nil {
			return nil, err
		}
	}
	results, err := x.run()
	x.settle(weight, results, err)
	return x.parents.trim(results), err
}

func (x *transacting) run() ([]zkconn.OpResult, error) {
	for tries := 1; ; tries++ {
		conn := x.session.connected(x.ctx, x.Epoch, x.Hold.Done())
		switch {
		case !x.Holds(): // the last look before it goes out; then the servers check the guard
			return nil, ErrNotHolding
		case conn == nil || x.ctx.Err() != nil || !x.stage.CompareAndSwap(unsent, sent):
			return nil, x.ended()
		}
		guard := zkconn.Guard{Path: x.Guard, Version: x.Version.Load()}
		results, before, err := conn.Txn(guard, x.Ops)
		outcome := zkconn.NotApplied
		switch zkconn.OutcomeOf(err) {
		case zkconn.Applied:
			return results, nil
		case zkconn.Refused:
			switch {
			case errors.Is(err, zkconn.ErrGuardGone):
				err = fmt.Errorf("%w: %w", ErrNotHolding, err)
			case errors.Is(err, zkconn.ErrGuardChanged): // by a revoke request, a description, another transaction's fence
				x.stage.Store(unsent)
				if x.learnVersion(conn, guard) || x.pauseFor(retry.Unknown.Pause(tries), x.Hold.Done()) {
					continue
				}
				return nil, x.ended()
			}
			if again, why := x.parents.mend(conn, &x.Ops, err); !again {
				return nil, why
			}
		case zkconn.NotSent:
			if !errors.Is(err, zkconn.ErrUnavailable) && !errors.Is(err, zkconn.ErrClosed) {
				return nil, err
			}
		case zkconn.Unknown:
			outcome, results = x.resolve(conn, guard, before)
		}
		x.heed(err)
		switch outcome {
		case zkconn.Applied:
			return results, nil
		case zkconn.Unknown:
			x.undecided = true
			return nil, err
		}
		x.stage.Store(unsent)
		if !x.pauseFor(max(retry.Unknown.Pause(tries), x.longPause()), x.Hold.Done()) { // Unlock does not wait for it
			return nil, x.ended()
		}
	}
}

// learnVersion reads the version of the guard, and reports whether it is another than that of a
// refused transaction. A server that lags may show the same.
func (x *transacting) learnVersion(conn *zkconn.Conn, refused zkconn.Guard) bool {
	_, stat, err := conn.Get(x.Guard)
	if err != nil {
		return false
	}
	x.Version.Store(stat.Version)
	return stat.Version != refused.Version
}

// resolve finds out whether a transaction whose reply was lost was carried out, for as long as ctx
// lasts, and once after its end: nodes that were not made need no room. First it is fenced: until
// then its nodes may change.
func (x *transacting) resolve(on *zkconn.Conn, guard zkconn.Guard, before zkconn.Heard) (zkconn.Outcome, []zkconn.OpResult) {
	if !x.fence(on, guard) {
		x.unfenced = true
		return zkconn.Unknown, nil
	}
	for tries := 1; tries == 1 || x.ctx.Err() == nil; tries++ {
		conn := x.session.conn.Load()
		if conn == nil || conn != on && !on.Ended() {
			break
		}
		outcome, results, err := x.look(conn, conn == on, before)
		switch {
		case err == nil:
			return outcome, results
		case zkconn.OutcomeOf(err) == zkconn.Refused: // and would be again
			return zkconn.Unknown, nil
		}
		if !x.pauseFor(retry.Unknown.Pause(tries), nil) {
			break
		}
	}
	return zkconn.Unknown, nil
}

// fence returns when a transaction has been carried out or never will be: by the version of its
// guard, or by the end of its session; also after the end of ctx, because the node may be another's
// guard next. It is false where nothing proves it: for a guard that may not be read or written, and
// for a session that was given up and not seen to end.
func (x *transacting) fence(on *zkconn.Conn, guard zkconn.Guard) bool {
	for tries := 1; ; tries++ {
		if conn := x.session.conn.Load(); conn != on {
			return conn != nil && on.Ended()
		}
		now, err := on.Fence(guard)
		if err == nil {
			if now.Path != "" {
				x.Version.Store(now.Version)
			}
			return true
		}
		if outcome := zkconn.OutcomeOf(err); outcome == zkconn.Refused || errors.Is(err, zkconn.ErrTooLarge) {
			return false
		}
		select {
		case <-time.After(retry.Unknown.Pause(tries)):
		case <-x.session.stopped:
			return false
		}
	}
}

// look tells the outcome of a transaction that is over, by its nodes. fenced: on the session that
// has fenced it, where the guard says whether anybody else may have written since. Otherwise on a
// later session, which first has to hear of what was committed before.
func (x *transacting) look(conn *zkconn.Conn, fenced bool, before zkconn.Heard) (zkconn.Outcome, []zkconn.OpResult, error) {
	if !fenced {
		if err := conn.CatchUp(x.Guard); err != nil {
			return zkconn.Unknown, nil, err
		}
	}
	outcome, results, err := conn.ResolveTxn(x.Ops, before, fenced && x.Exclusive != nil)
	if err != nil || outcome != zkconn.Applied {
		return outcome, nil, err
	}
	// Asked last: the data may be another's. A guard that is there now was there when they were
	// read.
	switch err := conn.Heartbeat(x.Guard); {
	case err == nil && x.Exclusive():
		return zkconn.Applied, results, nil
	case err == nil || zkconn.CommittedRefusal(err):
		return zkconn.Unknown, nil, nil
	default:
		return zkconn.Unknown, nil, err
	}
}

func (x *transacting) heed(err error) {
	trouble := zkconn.Trouble(err)
	if trouble == "" {
		x.hangUps = 0
		x.trouble.Store(nil)
		return
	}
	if x.hangUps++; x.hangUps > 1 {
		trouble = fmt.Sprintf("%s, %d times", trouble, x.hangUps)
		x.trouble.Store(&trouble)
	}
}

func (x *transacting) longPause() time.Duration {
	if x.hangUps < 2 {
		return 0
	}
	return retry.HungUp.Pause(x.hangUps - 1)
}

// pauseFor waits; false when ctx or the session has ended meanwhile, or over was closed.
func (x *transacting) pauseFor(d time.Duration, over <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-x.ctx.Done():
	case <-over:
	case <-x.session.stopped:
	}
	return false
}

func (x *transacting) explain(err error) error {
	if trouble := x.trouble.Load(); trouble != nil {
		err = fmt.Errorf("%s: %w", *trouble, err)
	}
	return x.session.Explain(fmt.Errorf("turnstile: transaction: %w", err))
}

func (x *transacting) ended() error {
	if x.ctx.Err() != nil {
		return x.explain(context.Cause(x.ctx))
	}
	return ErrNotHolding
}
