// Package named has what actors need whose names are known before they are spawned.
package named

import "github.com/asynkron/protoactor-go/actor"

// Mailbox makes the mailbox of an actor that others may send to by its name while it is being spawned. The
// actor system registers the name before the mailbox knows who takes its messages: a message that comes
// in between is a data race, or a call of nothing, and one that comes right after is taken before
// actor.Started. Here it waits for the moment that the spawn still takes.
func Mailbox() actor.Mailbox {
	return &mailbox{Mailbox: actor.Unbounded()(), registered: make(chan struct{}), started: make(chan struct{})}
}

// mailbox holds up who sends too early.
type mailbox struct {
	actor.Mailbox
	registered chan struct{} // closed when it is known who takes messages
	started    chan struct{} // closed when actor.Started is in the mailbox
}

func (m *mailbox) RegisterHandlers(invoker actor.MessageInvoker, dispatcher actor.Dispatcher) {
	m.Mailbox.RegisterHandlers(invoker, dispatcher)
	close(m.registered)
}

// Start is called when actor.Started has been posted.
func (m *mailbox) Start() {
	m.Mailbox.Start()
	close(m.started)
}

func (m *mailbox) PostUserMessage(message any) {
	<-m.started
	m.Mailbox.PostUserMessage(message)
}

func (m *mailbox) PostSystemMessage(message any) {
	<-m.registered
	m.Mailbox.PostSystemMessage(message)
}
