package actors

import (
	"encoding/json"
	"os"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
)

// Address names an actor as no other actor of its process is named, whose actor systems all count from one.
func Address(system *actor.ActorSystem, pid *actor.PID) string {
	return system.ID + "/" + pid.GetAddress() + "/" + pid.GetId()
}

// Caller names an actor, by its Address, in a way that no other process does, and as Waits does.
func Caller(actor string) string {
	return queue.Owner{Host: hostname(), PID: os.Getpid(), Actor: actor}.Waits()
}

// ownerData is what the contender's node says of who made it, and at which place of a transaction. It is made
// when it is needed: a request that waits does not keep it.
func ownerData(sp *coordinator.Spec, place int) []byte {
	o := queue.Owner{Host: hostname(), PID: os.Getpid(), Actor: sp.By, Owner: sp.Want.Owner, Caller: sp.Want.Caller,
		Label: sp.Want.Label, Priority: sp.Want.Priority, Mode: sp.Want.Mode.String(), Place: place,
		Detects: sp.Want.Deadlocks.Every > 0, Since: sp.Since.UTC()}
	if sp.One != "" {
		o.ID = sp.GUID
	}
	data, err := json.Marshal(o)
	if err != nil { // strings, a number and a time of this century: it cannot happen
		return nil
	}
	return data
}

// hostname is asked for once: it is written into every node.
var hostname = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
})
