package actors

import (
	"encoding/json"
	"os"

	"github.com/asynkron/protoactor-go/actor"

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

// data is what the contender's node says of who made it, and at which place of a transaction. It is made when it is
// needed: a request that waits does not keep it.
func (sp *spec) data(place int) []byte {
	o := queue.Owner{Host: hostname(), PID: os.Getpid(), Actor: sp.by, Owner: sp.want.Owner, Caller: sp.want.Caller,
		Label: sp.want.Label, Mode: sp.want.Mode.String(), Place: place,
		Detects: sp.want.Deadlocks.Every > 0, Since: sp.since.UTC()}
	if sp.contest() {
		o.ID = sp.guid
	}
	data, err := json.Marshal(o)
	if err != nil { // strings, a number and a time of this century: it cannot happen
		return nil
	}
	return data
}

// dataBytes is about how much that is.
func (sp *spec) dataBytes() int {
	const usual = 256
	return usual + len(sp.want.Label) + len(sp.want.Owner) + len(sp.want.Caller)
}

// saysTheSame tells whether the data of two requests differ in nothing but in which lock actor asks by itself, and
// when.
func (sp *spec) saysTheSame(other *spec) bool {
	return sp.child == other.child && (!sp.child || sp.by == other.by) && sp.want.Label == other.want.Label &&
		sp.want.Owner == other.want.Owner && sp.want.Caller == other.want.Caller &&
		(sp.want.Deadlocks.Every > 0) == (other.want.Deadlocks.Every > 0)
}
