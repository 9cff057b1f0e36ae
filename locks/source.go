package locks

import (
	"context"
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// Source is where a client's locks come from: an *actors.Session, or gateways on other nodes
// (package actors/gateway, which brings the only other one). Its methods may be called from any
// goroutine.
type Source interface {
	actors.Provider
	// Absolute gives a path as the servers know it, chroot and all.
	Absolute(path string) string
	// Servers lists the servers, each as host and port, in order.
	Servers() []string
	// SpawnLock spawns a lock actor: see actors.Session.SpawnLock.
	SpawnLock(want *messages.Acquire, to actors.Listener, observers []*actor.PID) *actor.PID
	// Ask carries out a query of package messages: see actors.Session.Ask.
	Ask(ctx context.Context, query any) (answer any, err error)
	// PID is the actor that takes messages.Follow; nil where there is none.
	PID() *actor.PID
	// LastWord is how long Unlock waits at least, because news of the end may be on its way from the
	// lock actor.
	LastWord() time.Duration
	// Explain adds to an error what is known of why nothing is heard.
	Explain(err error) error
	// Close ends all lock actors, and waits until they have ended: see actors.Session.Close.
	Close(ctx context.Context) error
}

// ErrNeedsSession: what was asked for does not work over a gateway.
var ErrNeedsSession = errors.New("turnstile: this needs a session, and does not work over a gateway")
