package actors

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/messages"
)

// Audience is everybody that a lock actor reports to: its parent, and those that lock options name.
// It is for lock actors of other packages. It belongs to one lock actor, which calls it from
// Receive.
type Audience struct {
	audience
	listener Listener
}

// NewAudience reads lock options. WithRemote changes nothing: the audience runs on the lock actor's
// node.
func NewAudience(opts ...LockOption) *Audience {
	var settings lock
	for _, opt := range opts {
		opt(&settings)
	}
	settings.pack = nil
	return &Audience{settings.audience, settings.listener}
}

// Begin watches the owner. The error wraps ErrBadAcquire when one of the audience is on another
// node; the others can be told of it.
func (a *Audience) Begin(ctx actor.Context) error {
	if err := a.check(ctx); err != nil {
		return err
	}
	a.watch(ctx)
	return nil
}

// Tell tells the parent, the observers and the listener.
func (a *Audience) Tell(ctx actor.Context, notice any) {
	a.tell(ctx, notice)
	if a.listener != nil {
		a.listener.Hear(ctx.Self(), notice)
	}
}

// Record tells the observers and the listener a change of state.
func (a *Audience) Record(ctx actor.Context, t *messages.Transition) {
	if a.listener != nil {
		a.listener.Moved(t.To, t.Node)
	}
	for _, pid := range a.observers {
		ctx.Request(pid, t)
	}
}

// Troubled tells the listener what keeps the request from being carried out: see TroubleListener.
func (a *Audience) Troubled(text string) {
	if listener, ok := a.listener.(TroubleListener); ok {
		listener.Troubled(text)
	}
}

// OwnerEnded tells whether a Terminated says that the owner has ended, which means Release.
func (a *Audience) OwnerEnded(msg *actor.Terminated) bool { return ownerEnded(msg) }

// End stops watching the owner: the lock actor is stopping.
func (a *Audience) End(ctx actor.Context) { a.unwatch(ctx) }

// Stopped tells the listener that the lock actor has stopped.
func (a *Audience) Stopped(ctx actor.Context, msg *actor.Stopped) {
	if a.listener != nil {
		a.listener.Hear(ctx.Self(), msg)
	}
}
