package locks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.opentelemetry.io/otel/trace"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/sharing"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/told"
)

// Client acquires locks through one ZooKeeper session, and after its expiry through the next; that
// of gateway.Open has gateways instead. Safe for concurrent use.
type Client struct {
	system  *actor.ActorSystem
	ours    bool // made by Open
	session Source
	tracer  trace.Tracer
	open    *openLeases

	mu                  sync.Mutex
	over                atomic.Bool
	gone                chan struct{}
	shutdown            sync.Once
	requests, followers sync.WaitGroup
	calls               *sharing.Calls
	signals             sync.Pool // of chan struct{}, for calls of Lock that wait

	// lastWord bounds the time in which the end of a lock reaches a waiting goroutine.
	lastWord time.Duration

	changes *told.Queue[func()] // calls of WithOnChange's functions
	told    *told.Queue[func()] // of spans
}

// Open connects to ZooKeeper and waits for a session, or until ctx ends; the error then names the
// servers and the last cause. Give ctx a deadline: a wrong host is only logged, after a session
// timeout. servers is a list like "zk1:2181,zk2:2181/chroot". Errors wrap zkconn.ErrBadConfig for
// bad input (nothing is sent), and zkconn.ErrAuthFailed for refused credentials. After an error
// nothing runs.
func Open(ctx context.Context, servers string, opts ...Option) (*Client, error) {
	var o options
	for _, opt := range opts {
		if err := opt(&o); err != nil {
			return nil, err
		}
	}
	cfg, err := zkconn.NewConfig(servers, o.conn...)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("turnstile: open %s: %w", servers, err)
	}
	system := o.system
	if system == nil {
		system = newSystem(cfg.Logger())
	}
	c := newClient(system, &o)
	c.ours = o.system == nil
	session, err := actors.StartSession(c.system, cfg, o.session...)
	if err == nil {
		c.session, c.told, c.calls, c.lastWord = session, session.Told(), sharing.New(session, system), 100*time.Millisecond
		err = session.Ready(ctx)
	}
	if err != nil {
		c.abort()
		return nil, err
	}
	return c, nil
}

// NewClient makes a client of a source other than a session, in that source's actor system;
// gateway.Open calls it. Close closes the source, not the system. Options other than
// WithTracerProvider and WithUnreleased are refused with ErrBadAcquire.
func NewClient(system *actor.ActorSystem, from Source, opts ...Option) (*Client, error) {
	var o options
	for _, opt := range opts {
		if err := opt(&o); err != nil {
			return nil, err
		}
	}
	if o.ofSession() {
		return nil, fmt.Errorf("turnstile: %w: an option of a session has no effect on a client of gateways", ErrBadAcquire)
	}
	c := newClient(system, &o)
	c.session, c.told, c.calls = from, told.NewCalls(told.Most, nil), sharing.New(from, system)
	c.lastWord = 2 * time.Second // from another node
	return c, nil
}

func newClient(system *actor.ActorSystem, o *options) *Client {
	return &Client{system: system, tracer: o.tracer, open: o.open, gone: make(chan struct{}), changes: newChanges(system)}
}

func newChanges(system *actor.ActorSystem) *told.Queue[func()] {
	return told.NewCalls(0, func(r any) { told.LogPanic(system.Logger(), "a function of WithOnChange panicked", r) })
}

func newSystem(log *slog.Logger) *actor.ActorSystem {
	system := actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return log }),
		// After a dead letter protoactor keeps a goroutine for this long, also beyond Shutdown.
		actor.WithDeadLetterThrottleInterval(100*time.Millisecond))
	shrink(system.ProcessRegistry.LocalPIDs)
	return system
}

// shrink leaves one of a new actor system's 1 024 maps of actors (4.5 MB while empty). One has 32
// parts with a lock each: enough for a session. Nothing else may use the system yet.
func shrink(actors *actor.SliceMap) {
	all := actors.LocalPIDs
	one := slices.Clone(all[:1])
	for _, bucket := range all[1:] {
		if bucket.IsEmpty() {
			continue // Items starts 32 goroutines
		}
		for id, process := range bucket.Items() {
			one[0].Set(id, process)
		}
	}
	actors.LocalPIDs = one
}

// abort undoes a failed Open. Closing a connection takes a few seconds at most.
func (c *Client) abort() {
	if c.session != nil {
		_ = c.session.Close(context.Background())
	}
	if c.ours {
		c.system.Shutdown()
	}
}

