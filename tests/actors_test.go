package tests

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// stage is a session actor in an actor system of its own: what an actor program has before it spawns
// lock actors.
type stage struct {
	system  *actor.ActorSystem
	session *actors.Session
}

// long is a session timeout under which a machine that is merely slow loses no lease.
const long = patient.Session

func newStage(t *testing.T, connect string, opts ...actors.SessionOption) *stage {
	t.Helper()
	return newStageFor(t, connect, long, opts...)
}

func newStageFor(t *testing.T, connect string, timeout time.Duration, opts ...actors.SessionOption) *stage {
	t.Helper()
	cfg, err := zkconn.NewConfig(connect, zkconn.WithSessionTimeout(timeout))
	require.NoError(t, err)
	discard := slog.New(slog.DiscardHandler)
	s := &stage{system: actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return discard }),
		// After a dead letter protoactor keeps a goroutine for this long, also beyond Shutdown.
		actor.WithDeadLetterThrottleInterval(10*time.Millisecond))}
	t.Cleanup(s.system.Shutdown)
	s.session, err = actors.StartSession(s.system, cfg, opts...)
	require.NoError(t, err)
	relists.Count(t, s.session)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), bound)
		defer cancel()
		patient.Closed(t, s.session.Close(ctx))
	})
	require.NoError(t, s.session.Ready(deadline(t)))
	return s
}

// request is a lock actor, the parent that spawned it, and the recorder that follows it.
type request struct {
	stage   *stage
	parent  *actor.PID
	lock    *actor.PID
	rec     *actorstest.Recorder
	told    chan any      // the notices that the parent got, in order; closed behind the last one
	stopped chan struct{} // closed when the parent has stopped
}

// lockEnded is the parent's message to itself when its lock actor has ended: Terminated overtakes the
// notices, this does not.
type lockEnded struct{}

// spawn has a parent actor spawn a lock actor for a lock path.
func (s *stage) spawn(t *testing.T, path string, opts ...actors.LockOption) *request {
	t.Helper()
	return s.spawnFor(t, messages.Acquire{Path: path}, opts...)
}

func (s *stage) spawnFor(t *testing.T, want messages.Acquire, opts ...actors.LockOption) *request {
	t.Helper()
	return s.spawnProps(t, func(rec actors.LockOption) *actor.Props {
		return actors.NewLock(s.session, want, append([]actors.LockOption{rec}, opts...)...)
	})
}

// spawnProps has a parent actor spawn an actor that is followed by a recorder.
func (s *stage) spawnProps(t *testing.T, props func(rec actors.LockOption) *actor.Props) *request {
	t.Helper()
	r := &request{stage: s, rec: actorstest.NewRecorder(s.system), told: make(chan any, 100), stopped: make(chan struct{})}
	t.Cleanup(r.rec.Close)
	lock, over := make(chan *actor.PID, 1), false
	r.parent = s.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case *actor.Started:
			lock <- ctx.Spawn(props(actors.WithObserver(r.rec.PID())))
		case *actor.Terminated:
			ctx.Send(ctx.Self(), &lockEnded{})
		case *lockEnded:
			if !over {
				over = true
				close(r.told)
			}
		case *actor.Stopped:
			close(r.stopped)
		case actor.SystemMessage, actor.AutoReceiveMessage:
		default:
			r.told <- msg
		}
	}))
	t.Cleanup(func() { s.system.Root.Stop(r.parent) })
	r.lock = <-lock
	return r
}

func (r *request) send(message any) { r.stage.system.Root.Send(r.lock, message) }

// hold waits until the request holds.
func (r *request) hold(t *testing.T) *messages.Held {
	t.Helper()
	await(t, r.rec, messages.StateHeld)
	return notice[*messages.Held](t, r)
}

// finish waits until the lock actor has ended and gives the notices that have not been taken yet.
func (r *request) finish(t *testing.T) []any {
	t.Helper()
	var rest []any
	for {
		select {
		case msg, more := <-r.told:
			if !more {
				return rest
			}
			rest = append(rest, msg)
		case <-time.After(bound):
			t.Fatalf("the lock actor never ended: %v", r)
		}
	}
}

