package actors

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/internal/carrier"
	"github.com/turnstile-locks/turnstile/messages"
)

// Address gives an actor's address, unique in its process: actor systems of one process all count
// from one.
func Address(system *actor.ActorSystem, of messages.ActorID) string {
	return system.ID + "/" + of.Address + "/" + of.ID
}

// Caller makes of an actor's Address a caller that no other process names: see
// messages.Acquire.Caller.
func Caller(actor string) string {
	return carrier.Owner(actor).Waits()
}