// Close closes the session, so the servers pass its locks on at once. Held locks end with ErrLost,
// calls of Lock with ErrClosed. It waits until all requests have ended, or ctx has, but not for
// callbacks: WithOnChange may be called later, and a callback may call Close. Closing again gives
// the same answer.
//
// When the servers could not be told, others wait for the locks until the session expires: the
// error wraps ErrSessionRemains, and a warning is logged. The client is closed even so. Close tries
// until shortly before the deadline of ctx, for a session timeout at most; without a deadline it
// gives up at once.
func (c *Client) Close(ctx context.Context) error {
	c.mu.Lock()
	if !c.over.Swap(true) {
		close(c.gone)
	}
	c.mu.Unlock()
	if c.open != nil {
		c.open.tellAll(ctx)
	}
	c.followers.Wait() // they stop at once
	c.calls.Close()
	remains := c.session.Close(ctx)
	if remains != nil && !errors.Is(remains, ErrSessionRemains) {
		return remains
	}
	all := make(chan struct{})
	go func() {
		c.requests.Wait()
		if c.calls.Wait(ctx) {
			close(all)
		}
	}()
	select {
	case <-all:
	case <-ctx.Done():
		return fmt.Errorf("turnstile: close: %w", ctx.Err())
	}
	c.shutdown.Do(func() {
		if c.ours {
			c.system.Shutdown()
		}
	})
	telling, cancel := told.Closing(ctx)
	defer cancel()
	c.told.Wait(telling)
	return remains
}

// Session gives the session actor, for programs that spawn lock actors of their own; nil where the
// client's locks come from gateways.
func (c *Client) Session() *actors.Session {
	session, _ := c.session.(*actors.Session)
	return session
}

// System gives the actor system that the client runs in.
func (c *Client) System() *actor.ActorSystem { return c.system }

// enter counts a call, unless its ctx has ended or the client is closed. Package sharing counts
// those of Lock.
func (c *Client) enter(ctx context.Context, calls *sync.WaitGroup) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over.Load() {
		return ErrClosed
	}
	calls.Add(1)
	return nil
}

// Source provides a client's locks: an *actors.Session, or gateways on other nodes (package
// actors/gateway). Safe for concurrent use.
type Source interface {
	actors.Provider
	// Absolute gives a path as the servers know it, with the chroot.
	Absolute(path string) string
	// Servers lists the servers, each as host and port, in order.
	Servers() []string
	// Timeout is the session timeout, or that of the gateways' sessions; zero where unknown.
	Timeout() time.Duration
	// SpawnLock spawns a lock actor: see actors.Session.SpawnLock.
	SpawnLock(want *messages.Acquire, to actors.Listener, observers []*actor.PID) *actor.PID
	// Ask carries out a query of package messages: see actors.Session.Ask.
	Ask(ctx context.Context, query any) (answer any, err error)
	// PID is the actor that takes messages.Follow; nil where no actor does.
	PID() *actor.PID
	// Explain adds to an error the known cause of a silence, such as a refused connection.
	Explain(err error) error
	// Close is actors.Session.Close.
	Close(ctx context.Context) error
}

// State gives the state of the client's connection; zero over gateways. It asks nobody.
func (c *Client) State() actors.Connection {
	session := c.Session()
	if session == nil {
		return actors.Connection{}
	}
	state, _ := session.Connection()
	return state
}

// whyClosed is ErrClosed, with the reason where servers refused to go on.
func (c *Client) whyClosed() error {
	if session := c.Session(); session != nil {
		if err := session.Err(); errors.Is(err, zkconn.ErrAuthFailed) {
			return fmt.Errorf("%w: %w", ErrClosed, err)
		}
	}
	return ErrClosed
}

// Ready reports whether the client can lock and keep locks; it is for readiness probes. It is nil
// while a server answers, and for the first fifth of a session timeout of a silence (Silence of
// State), which covers a server's restart or a change of leader. Otherwise the error says for how
// long no server has answered, and why. It wraps ErrClosed when the client is closed.
//
// It also fails when servers answer, but only hang up on requests or put them off (Trouble of
// State). It asks nobody. A leader also asks Election.Health. Over a gateway it wraps
// ErrNeedsSession; there Error.Behind tells whether servers answer.
func (c *Client) Ready() error {
	if c.Session() == nil {
		return fmt.Errorf("turnstile: ready: %w", ErrNeedsSession)
	}
	state := c.State()
	switch {
	case state.Ready():
		return nil
	case state.Phase == actors.Closed:
		return c.whyClosed()
	case state.Stuck:
		return fmt.Errorf("turnstile: not ready: %s", state.Trouble)
	}
	err := fmt.Errorf("turnstile: not ready: no server answers for %v (%s",
		state.Silence.Round(time.Millisecond), state.Phase)
	if state.Cause != nil {
		return fmt.Errorf("%w; last cause: %v)", err, state.Cause)
	}
	return fmt.Errorf("%w)", err)
}
