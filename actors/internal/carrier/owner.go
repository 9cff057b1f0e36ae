package carrier

import (
	"os"
	"sync"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
)

// ownerData is what the contender's node says of who made it, at which place of a transaction, and of how many wait
// behind it in its cohort. It is made when it is needed: a request that waits does not keep it.
func ownerData(sp *coordinator.Spec, place, behind int) []byte {
	o := OwnerOf(sp)
	o.Place, o.Waiting = place, behind
	if sp.One != "" {
		o.ID = sp.GUID
	}
	return o.Encode()
}

// OwnerOf is what there is to say of a request in its node.
func OwnerOf(sp *coordinator.Spec) queue.Owner {
	o := Owner(sp.By)
	o.Owner, o.Caller, o.Label, o.Reclaim = sp.Want.Owner, sp.Want.Caller, sp.Want.Label, sp.Want.Reclaim
	o.Priority, o.Mode = sp.Want.Priority, sp.Want.Mode.String()
	o.Detects, o.Since = sp.Want.Deadlocks.Every > 0, sp.Since.UTC()
	if sp.Want.Cohort > 1 {
		o.Cohort = sp.Want.Cohort
	}
	return o
}

// Owner is what there is to say of an actor of this process.
func Owner(actor string) queue.Owner {
	return queue.Owner{Host: hostname(), PID: os.Getpid(), Actor: actor}
}

// hostname is asked for once: it is written into every node.
var hostname = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
})
