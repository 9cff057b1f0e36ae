package zkconn

import (
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/lease"
)

// LeaseClock knows until when a session is certain to live at the servers: see package lease.
type LeaseClock = lease.Clock

// SteadyLease is the part of the session timeout for which a lease runs: see lease.Steady.
const SteadyLease = lease.Steady

// NewLeaseClock makes a clock without a lease: see lease.NewClock.
func NewLeaseClock(suspended func() time.Duration) *LeaseClock { return lease.NewClock(suspended) }

// pingFrame is the ping that the library sends every third of a session timeout.
var pingFrame = requestFrame(xidPing, opPing, nil)

// The requests of our own that keep the evidence for the lease coming. Their path is of no
// importance: it may not exist, and its ACL may forbid to look at it.
var (
	syncFrame = requestFrame(xidOwn, opSync, onRoot)
	// checkFrame is a multi of one part, a check of any version, and the mark behind the last part.
	checkFrame = requestFrame(xidOwn, opMulti, append(append(partHeader(opCheck, false),
		append(onRoot, 0xff, 0xff, 0xff, 0xff)...), partHeader(typeOfError, true)...))
	onRoot = []byte{0, 0, 0, 1, '/'}
)
