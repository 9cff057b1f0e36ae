// Package shell is the actor around singleton.Machine. It spawns the lock actor of each campaign and
// the child of each term, tells the machine what happens to them, and carries out what that decides.
//
// It knows neither sessions nor lock actors: [Config] has what package actors gives it of those.
package shell

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// Config is one singleton.
type Config struct {
	// Path is the lock path.
	Path string
	// Props are those of the user's actor.
	Props *actor.Props
	// Failures within Within keep this node out for Out.
	Failures    int
	Within, Out time.Duration
	// Buffer is how many messages are kept while no child runs.
	Buffer int
	// Wrong is what is wrong with the request; nil for nothing. It ends the singleton at once.
	Wrong error

	// NewLock makes the props of a lock actor with this owner and this listener.
	NewLock func(owner *actor.PID, listener *Campaign) *actor.Props
	// LeaseClock gives the lease clock of a grant, by its messages.Held.Epoch.
	LeaseClock func(epoch uint64) *zkconn.LeaseClock
	// Session is where the locks come from; nil where that is no session of this process.
	Session Session
	// Timeout gives its session timeout, which bounds the pauses; nil where there is no Session.
	Timeout func() time.Duration
	// NewActivation makes the first message of an incarnation of the child.
	NewActivation func(term *Term, singleton *actor.PID) any
	// SameNode tells whether an actor runs in this actor system.
	SameNode func(system *actor.ActorSystem, pid *actor.PID) bool
}

// Session is what an *actors.Session does here: Close waits for the end of the child, and no longer
// than a session timeout.
type Session interface {
	// BeforeClose has Close call a function, and wait for it, unless it is to forget it before.
	BeforeClose(do func()) (forget func())
	// Timeout is the session timeout.
	Timeout() time.Duration
}
