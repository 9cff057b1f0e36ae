package main

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// forever is longer than the program runs.
const forever = 24 * time.Hour

// campaign has the singleton run on this node whenever its lock is held here. stop ends that, and waits
// until it has.
func campaign(system *actor.ActorSystem, from actors.Provider, h *holder, by string) (stop func()) {
	props := actor.PropsFromProducer(func() actor.Actor { return &singleton{holder: h, by: by} })
	ended := make(chan struct{})
	parent := system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch ctx.Message().(type) {
		case *actor.Started:
			ctx.Spawn(actors.NewSingleton(from, messages.Acquire{Path: singletonPath}, props))
		case *actor.Stopped:
			close(ended)
		}
	}))
	return func() {
		system.Root.Stop(parent)
		<-ended
	}
}

// singleton is the actor that exists once. It tells the witness so, for as long as it does.
type singleton struct {
	holder *holder
	by     string
	told   chan struct{}
}

// term is a lease as holders see it.
type term struct{ *actors.Activation }

func (t term) Context() context.Context { return t.Activation.Context }

// Receive takes one message.
func (s *singleton) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *actors.Activation:
		look := Look{Path: singletonPath, Who: "singleton", By: s.by, Token: int64(msg.Token)}
		s.told = make(chan struct{})
		go func() {
			defer close(s.told)
			_ = s.holder.hold(context.Background(), forever, look, term{msg})
		}()
	case *actor.Stopping: // the context of the term has ended; the lock is given back behind this
		<-s.told
	}
}
