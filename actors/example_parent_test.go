package actors_test

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// clerk is an actor that works while it holds a lock.
type clerk struct {
	session *actors.Session
	lock    *actor.PID
	over    chan<- struct{}
}

func (c *clerk) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		c.lock = ctx.Spawn(actors.NewLock(c.session, messages.Acquire{Path: "/orders/42"}))
	case *messages.Held:
		fmt.Println("held", msg.Path, "with a token:", msg.Token > 0)
		ctx.Send(c.lock, &messages.Release{}) // or stop the lock actor, or die: it is given back
	case *messages.RevokeRequested: // somebody asks for it
		ctx.Send(c.lock, &messages.Release{})
	case *messages.Suspended: // the connection is down; work may go on until msg.Until
	case *messages.Lost: // it is not ours any more, for good: msg.Reason
	case *messages.Released:
		fmt.Println("released:", msg.Reason)
		close(c.over)
	}
}

// An actor spawns a lock actor as its child and hears its notices.
func ExampleNewLock() {
	played(func(session *actors.Session, over chan<- struct{}) actor.ReceiveFunc {
		return (&clerk{session: session, over: over}).Receive
	})
	// Output:
	// held /orders/42 with a token: true
	// released: released by its owner
}

// Somebody asks for the lock, and the actor that holds it is told.
func ExampleNewLock_revoked() {
	played(func(session *actors.Session, over chan<- struct{}) actor.ReceiveFunc {
		var lock *actor.PID
		came := 0
		both := func() { // in either order
			if came++; came == 2 {
				close(over)
			}
		}
		return func(ctx actor.Context) {
			switch msg := ctx.Message().(type) {
			case *actor.Started:
				lock = ctx.Spawn(actors.NewLock(session, messages.Acquire{Path: "/orders/42", Label: "billing"}))
			case *messages.Held:
				ctx.Request(session.PID(), &messages.SendRevokeRequest{Path: "/orders/42"}) // in any program
			case *messages.RevokeRequestSent:
				fmt.Println("asked:", msg.Asked[0].Label)
				both()
			case *messages.RevokeRequested:
				ctx.Send(lock, &messages.Release{})
			case *messages.Released:
				both()
			}
		}
	})
	// Output: asked: billing
}

// An actor that ends gives back what it has: the lock actor is its child.
func ExampleNewLock_parentEnds() {
	played(func(session *actors.Session, over chan<- struct{}) actor.ReceiveFunc {
		var first *actor.PID
		return func(ctx actor.Context) {
			switch msg := ctx.Message().(type) {
			case *actor.Started:
				first = ctx.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
					switch ctx.Message().(type) {
					case *actor.Started:
						ctx.Spawn(actors.NewLock(session, messages.Acquire{Path: "/orders/42"}))
					case *messages.Held:
						ctx.Stop(ctx.Self()) // or it panics
					}
				}))
				ctx.Watch(first)
			case *actor.Terminated:
				if msg.Who.Equal(first) {
					ctx.Spawn(actors.NewLock(session, messages.Acquire{Path: "/orders/42"}))
				}
			case *messages.Held:
				fmt.Println("the next one holds")
				close(over)
			}
		}
	})
	// Output: the next one holds
}

// The lock is taken away: an operator breaks it, as he would when its holder hung.
func ExampleNewLock_lost() {
	played(func(session *actors.Session, over chan<- struct{}) actor.ReceiveFunc {
		return func(ctx actor.Context) {
			switch msg := ctx.Message().(type) {
			case *actor.Started:
				ctx.Spawn(actors.NewLock(session, messages.Acquire{Path: "/orders/42"}))
			case *messages.Held:
				ctx.Request(session.PID(), &messages.ReadQueue{Path: "/orders/42"})
			case *messages.Queue:
				ctx.Request(session.PID(), &messages.Break{Contender: msg.Contenders[0]})
			case *messages.Lost:
				fmt.Println("lost:", msg.Reason)
				close(over)
			}
		}
	})
	// Output: lost: the contender node was deleted by somebody else
}
