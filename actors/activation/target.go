package activation

import "github.com/asynkron/protoactor-go/actor"

// target is the actor that is guarded, as others reach it. Its methods are called on any goroutine, the
// actor's own and the session's among them. The actor's mailbox may be bounded: then a message waits until
// there is room.
type target struct {
	system *actor.ActorSystem
	self   *actor.PID
}

// wakeUp tells a guard that its gate is open, or that more is kept.
type wakeUp struct{}

// NotInfluenceReceiveTimeout keeps it from counting as a message.
func (*wakeUp) NotInfluenceReceiveTimeout() {}

// IgnoreDeadLetterLogging keeps it out of the log: the actor may have stopped.
func (*wakeUp) IgnoreDeadLetterLogging() {}

func (t target) wake()   { go t.system.Root.Send(t.self, &wakeUp{}) }
func (t target) poison() { go t.system.Root.Poison(t.self) }
func (t target) stop()   { t.system.Root.Stop(t.self) }
