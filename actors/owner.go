package actors

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Owner is what a contender's node says of who made it, as JSON.
type Owner struct {
	// Host and PID are the machine and the process.
	Host string `json:"host"`
	PID  int    `json:"pid"`
	// ID is the GUID of the request, in contests, whose node's name has none.
	ID string `json:"id,omitempty"`
	// Actor is the address of the actor that asked; Owner and Caller are the keys that it gave, if any.
	Actor  string `json:"actor,omitempty"`
	Owner  string `json:"owner,omitempty"`
	Caller string `json:"caller,omitempty"`
	Label  string `json:"label,omitempty"`
	Mode   string `json:"mode"`
	// Place is that of the node among the creates of its transaction, from which its token is known.
	Place int `json:"place,omitempty"`
	// Detects: it looks for deadlocks while it waits.
	Detects bool `json:"detects,omitempty"`
	// Since is when it was asked for, by the clock of that machine.
	Since time.Time `json:"since"`
}

// Waits names who stands still while a contender waits: the key that it gave, or else the actor, of which
// there is one in a process of a machine.
func (o Owner) Waits() string {
	switch {
	case o.Caller != "":
		return o.Caller
	case o.Owner != "":
		return o.Owner
	case o.Actor != "":
		return fmt.Sprintf("%s/%d/%s", o.Host, o.PID, o.Actor)
	}
	return ""
}

// Address names an actor as no other actor of its process is named, whose actor systems all count from one.
func Address(system *actor.ActorSystem, pid *actor.PID) string {
	return system.ID + "/" + pid.GetAddress() + "/" + pid.GetId()
}

// Caller names an actor, by its Address, in a way that no other process does, and as Waits does.
func Caller(actor string) string {
	return Owner{Host: hostname(), PID: os.Getpid(), Actor: actor}.Waits()
}

// data is what the contender's node says of who made it, and at which place of a transaction. It is made when it is
// needed: a request that waits does not keep it.
func (sp *spec) data(place int) []byte {
	o := Owner{Host: hostname(), PID: os.Getpid(), Actor: sp.by, Owner: sp.want.Owner, Caller: sp.want.Caller,
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