// notice takes the next notice that the parent got, which must be of the type.
func notice[T any](t *testing.T, r *request) T {
	t.Helper()
	var want T
	select {
	case msg, more := <-r.told:
		if !more {
			t.Fatalf("the lock actor ended without %T: %v", want, r)
		}
		got, ok := msg.(T)
		require.Truef(t, ok, "%T %+v instead of %T", msg, msg, want)
		return got
	case <-time.After(bound):
		t.Fatalf("no %T: %v", want, r)
	}
	return want
}

// requireMatch holds the states of a request against a pattern. The recorder may be a little behind the
// parent: they are told at the same time.
func requireMatch(t *testing.T, r *request, pattern ...actorstest.Part) {
	t.Helper()
	fits := func() bool { return actorstest.Match(r.rec.States(), pattern...) == nil }
	if !fits() {
		require.Eventually(t, fits, bound, time.Millisecond, "never %v: %v", pattern, r)
	}
}

// String tells what a request went through so far.
func (r *request) String() string { return actorstest.Story(r.rec.States()) }

// waited is the beginning of a request that met others in the queue.
func waited(rest ...messages.State) []actorstest.Part {
	begin := []actorstest.Part{actorstest.Then(messages.StateCreating), actorstest.Maybe(messages.StateListing),
		actorstest.Then(messages.StateWatching), actorstest.Maybe(messages.StateListing)}
	return append(begin, actorstest.InOrder(rest...)...)
}

// straight is the beginning of a request that met nobody.
func straight(rest ...messages.State) []actorstest.Part {
	return append([]actorstest.Part{actorstest.Then(messages.StateCreating), actorstest.Maybe(messages.StateListing)},
		actorstest.InOrder(rest...)...)
}

// outside looks at a test's servers through a plain connection.
type outside struct {
	*zk.Conn
	at *servers
}

func look(t *testing.T, at *servers) outside { return outside{at.Raw(t), at} }

// Get reads what has been committed by now: its member may lag behind the one that has answered a client.
func (o outside) Get(path string) ([]byte, *zk.Stat, error) {
	if _, err := o.Sync(path); err != nil {
		return nil, nil, err
	}
	return o.Conn.Get(path)
}

// Exists is as up to date as Get.
func (o outside) Exists(path string) (bool, *zk.Stat, error) {
	if _, err := o.Sync(path); err != nil {
		return false, nil, err
	}
	return o.Conn.Exists(path)
}

// plant makes a node with data, and those above it.
func (o outside) plant(t *testing.T, path, data string) {
	t.Helper()
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			if _, err := o.Create(o.at.Root()+path[:i], nil, 0, zk.WorldACL(zk.PermAll)); err != zk.ErrNodeExists {
				require.NoError(t, err)
			}
		}
	}
	_, err := o.Create(o.at.Root()+path, []byte(data), 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
}

// queue lists the contenders of a lock path in their order.
func (o outside) queue(t *testing.T, path string) []string {
	t.Helper()
	contenders := slices.DeleteFunc(o.at.Children(t, o.Conn, path), func(name string) bool {
		_, ok := queue.Sequence(name)
		return !ok
	})
	slices.SortFunc(contenders, func(a, b string) int {
		x, _ := queue.Sequence(a)
		y, _ := queue.Sequence(b)
		return int(x) - int(y)
	})
	return contenders
}

// awaitGone waits until a contender's node does not exist any more.
func (o outside) awaitGone(t *testing.T, path, node string) {
	t.Helper()
	eventually(t, func() bool { return !slices.Contains(o.at.Children(t, o.Conn, path), node) },
		"%s/%s was never deleted", path, node)
}

// awaitQueue waits until the contenders are just these. One that has handed over to another of its session is there
// until its delete is done.
func (o outside) awaitQueue(t *testing.T, path string, want []string) {
	t.Helper()
	eventually(t, func() bool { return slices.Equal(o.queue(t, path), want) }, "the queue at %s never was %v", path, want)
}

// write sets a contender's data, as another client would that asks for the lock.
func (o outside) write(t *testing.T, path, node, data string) {
	t.Helper()
	_, err := o.Set(strings.Join([]string{o.at.Root() + path, node}, "/"), []byte(data), -1)
	require.NoError(t, err)
}

// remove deletes a contender's node, as an operator would.
func (o outside) remove(t *testing.T, path, node string) {
	t.Helper()
	require.NoError(t, o.Delete(o.at.Root()+path+"/"+node, -1))
}
