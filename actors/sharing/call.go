package sharing

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/figures"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Call hears what becomes of a call. The methods must not block, and must not call Calls with a
// mutex that they take. Two may run at the same time: Told with StateLost comes past the queue when
// the lease ends.
type Call interface {
	// Granted: it holds. It comes first, within its input, with the mutex of Calls: so it notes the
	// grant and calls nobody, and returns what else is to be done. While the user withdraws it
	// changes nothing.
	Granted(id turns.CallID, hold *Hold, token messages.Token) (then func())
	// Refused: it has ended, and never held.
	Refused(why messages.Reason, detail string, more More)
	// Told: a granted call has a new state.
	//
	//   - StateRecovering: its hold is suspended. StateHeld or StateRevoking: it is resumed.
	//   - StateRevoking: somebody asks for the lock. until is the end of the grace; zero without
	//     one.
	//   - StateReleasing: it holds no more, because the grace is over. A final state follows.
	//   - StateReleased: it has given back. Where the hold was its alone, the node is gone. Final.
	//   - StateLost: it holds no more. Final.
	//   - StateFailed: it has given back, and nobody knows whether the node is gone. Final.
	Told(state messages.State, until time.Time, why messages.Reason, detail string)
}

// Waiter is a Call that is told whom it waits for.
type Waiter interface {
	Call
	// Behind tells the contender before the call, as messages.Behind and locks.Waiting say. It may
	// come late, and again with nothing new.
	Behind(contender messages.Contender)
}

// More is what else there is to tell of a refusal: the deadlock for which the call gave up, or the
// number of permits that it cannot have.
type More struct {
	Deadlock *messages.Deadlock
	Permits  int
}

// Own is a Call that may have a hold of its own (turns.Want.Alone).
type Own interface {
	Call
	// Troubled tells what keeps the servers from taking its hold back; "" for nothing any more.
	Troubled(text string)
	// Observers observe it: see actors.WithObserver.
	Observers() []*actor.PID
	Path() string
	// LockActors counts its lock actors, until they have ended; nil for a call that does not count
	// them.
	LockActors() *sync.WaitGroup
}

// Hold is a hold that calls have, one after the other or together.
type Hold struct {
	// ID names it for Calls.TxnEnded.
	ID turns.HoldID
	*messages.Held
	Clock *zkconn.LeaseClock
	// Shared: several calls may have it.
	Shared bool
	// Version is the version of its node that its transactions saw last: see actors.Transaction.
	Version atomic.Int32
	// Turn holds one while a transaction of the hold is under way.
	Turn  chan struct{}
	calls *Calls
}

// Valid reports whether the hold is certainly held now, by the clock.
func (h *Hold) Valid() bool { return h.Clock.Unbroken(h.Term) }

// Name names the lock actor of the hold, which has made its node.
func (h *Hold) Name() string { return h.Actor.Key(h.calls.system) }

// Caller names the caller that has a hold by a call, for messages.Acquire.Caller of what it asks
// for meanwhile. The node of a hold for one call says that name.
func (h *Hold) Caller(id turns.CallID) string {
	name := h.Name()
	if h.Shared {
		name += "#" + strconv.FormatUint(uint64(id), 16)
	}
	return queue.Caller(name)
}

type entry struct {
	id    turns.CallID
	who   Call
	want  *turns.Want
	at    time.Duration
	hold  *hold
	meter *figures.Request
	timer *time.Timer
	probe context.CancelFunc // ends its probes for deadlocks; nil without them
	told  Waiter             // itself, while it waits; nil for one that is not told whom it waits for
	first *hold              // that it was last known to be the first behind
}
