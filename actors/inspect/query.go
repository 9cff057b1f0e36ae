package inspect

import (
	"cmp"
	"errors"
	"reflect"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// query is a query of package messages. One without run is answered by its session alone.
type query struct {
	wrong   error // it is not well formed
	refused any   // the answer that refuses it, but for its Refusal
	// run carries the query out, on goroutines, again after an unknown outcome and in a new epoch.
	run func(conn *zkconn.Conn, own calls) (answer any, err error)
	// root is where run needs the session's own calls, below it; "" for nowhere.
	root string
	// finish completes an answer by what the session knows, on its goroutine; nil where there is nothing to add.
	finish func(s *Session, answer any) any
}

// refuse fills in the field Refusal, which all answers have but that to a probe.
func (q *query) refuse(why messages.Refusal) any {
	if field := reflect.ValueOf(q.refused).Elem().FieldByName("Refusal"); field.IsValid() {
		field.Set(reflect.ValueOf(why))
	}
	return q.refused
}

func act(conn *zkconn.Conn, msg any) (answer any, err error) {
	q := queryOf(msg)
	if q.wrong != nil {
		return nil, q.wrong
	}
	return q.run(conn, nil)
}

// Session has the functions of a session that its Dispatcher uses.
type Session struct {
	// Run calls work on another goroutine, and then on the session's, unless the epoch is over by
	// then.
	Run func(work func(*zkconn.Conn) (then func()))
	// After calls do on the session's goroutine after d, unless the epoch is over by then.
	After func(d time.Duration, do func())
	// Unused reports whether a node is this session's and nobody holds or waits with it any more.
	Unused func(node messages.Contender) bool
	// Calls gives the calls above this session, below a root, that have its shared nodes, and those
	// that wait behind one (WaitsFor), in order, each with an ID.
	Calls func(root string) []messages.Contender
	// Inside gives the first requests of this session, below a root, that wait without a node, and
	// counts all of them.
	Inside func(root string) (first []messages.Contender, all int)
}

// Errors that the functions of this package wrap, besides those of package zkconn.
var (
	// ErrBadQuery: the query is not well formed; the text names the value and the rule.
	ErrBadQuery = errors.New("turnstile: bad request")
	// ErrGone: the contender's node does not exist any more, or is another's.
	ErrGone = errors.New("turnstile: the contender is gone")
)

// reasons has the refusals that nothing but another query changes.
var reasons = []struct {
	err    error
	reason messages.Reason
}{
	{zkconn.ErrNoAuth, messages.ReasonNoAuth},
	{zkconn.ErrBadPath, messages.ReasonBadInput},
	{zkconn.ErrTooLarge, messages.ReasonBadInput},
	{ErrBadQuery, messages.ReasonBadInput},
	{queue.ErrNoPermits, messages.ReasonPermits},
	{ErrGone, messages.ReasonGone},
}

func refusal(err error) messages.Refusal {
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return messages.Refusal{Reason: r.reason, Detail: err.Error()}
		}
	}
	return messages.Refusal{Reason: messages.ReasonRefused, Detail: err.Error()}
}

func retriable(err error) bool {
	outcome := zkconn.OutcomeOf(err)
	return refusal(err).Reason == messages.ReasonRefused &&
		(outcome == zkconn.NotSent || outcome == zkconn.Unknown || outcome == zkconn.Deferred)
}

// atOnce bounds the parallel reads of one query: as many as the library's queue holds.
const atOnce = 16

// inParallel calls do with 0 to n-1, several at a time, up to the first error, which it gives. A
// panic in do becomes the caller's.
func inParallel(n int, do func(i int) error) error {
	var (
		workers sync.WaitGroup
		mu      sync.Mutex
		next    int
		failed  error
		fault   any
	)
	take := func() (i int, more bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= n && failed == nil && fault == nil
	}
	fail := func(err error, panicked any) {
		mu.Lock()
		defer mu.Unlock()
		failed, fault = cmp.Or(failed, err), cmp.Or(fault, panicked)
	}
	for range min(n, atOnce) {
		workers.Go(func() {
			defer func() { fail(nil, recover()) }()
			for i, more := take(); more; i, more = take() {
				if err := do(i); err != nil {
					fail(err, nil)
				}
			}
		})
	}
	workers.Wait()
	if fault != nil {
		panic(fault)
	}
	return failed
}
