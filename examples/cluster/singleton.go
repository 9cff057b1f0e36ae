package main

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/activation"
	"github.com/turnstile-locks/turnstile/messages"
)

// campaign has the singleton run on this node whenever its lock is held here. stop ends that, and waits.
func campaign(system *actor.ActorSystem, from activation.Locks, h *holder, by string) (stop func()) {
	props := actor.PropsFromProducer(func() actor.Actor { return &singleton{holder: h, by: by} },
		activation.Single(from, activation.At(messages.Acquire{Path: singletonPath})))
	stopped := make(chan struct{})
	parent := system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch ctx.Message().(type) {
		case *actor.Started, again:
			ctx.Spawn(props)
		case *actor.Terminated:
			root, self := ctx.ActorSystem().Root, ctx.Self()
			time.AfterFunc(100*time.Millisecond, func() { root.Send(self, again{}) })
		case *actor.Stopped:
			close(stopped)
		}
	}))
	return func() {
		system.Root.Stop(parent)
		<-stopped
	}
}

type again struct{}

// forever is longer than the program runs.
const forever = 24 * time.Hour

// singleton is the actor that exists once. It tells the witness that it does.
type singleton struct {
	holder *holder
	by     string
	stop   context.CancelFunc
	told   chan struct{}
}

// Receive takes one message.
func (s *singleton) Receive(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *actor.Started:
		lease := activation.LeaseOf(ctx)
		var runs context.Context
		runs, s.stop = context.WithCancel(context.Background())
		s.told = make(chan struct{})
		go func() {
			defer close(s.told)
			_ = s.holder.hold(runs, forever,
				Look{Path: singletonPath, Who: "singleton", By: s.by, Token: int64(lease.Token())}, lease)
		}()
	case *actor.Stopping:
		s.stop()
		<-s.told
	}
}
