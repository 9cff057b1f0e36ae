package actors

import "github.com/asynkron/protoactor-go/actor"

// deliver forwards a message to the child, or keeps it, or makes it a dead letter.
func (s *singletonActor) deliver(ctx actor.Context) {
	switch ctx.Message().(type) {
	case actor.MessageBatch: // its messages came before it
		return
	case *actor.Touch: // which the actor system answers for this address
		return
	}
	switch {
	case s.child != nil && s.m.Forwards() && s.term.valid():
		ctx.Forward(s.child)
	case len(s.buffer) < s.settings.buffer && !s.m.Ends():
		s.buffer = append(s.buffer, envelope(ctx))
	default:
		ctx.ActorSystem().DeadLetter.SendUserMessage(ctx.Self(), envelope(ctx))
	}
}

// envelope gives the message as it came.
func envelope(ctx actor.Context) *actor.MessageEnvelope {
	env := &actor.MessageEnvelope{Message: ctx.Message(), Sender: ctx.Sender()}
	if header := ctx.MessageHeader(); header != nil {
		for _, key := range header.Keys() {
			env.SetHeader(key, header.Get(key))
		}
	}
	return env
}

// flush gives the child what was kept.
func (s *singletonActor) flush(ctx actor.Context) {
	for _, env := range s.buffer {
		ctx.Send(s.child, env)
	}
	s.buffer = nil
}

// drop makes dead letters of what was kept: no child will come.
func (s *singletonActor) drop(ctx actor.Context) {
	for _, env := range s.buffer {
		ctx.ActorSystem().DeadLetter.SendUserMessage(ctx.Self(), env)
	}
	s.buffer = nil
}
