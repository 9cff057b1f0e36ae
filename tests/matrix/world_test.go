package matrix

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

const (
	// timeout is the session timeout in a bubble, and tick the server's tick. The lease is 4 s.
	timeout = 10 * time.Second
	tick    = time.Second
	// lockPath is the one lock path of a bubble.
	lockPath = "/lock"
	// patience bounds every wait in a bubble, by its clock.
	patience = 10 * time.Minute
)

// world is an embedded server in a bubble, and an operator's connection to it.
type world struct {
	server   *embedded.Server
	operator *zk.Conn
	brake    *brake // of the next player that joins, or of one that has; nil for none
}

func newWorld(t *testing.T, replicas int, opts ...embedded.Option) *world {
	t.Helper()
	opts = append(opts, embedded.WithoutNetwork(), embedded.WithTick(tick), embedded.WithReplicas(replicas))
	server := embedded.Run(t, opts...)
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

// operatorACL leaves everybody some permissions, and the operator all: since 3.8.4 and 3.9.2 servers say nothing of a
// node to somebody without READ.
func operatorACL(left int32) []zk.ACL {
	user, password, _ := strings.Cut(operatorSecret, ":")
	return append(zk.WorldACL(left), zk.DigestACL(zk.PermAll, user, password)...)
}

// patient is a context for a wait in a bubble.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	t.Cleanup(cancel)
	return ctx
}

// eventually polls, by the bubble's clock, a condition that no event tells of.
func eventually(t *testing.T, condition func() bool, what string) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never so: %s", what)
		}
	}
}

// player is a client with one request for the lock, and the recorder that follows it.
type player struct {
	client *locks.Client
	within context.Context // of a lease that it asks within; nil for none
	locker locks.Locker
	rec    *actorstest.Recorder
	got    chan answer // of Lock; nil while it was not called
	lease  *locks.Lease
	bound  time.Duration // of its waits: patience, by a bubble's clock, or bound
}

// answer is a result of Lock.
type answer struct {
	lease *locks.Lease
	err   error
}

// join opens a client that is closed before the bubble ends.
func (w *world) join(t *testing.T, connect string, opts ...locks.Option) *player {
	t.Helper()
	return w.joinAs(t, mutex, connect, opts...)
}

// joinAs is join for a lock of any kind.
func (w *world) joinAs(t *testing.T, lock kind, connect string, opts ...locks.Option) *player {
	t.Helper()
	opts = append([]locks.Option{locks.WithDialer(w.server.DialContext), locks.WithSessionTimeout(timeout)}, opts...)
	client, err := locks.Open(patient(t), connect, opts...)
	require.NoError(t, err)
	relists.Count(t, client.Session())
	t.Cleanup(func() {
		if err := client.Close(patient(t)); !errors.Is(err, locks.ErrSessionRemains) { // the fault may last
			require.NoError(t, err)
		}
		time.Sleep(time.Minute) // the actor system's throttle sleeps on for a while
	})
	if b := w.brake; b != nil && !b.joined {
		b.joined = true
		brakes.Store(client, b)
		t.Cleanup(func() { brakes.Delete(client) })
	}
	return newPlayerOf(t, client, lock)
}

// unlock calls Unlock again for as long as the servers are not heard, to learn how it ends.
func unlock(ctx context.Context, lease *locks.Lease) error {
	for {
		if err := lease.Unlock(ctx); !errors.Is(err, locks.ErrUnconfirmed) {
			return err
		}
	}
}

func newPlayer(t *testing.T, client *locks.Client, path string, opts ...locks.LockOption) *player {
	return newPlayerOf(t, client, func(c *locks.Client, observe ...locks.LockOption) locks.Locker {
		return c.Mutex(path, append(opts, observe...)...)
	})
}

func newPlayerOf(t *testing.T, client *locks.Client, lock kind) *player {
	rec := actorstest.NewRecorder(client.System())
	t.Cleanup(rec.Close)
	return &player{client: client, rec: rec, locker: lock(client, append(observer(client), locks.WithObserver(rec.PID()))...), bound: patience}
}

// newRealPlayer is newPlayer by the real clock.
func newRealPlayer(t *testing.T, client *locks.Client, path string, opts ...locks.LockOption) *player {
	p := newPlayer(t, client, path, opts...)
	p.bound = bound
	return p
}

// kind is the kind of lock that a player asks for.
type kind func(*locks.Client, ...locks.LockOption) locks.Locker

// ask calls Lock on a goroutine.
func (p *player) ask(t *testing.T) {
	t.Helper()
	ctx, got := patient(t), make(chan answer, 1)
	if p.within != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(p.within), patience)
		t.Cleanup(cancel)
	}
	p.got = got
	go func() {
		lease, err := p.locker.Lock(ctx)
		got <- answer{lease, err}
	}()
}

// hold waits until Lock has given the lock.
func (p *player) hold(t *testing.T) *locks.Lease {
	t.Helper()
	if p.got == nil {
		p.ask(t)
	}
	if p.lease == nil {
		select {
		case a := <-p.got:
			require.NoError(t, a.err)
			p.lease = a.lease
		case <-time.After(p.bound):
			t.Fatalf("it never holds: %v", p.rec.States())
		}
	}
	return p.lease
}

// wait asks for the lock and waits until it stands in the queue.
func (p *player) wait(t *testing.T) {
	t.Helper()
	p.ask(t)
	p.await(t, messages.StateWatching)
}

func (p *player) await(t *testing.T, state messages.State) messages.Transition {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), p.bound)
	defer cancel()
	tr, err := p.rec.Await(ctx, state)
	require.NoError(t, err)
	return tr
}

// session is the id of the player's session.
func (p *player) session() int64 { return p.client.Session().ID() }

// children lists the lock path as the servers have it now.
func (w *world) children(t *testing.T) []string {
	t.Helper()
	names := w.childrenOf(t, lockPath)
	slices.Sort(names)
	return names
}

// owned lists the nodes of a player's session in the lock path.
func (w *world) owned(t *testing.T, p *player) (all []string) {
	t.Helper()
	for _, name := range w.children(t) {
		exists, stat, err := w.operator.Exists(lockPath + "/" + name)
		require.NoError(t, err)
		if exists && stat.EphemeralOwner == p.session() {
			all = append(all, name)
		}
	}
	return all
}

// refuse has every replica take no more connections, or take them again.
func (w *world) refuse(refuse bool) {
	for _, r := range w.server.Replicas() {
		r.Refuse(refuse)
	}
}

// awaitExpiry waits until the servers have ended a session.
func (w *world) awaitExpiry(t *testing.T, session int64) {
	t.Helper()
	eventually(t, func() bool { return !slices.Contains(w.server.Sessions(), session) }, "the session has expired")
}

// childrenOf lists a lock path as the servers have it now.
func (w *world) childrenOf(t *testing.T, lockPath string) []string {
	t.Helper()
	var names []string
	eventually(t, func() (read bool) { // the operator's connection is cut with the others
		_, err := w.operator.Sync("/")
		if err == nil {
			names, _, err = w.operator.Children(lockPath)
		}
		return err == nil || err == zk.ErrNoNode
	}, "the servers answer")
	return withoutGuard(names)
}
