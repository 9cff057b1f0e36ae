package matrix

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

const (
	// timeout is the session timeout in a bubble, and tick the server's tick. The lease is 4 s.
	timeout = 10 * time.Second
	tick    = time.Second
	// lockPath is the one lock path of most bubbles.
	lockPath = "/lock"
)

// world is an embedded server in a bubble, and an operator's connection to it.
type world struct {
	server   *embedded.Server
	operator *zk.Conn
	brake    *brake // of the next player that joins, or of one that has; nil for none
}

func newWorld(t *testing.T, replicas int, opts ...embedded.Option) *world {
	t.Helper()
	server := scene.Virtual(t, append(opts, embedded.WithTick(tick), embedded.WithReplicas(replicas))...)
	conn, events, err := zk.Connect(server.Addrs(), timeout, zk.WithDialer(server.Dialer()), zk.WithLogger(rig.Silent{}))
	require.NoError(t, err)
	t.Cleanup(func() {
		conn.Close()
		for range events { // its goroutines have ended when the channel is closed
		}
	})
	require.NoError(t, conn.AddAuth("digest", []byte(operatorSecret)))
	return &world{server: server, operator: conn}
}

// operatorSecret is the secret by which servers know the operator, where it keeps permissions that it takes from
// others.
const operatorSecret = "operator:secret"

// forbid leaves everybody but the operator only some permissions on a node, until the end of the scene: since 3.8.4 and
// 3.9.2 servers say nothing of a node to somebody without READ.
func (w *world) forbid(t *testing.T, path string, left int32) {
	t.Helper()
	user, password, _ := strings.Cut(operatorSecret, ":")
	_, err := w.operator.SetACL(path, append(zk.WorldACL(left), zk.DigestACL(zk.PermAll, user, password)...), -1)
	require.NoError(t, err)
}

// allow lets everybody do everything again, where there is still something.
func (w *world) allow(t *testing.T, path string) {
	t.Helper()
	if _, err := w.operator.SetACL(path, zk.WorldACL(zk.PermAll), -1); err != zk.ErrNoNode {
		require.NoError(t, err)
	}
}

// player is a client with one request for the lock, and the recorder that follows it.
type player struct {
	client *locks.Client
	within context.Context // of a lease that it asks within; nil for none
	locker locks.Locker
	rec    *actorstest.Recorder
	got    <-chan scene.Answer // of Lock; nil while it was not called
	lease  *locks.Lease
}

// kind is the kind of lock that a player asks for.
type kind func(*locks.Client, ...locks.LockOption) locks.Locker

// join opens a client that is closed before the bubble ends, with a request for a lock.
func (w *world) join(t *testing.T, lock kind, connect string, opts ...locks.Option) *player {
	t.Helper()
	opts = append([]locks.Option{locks.WithDialer(w.server.DialContext), locks.WithSessionTimeout(timeout)}, opts...)
	client, err := locks.Open(scene.Deadline(t), connect, opts...)
	require.NoError(t, err)
	scene.CloseLater(t, client)
	if b := w.brake; b != nil && !b.joined {
		b.joined = true
		brakes.Store(client, b)
		t.Cleanup(func() { brakes.Delete(client) })
	}
	return newPlayer(t, client, lock)
}

// newPlayer has a client ask for a lock. Its brake, if there is one, hears of it as well.
func newPlayer(t *testing.T, client *locks.Client, lock kind) *player {
	rec := scene.Recorder(t, client)
	observed := []locks.LockOption{scene.ObservedBy(rec)}
	if b, ok := brakes.Load(client); ok {
		observed = append(observed, locks.WithObserver(client.System().Root.Spawn(actor.PropsFromFunc(func(actor.Context) {},
			actor.WithMailbox(func() actor.Mailbox { return b.(*brake) })))))
	}
	return &player{client: client, rec: rec, locker: lock(client, observed...)}
}

// mutexAt is an exclusive lock.
func mutexAt(path string, opts ...locks.LockOption) kind {
	return func(c *locks.Client, observe ...locks.LockOption) locks.Locker {
		return c.Mutex(path, append(opts, observe...)...)
	}
}

