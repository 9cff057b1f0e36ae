package locks

import (
	"context"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// follow sends a value that of derives from a queue, at once and whenever its identity changes,
// until ctx ends or the client is closed; then the channel is closed.
func follow[T any](ctx context.Context, c *Client, op string, what messages.Follow, of func(*messages.Queue) T,
	identity func(T) any) (<-chan T, error) {
	path := what.Path
	if err := zkconn.CheckPath(path); err != nil {
		return nil, fmt.Errorf("turnstile: %s %s: %w", op, zkconn.Shown(path), err)
	}
	if c.session.PID() == nil {
		return nil, fmt.Errorf("turnstile: %s %s: %w", op, zkconn.Shown(path), ErrNeedsSession)
	}
	if err := c.enter(ctx, &c.followers); err != nil {
		return nil, fmt.Errorf("turnstile: %s %s: %w", op, zkconn.Shown(path), err)
	}
	f := &follower[T]{client: c, what: what, of: of, identity: identity, out: make(chan T, 1), ended: make(chan struct{})}
	pid := c.system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return f }, actor.WithMailbox(newFollowerBox)))
	go func() {
		select {
		case <-ctx.Done():
		case <-c.gone: // before the session, which would tell an actor that has ended
		case <-f.ended:
			return
		}
		c.system.Root.Stop(pid)
	}()
	return f.out, nil
}

// followerBox is a follower's mailbox: its type tells gateway.WithRecovery that it takes nothing
// from other nodes.
type followerBox struct{ actor.Mailbox }

func (followerBox) TakesFromOtherNodes(bool) bool { return false }

func newFollowerBox() actor.Mailbox { return followerBox{actor.Unbounded()()} }

type follower[T any] struct {
	client   *Client
	what     messages.Follow
	of       func(*messages.Queue) T
	identity func(T) any
	out      chan T        // holds one: the newest
	ended    chan struct{} // closed when it has stopped
	over     bool          // the session is
	told     bool
	last     any
}

func (f *follower[T]) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		session := f.client.session.PID()
		ctx.Watch(session) // its end must not leave us waiting
		ctx.Request(session, &f.what)
	case *messages.Queue:
		switch msg.Reason {
		case messages.ReasonNone:
			f.tell(f.of(msg))
		case messages.ReasonSessionClosed: // Terminated follows
		default:
			ctx.Stop(ctx.Self())
		}
	case *actor.Terminated:
		f.over = true
		ctx.Stop(ctx.Self())
	case *actor.Stopping:
		if !f.over { // the session keeps its watchers, also one that has ended
			ctx.Unwatch(f.client.session.PID())
		}
	case *actor.Stopped:
		close(f.ended)
		close(f.out)
		f.client.followers.Done()
	}
}

// tell puts a value into the channel, in place of an unreceived one.
func (f *follower[T]) tell(what T) {
	now := f.identity(what)
	if f.told && now == f.last {
		return
	}
	f.told, f.last = true, now
	select {
	case <-f.out:
	default:
	}
	f.out <- what // only we write, so there is room
}
