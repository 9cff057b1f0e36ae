package locks

import (
	"context"
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// Mutex is an exclusive lock. It holds no state: any number of goroutines may lock one Mutex, or
// several of the same path, and each call queues for itself.
type Mutex struct {
	client    *Client
	want      messages.Acquire
	observers []*actor.PID
}

// MutexOption changes how a Mutex is locked.
type MutexOption func(*Mutex)

// WithLabel writes a text into the contender's node, for people who look at the queue: at most 1024
// bytes.
func WithLabel(label string) MutexOption { return func(m *Mutex) { m.want.Label = label } }

// WithGrace gives the lock back by force this long after somebody has asked for it. Without it being
// asked is told by Lease.Revoked, and nothing more.
func WithGrace(d time.Duration) MutexOption { return func(m *Mutex) { m.want.Grace = d } }

// WithObserver names actors that get the notices and transitions of every request: see
// actors.WithObserver. An actors.Recorder is one.
func WithObserver(pids ...*actor.PID) MutexOption {
	return func(m *Mutex) { m.observers = append(m.observers, pids...) }
}

// Mutex gives the exclusive lock at a path. A bad path is refused by Lock.
func (c *Client) Mutex(path string, opts ...MutexOption) *Mutex {
	m := &Mutex{client: c, want: messages.Acquire{Path: path}}
	for _, opt := range opts {
		opt(m)
	}
	return m
}

// Lock waits until the lock is held, or ctx ends, and gives the lease. Errors are of type *Error and
// wrap that of ctx (its cause too), zkconn.ErrBadPath, zkconn.ErrNoAuth, ErrClosed, or ErrFailed. After
// an error no node of the request is left, or it is being deleted: whatever ctx does, the request is
// followed to its end.
func (m *Mutex) Lock(ctx context.Context) (*Lease, error) { return m.acquire(ctx, m.want) }

// TryLock is Lock that does not wait for others: when somebody is before us it returns ErrNotAcquired,
// and leaves no node.
func (m *Mutex) TryLock(ctx context.Context) (*Lease, error) {
	want := m.want
	want.Try = true
	return m.acquire(ctx, want)
}

func (m *Mutex) acquire(ctx context.Context, want messages.Acquire) (*Lease, error) {
	refuse := func(err error) (*Lease, error) {
		return nil, &Error{Op: "lock", Path: want.Path, Err: err}
	}
	if err := actors.CheckAcquire(want); err != nil {
		return refuse(err)
	}
	if ctx.Err() != nil {
		return refuse(ended(ctx))
	}
	if err := m.client.enter(); err != nil {
		return refuse(err)
	}
	r := newRequest(m.client, want, m.observers, context.WithoutCancel(ctx))
	r.pid = m.client.system.Root.Spawn(r.props())
	select {
	case a := <-r.answer:
		return a.lease, a.err
	case <-ctx.Done():
		// The request is told, and goes on without us until its node is gone. A grant that is in the
		// channel already, or on its way there, is given back like any other.
		m.client.system.Root.Send(r.pid, &giveUp{})
		at := r.where()
		return nil, &Error{Op: "lock", Path: want.Path, Node: at.Node, State: at.To, Err: m.client.session.Explain(ended(ctx))}
	}
}

// ended is the error of a ctx that is done, with its cause where that says more.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return errors.Join(err, cause)
}
