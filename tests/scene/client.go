package scene

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// client asks for locks over one session, by one face.
type client struct {
	*locks.Client // nil where actors ask
	way
	session *actors.Session
	system  *actor.ActorSystem
	away    bool // no connection
	closed  bool
	armed   *rig.Fault
	named   map[string]*locks.Named // by their roots
}

// client gives the client of a name, which it opens where there is none yet.
func (w *world) client(name string, how ...string) *client {
	if c := w.clients[name]; c != nil {
		return c
	}
	c := &client{way: w.at.way(w.t), named: map[string]*locks.Named{}}
	w.clients[name] = c
	connect, dial := c.connect(w.root + words(how).text("at"))
	if face := w.vars["face"]; face != "locks" && name != "operator" {
		cfg, err := zkconn.NewConfig(connect, zkconn.WithSessionTimeout(stories.Longest), zkconn.WithDialer(dial))
		require.NoError(w.t, err)
		discard := slog.New(slog.DiscardHandler)
		c.system = actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return discard }),
			actor.WithDeadLetterThrottleInterval(10*time.Millisecond))
		c.session, err = actors.StartSession(c.system, cfg)
		require.NoError(w.t, err)
		require.NoError(w.t, c.session.Ready(w.deadline()))
		if face == "gateway" {
			pid, err := gateway.Spawn(c.system, c.session, "gateway")
			require.NoError(w.t, err)
			c.Client, err = gateway.Open(w.deadline(), c.system, gateway.At(pid))
			require.NoError(w.t, err)
		}
	} else {
		var err error
		c.Client, err = locks.Open(w.deadline(), connect, append(words(how).options(), locks.WithDialer(dial))...)
		require.NoError(w.t, err)
		c.session = c.Session()
	}
	relists.Count(w.t, c.session)
	patient.Cleanup(w.t, func() { c.end(w) })
	return c
}

// operator looks at queues, and locks is whom an actor program asks for what only package locks has.
func (w *world) operator() *locks.Client { return w.client("operator").Client }

func (w *world) locks(name string) *locks.Client {
	if c := w.client(name); c.Client != nil {
		return c.Client
	}
	return w.operator()
}

// options are those of a client.
func (o words) options() []locks.Option {
	opts := []locks.Option{locks.WithSessionTimeout(stories.Longest)}
	if n := o.count("waiting", 0); n > 0 {
		opts = append(opts, locks.WithMaxWaiting(n))
	}
	if who := o.text("auth"); who != "" {
		opts = append(opts, locks.WithAuth("digest", []byte(who+":secret")))
	}
	if who := o.text("acl"); who != "" {
		acl := zk.DigestACL(zk.PermAll, who, "secret")
		if who == "read" {
			acl = zk.WorldACL(zk.PermRead)
		}
		opts = append(opts, locks.WithACL(acl...), locks.WithParentACL(zk.WorldACL(zk.PermAll)...))
	}
	return opts
}

// end closes a client, once.
func (c *client) end(w *world) {
	if c.closed {
		return
	}
	c.closed, c.away = true, true
	c.cut(false)
	if c.Client != nil {
		patient.Closed(w.t, c.Close(w.deadline()))
	}
	if c.system != nil {
		patient.Closed(w.t, c.session.Close(w.deadline()))
		c.system.Shutdown()
	}
}

// ask has a client ask for a lock.
func (w *world) ask(name, by string, kind, path string, rest words, try bool) {
	user, key, root := w.client(by), rest.text("key"), path
	if kind == "key" || kind == "byname" {
		path = user.Keyed(path).Path(key)
	}
	c := w.newCall(name, user, path, kind)
	c.at, c.weight, c.within = path+" "+rest.text("name"), rest.count("weight", 1), w.call(rest.text("within"))
	permits := rest.count("permits", 1)
	ctx := context.Background()
	if c.within != nil {
		ctx = c.within.context()
	}
	ctx, c.cancel = context.WithCancel(ctx)
	w.most[path] = max(w.most[path], permits)
	if c.by.Client == nil {
		c.spawn(rest.acquire(kind, path, try))
		w.queued(c)
		return
	}
	opts := rest.lockOptions(c)
	keyed := c.by.Keyed(root, opts...)
	var lock locks.Locker
	switch kind {
	case "key":
		lock = keyed.Mutex(key)
	case "byname":
		if user.named[root] == nil {
			user.named[root] = keyed.ByName()
		}
		go c.wait(ctx, c.byName(user.named[root], key, try))
		w.queued(c)
		return
	case "read":
		lock = c.by.RWMutex(path, opts...).Reader()
	case "write":
		lock = c.by.RWMutex(path, opts...)
	case "semaphore":
		lock = c.by.Semaphore(path, permits, opts...).Weight(c.weight)
	case "contest":
		lock = c.by.Contest(path, opts...)
	case "exclusive":
		lock = c.by.Mutex(path, opts...)
	default:
		require.Fail(w.t, "no kind of lock", kind)
	}
	if try {
		lock = locks.Try(lock)
	}
	go c.wait(ctx, lock.Lock)
	w.queued(c)
}