// unlock calls Unlock again for as long as the servers are not heard, to learn how it ends.
func unlock(ctx context.Context, lease *locks.Lease) error {
	for {
		if err := lease.Unlock(ctx); !errors.Is(err, locks.ErrUnconfirmed) {
			return err
		}
	}
}

// ask calls Lock on a goroutine.
func (p *player) ask(t *testing.T) {
	t.Helper()
	ctx := scene.Deadline(t)
	if p.within != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(p.within), scene.Bound)
		t.Cleanup(cancel)
	}
	p.got = scene.Elsewhere(ctx, p.locker.Lock)
}

// hold waits until Lock has given the lock.
func (p *player) hold(t *testing.T) *locks.Lease {
	t.Helper()
	if p.got == nil {
		p.ask(t)
	}
	if p.lease == nil {
		a := scene.Receive(t, p.got)
		require.NoError(t, a.Err)
		p.lease = a.Lease
	}
	return p.lease
}

// wait asks for the lock and waits until it stands in the queue.
func (p *player) wait(t *testing.T) {
	t.Helper()
	p.ask(t)
	p.await(t, stWatching)
}

func (p *player) await(t *testing.T, state messages.State) messages.Transition {
	t.Helper()
	return scene.Await(t, p.rec, state)
}

// session is the id of the player's session.
func (p *player) session() int64 { return p.client.Session().ID() }

// owned lists the nodes of a player's session in the lock path.
func (w *world) owned(t *testing.T, p *player) (all []string) {
	t.Helper()
	for _, name := range w.children(t, lockPath) {
		exists, stat, err := w.operator.Exists(lockPath + "/" + name)
		require.NoError(t, err)
		if exists && stat.EphemeralOwner == p.session() {
			all = append(all, name)
		}
	}
	return all
}

// inject has something happen to a request.
func (w *world) inject(t *testing.T, f embedded.Fault) *embedded.Injection {
	t.Helper()
	injection, err := w.server.Inject(f)
	require.NoError(t, err)
	return injection
}

// refuse has every replica take no more connections, or take them again.
func (w *world) refuse(refuse bool) {
	for _, r := range w.server.Replicas() {
		r.Refuse(refuse)
	}
}

// restart stops the one server for a tick.
func (w *world) restart(t *testing.T) {
	t.Helper()
	w.server.Replica(0).Stop()
	time.Sleep(tick)
	require.NoError(t, w.server.Replica(0).Start())
}

// awaitExpiry waits until the servers have ended a session.
func (w *world) awaitExpiry(t *testing.T, session int64) {
	t.Helper()
	scene.Eventually(t, func() bool { return !slices.Contains(w.server.Sessions(), session) }, "the session has expired")
}

// children lists a lock path as the servers have it now.
func (w *world) children(t *testing.T, lockPath string) []string {
	t.Helper()
	var names []string
	scene.Eventually(t, func() (read bool) { // the operator's connection is cut with the others
		_, err := w.operator.Sync("/")
		if err == nil {
			names, _, err = w.operator.Children(lockPath)
		}
		return err == nil || err == zk.ErrNoNode
	}, "the servers answer")
	slices.Sort(names)
	return withoutGuard(names)
}

// brake is the mailbox of an observer, and blocks whoever tells it, for the first time, that a lock has gone into a state: the
// goroutine that runs the lock actor. It stops the requests of the next player that joins its world.
type brake struct {
	actor.Mailbox
	at            messages.State
	joined        bool // it stops a player already
	armed         atomic.Bool
	once          sync.Once
	stopped, goOn chan struct{}
}

// brakes has the brakes of clients.
var brakes sync.Map

// newBrake makes the brake of the next player that joins.
func (w *world) newBrake(at messages.State) *brake {
	w.brake = &brake{Mailbox: actor.Unbounded()(), at: at, stopped: make(chan struct{}), goOn: make(chan struct{})}
	w.brake.armed.Store(true)
	return w.brake
}

// PostUserMessage takes a transition.
func (b *brake) PostUserMessage(message any) {
	if tr, ok := actor.UnwrapEnvelopeMessage(message).(*messages.Transition); ok && tr.To == b.at && b.armed.Load() {
		b.once.Do(func() {
			close(b.stopped)
			<-b.goOn
		})
	}
	b.Mailbox.PostUserMessage(message)
}
