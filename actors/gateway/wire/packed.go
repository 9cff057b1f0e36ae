package wire

import (
	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"

	"github.com/turnstile-locks/turnstile/messages"
)

// Packed is a message of package messages that crosses to another node: see Pack.
type Packed struct {
	// Message is a pointer to a notice, a messages.Transition, or a command. It is nil for one that
	// this program does not know.
	Message any

	sender *actor.PID // on arrival: the sender of the message
}

var (
	_ remote.RootSerializable = (*Packed)(nil)
	_ remote.RootSerialized   = (*PackedTransport)(nil)
	_ actor.MessageBatch      = (*Packed)(nil)
)

// Pack converts a notice, a messages.Transition or a command (messages.Release, Cancel, Revoke;
// values or pointers), so that it can be sent to another node. On this node it arrives likewise.
// Pack gives back anything else as it is.
func Pack(message any) any {
	switch m := message.(type) {
	case messages.Release:
		return &Packed{Message: &m}
	case messages.Cancel:
		return &Packed{Message: &m}
	case messages.Revoke:
		return &Packed{Message: &m}
	case *messages.Release, *messages.Cancel, *messages.Revoke:
		return &Packed{Message: m}
	}
	if FromNotice(message, 0) == nil {
		return message
	}
	return &Packed{Message: message}
}

// GetMessages gives the message to protoactor's mailboxes, which unpack it.
func (p *Packed) GetMessages() []any {
	switch {
	case p.Message == nil:
		return nil
	case p.sender == nil:
		return []any{p.Message}
	}
	return []any{&actor.MessageEnvelope{Message: p.Message, Sender: p.sender}}
}

// IgnoreDeadLetterLogging keeps it out of the log, as the commands are kept.
func (*Packed) IgnoreDeadLetterLogging() {}

// Serialize is for protoactor's remote.
func (p *Packed) Serialize() (remote.RootSerialized, error) {
	t := &PackedTransport{}
	if !put(t, p.Message, Valid) {
		t.What = &PackedTransport_Event{FromNotice(p.Message, 0)}
		if g := GrantIn(p.Message); g != nil {
			t.Lock = &ActorID{Address: g.Actor.Address, Id: g.Actor.ID}
		}
	}
	return t, nil
}

// Deserialize is for protoactor's remote. It gives no error, for that would end the connection of
// the nodes.
func (x *PackedTransport) Deserialize() (remote.RootSerializable, error) {
	if x.GetEvent() == nil {
		return &Packed{Message: what(x)}, nil
	}
	p := &Packed{}
	if p.Message, _ = x.GetEvent().Notice(); p.Message != nil {
		p.sender = actor.NewPID(x.GetLock().GetAddress(), x.GetLock().GetId())
		GrantIn(p.Message).Actor = messages.ActorID{Address: x.GetLock().GetAddress(), ID: x.GetLock().GetId()}
	}
	return p, nil
}