// byName locks a key by its name.
func (c *call) byName(n *locks.Named, key string, try bool) func(context.Context) (*locks.Lease, error) {
	c.unlock = func(ctx context.Context) error { return n.Unlock(ctx, key) }
	return func(ctx context.Context) (*locks.Lease, error) {
		if try {
			if got, err := n.TryLock(ctx, key); err != nil || !got {
				return nil, errors.Join(err, locks.ErrNotAcquired)
			}
		} else if err := n.Lock(ctx, key); err != nil {
			return nil, err
		}
		return n.Lease(key), nil
	}
}

// wait calls Lock, and follows the lease until it ends.
func (c *call) wait(ctx context.Context, lock func(context.Context) (*locks.Lease, error)) {
	got, err := lock(ctx)
	if err != nil {
		c.fail(failed(err))
		return
	}
	c.grant(got)
	<-got.Context().Done()
	close(c.over)
}

// hear is told the changes of a lease.
func (c *call) hear(change locks.Change) {
	switch {
	case change.Kind == locks.Lost:
		c.tell("%s", failed(change.Err))
	case change.Kind == locks.RevokeRequested:
		c.tell("asked")
	}
}

// context is that of a call's lease.
func (c *call) context() context.Context {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	ctx := c.lease.(*locks.Lease).Context()
	if c.leaving {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// queued waits until a call has its answer, or its place, where nothing else can tell that everything has come to rest.
func (w *world) queued(c *call) {
	if w.at.patience() == 0 || w.hurries {
		return
	}
	patient.Eventually(w.t, func() bool {
		if !c.unanswered() || c.by.away {
			return true
		}
		open := 0
		for _, o := range w.calls {
			if o.by == c.by && o.path == c.path && o.unanswered() {
				open++
			}
		}
		inside, err := c.by.session.Ask(w.deadline(), &messages.ReadInside{Root: c.path})
		require.NoError(w.t, err)
		open -= inside.(*messages.Inside).All
		all, _ := w.operator().Queue(w.deadline(), c.path)
		for _, o := range all {
			if o.Session == c.by.session.ID() && !o.Holds {
				open--
			}
		}
		return open <= 0
	}, "%s neither holds nor waits", c.name)
}

// spawn has an actor spawn a lock actor, and hear what it says.
func (c *call) spawn(want messages.Acquire) {
	root := c.by.system.Root
	var lock *actor.PID
	spawned := make(chan struct{})
	end := func(said error) {
		if c.tell("%s", strings.TrimPrefix(said.Error(), "turnstile: ")); c.unanswered() {
			close(c.came)
		}
		close(c.over)
	}
	root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case *actor.Started:
			lock = ctx.Spawn(actors.NewLock(c.by.session, want))
			close(spawned)
		case *messages.Held:
			c.grant(&hold{msg.Grant, c.over, func() { root.Send(lock, &messages.Release{}) }})
		case *messages.RevokeRequested:
			c.tell("asked")
		case *messages.Revoked:
			c.w.taken(func(o *call) bool { return o == c })
		case *messages.Lost:
			end(locks.ErrLost)
		case *messages.Released:
			if msg.Reason == messages.ReasonRevoked {
				c.tell("%s", strings.TrimPrefix(locks.ErrRevoked.Error(), "turnstile: "))
			}
			close(c.over)
		case *messages.Cancelled:
			end(saidAs[msg.Reason])
		case *messages.Failed:
			end(errors.New(cmp.Or(msg.Detail, string(msg.Reason))))
		}
	}))
	<-spawned
	c.cancel = func() { root.Send(lock, &messages.Cancel{}) }
}

// saidAs is how package locks says the reasons of those that are cancelled.
var saidAs = map[messages.Reason]error{messages.ReasonNotAcquired: locks.ErrNotAcquired, messages.ReasonCancelled: context.Canceled,
	messages.ReasonSessionClosed: locks.ErrClosed}

// hold is what a lock actor has.
type hold struct {
	messages.Grant
	over    chan struct{}
	release func()
}

func (h *hold) Node() string          { return h.Grant.Node }
func (h *hold) Token() messages.Token { return h.Grant.Token }

func (h *hold) Valid() bool {
	select {
	case <-h.over:
		return false
	default:
		return true
	}
}

func (h *hold) Unlock(ctx context.Context) error {
	if !h.Valid() {
		return locks.ErrNotHeld
	}
	h.release()
	select {
	case <-h.over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
