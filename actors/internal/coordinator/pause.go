package coordinator

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/zkconn/retry/hungup"
)

// Pauses. A server may close the connection in place of an answer, each time that it is sent the same request: it is larger
// than the server reads (jute.maxbuffer), or a proxy does not know it. Sent again on each connection, it would cost all
// requests of the session theirs, five hundred times a second. So the second such failure in a row of the same order of a
// request suspects that order: it waits, and goes by itself. Nothing else of the session waits. The removal of an ended
// request's node has pauses of its own (removalStep), and so have looks (look.go).
//
// A connection that is lost for other reasons looks the same. Two in a row cost an innocent request a pause of a tenth of a
// second.
//
// A request that a server puts off (throttled, read-only) was not carried out. It is sent again after a pause, too.

// suspected is the number of failures in a row after which an order waits.
const suspected = 2

// isSuspect reports whether the server hangs up on orders of this kind.
func (p *pace) isSuspect() bool { return p.failures >= suspected && !p.deferred }

// isLate reports whether orders of this kind come after a pause.
func (p *pace) isLate() bool { return p.isSuspect() || p.deferred }

// pauseBefore has an order wait for the end of the pause.
func (c *Coordinator) pauseBefore(r *request, e machine.Effect) {
	p := r.pace
	p.waiting = e
	if p.timer == 0 {
		pause := pauseAfter(p.failures, uint64(r.id))
		if e.Do == machine.Verify { // of a holder
			pause = c.whileHeld(pause)
		}
		p.timer = c.after(pause, timer{kind: PauseTimer, operation: operation{request: r.id}})
	}
}

// whileHeld bounds a pause: three more attempts fit into what is left of the lease.
func (c *Coordinator) whileHeld(pause time.Duration) time.Duration {
	if left := c.at.Lease.Left; left > 0 {
		pause = min(pause, max(left/4, hungup.First/10))
	}
	return pause
}

// pauseAfter gives the pause after so many failures of a request, or of the looks at a path.
func pauseAfter(failures int, of uint64) time.Duration {
	pause := hungup.First
	for ; failures > suspected && pause < hungup.Longest; failures-- {
		pause *= hungup.Growth
	}
	return spread(min(pause, hungup.Longest), failures, of)
}

// spread changes a pause by up to a half. What fails together is not sent together again: one that the servers hang up on
// would cost the others their connection each time.
func spread(pause time.Duration, failures int, of uint64) time.Duration {
	const fine = 1 << 10
	// The fractional part of the golden ratio's multiples is spread evenly (Knuth, TAOCP 3, 6.4).
	part := (of*0x9e3779b97f4a7c15 + uint64(failures)<<60) >> 54
	return (pause/2 + pause*time.Duration(part)/fine).Round(time.Millisecond)
}

// removalStep is the first pause of a removal, and by so much each is longer than the one before, up to a session timeout.
// Spread, it buys at most twenty removals of a node in a second.
const removalStep = 100 * time.Millisecond
