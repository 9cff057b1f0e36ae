package shell

import "github.com/asynkron/protoactor-go/actor"

// backlog is what came while a singleton was nobody's, in order, up to a bound.
type backlog struct {
	most int
	kept []*actor.MessageEnvelope
}

// keep keeps the message that an actor is at, if there is room.
func (b *backlog) keep(ctx actor.Context) bool {
	if len(b.kept) >= b.most {
		return false
	}
	b.kept = append(b.kept, envelope(ctx))
	return true
}

// take gives what was kept.
func (b *backlog) take() []*actor.MessageEnvelope {
	kept := b.kept
	b.kept = nil
	return kept
}

// envelope gives the message that an actor is at as it came.
func envelope(ctx actor.Context) *actor.MessageEnvelope {
	env := &actor.MessageEnvelope{Message: ctx.Message(), Sender: ctx.Sender()}
	if header := ctx.MessageHeader(); header != nil {
		for _, key := range header.Keys() {
			env.SetHeader(key, header.Get(key))
		}
	}
	return env
}
