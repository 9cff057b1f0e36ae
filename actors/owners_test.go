package actors_test

import (
	"context"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

func patience(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func take[T any](t *testing.T, from <-chan T) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-patience(t).Done():
		t.Fatalf("no %T came", got)
	}
	return got
}

// sent is a notice as it came.
type sent struct {
	notice any
	sender *actor.PID
}

// listening spawns an actor that passes on what it is sent, and spawns props when it starts.
func listening(system *actor.ActorSystem, props *actor.Props) (lock *actor.PID, notices <-chan sent) {
	locks, all := make(chan *actor.PID, 1), make(chan sent, 100)
	system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case *actor.Started:
			locks <- ctx.Spawn(props)
		case actor.SystemMessage, actor.AutoReceiveMessage:
		default:
			all <- sent{msg, ctx.Sender()}
		}
	}))
	return <-locks, all
}

// busy is an actor that holds a lock, and panics when it is told to, once somebody says so.
type busy struct {
	session *actors.Session
	spawned chan<- *actor.PID
	held    chan<- sent
	goOn    <-chan struct{}
	once    actors.LockOption
}

type work struct{}

func (b *busy) Receive(ctx actor.Context) {
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		b.spawned <- ctx.Spawn(actors.NewLock(b.session, messages.Acquire{Path: "/busy"}, b.once))
	case *work:
		<-b.goOn
		panic("the work fails")
	case *messages.Held:
		b.held <- sent{msg, ctx.Sender()}
	}
}

// TestRestartedOwnerTellsHeldOfItsPredecessor: a lock was granted while its owner was busy, and the
// owner is restarted. Its new incarnation gets the Held of the lock actor before, and can tell.
func TestRestartedOwnerTellsHeldOfItsPredecessor(t *testing.T) {
	kit := actorstest.Start(t)
	system, session := kit.System, kit.Session
	rec := actorstest.NewRecorder(system)
	t.Cleanup(rec.Close)
	spawned, held, goOn := make(chan *actor.PID, 2), make(chan sent, 2), make(chan struct{})
	first, firstRec := listening(system, actors.NewLock(session, messages.Acquire{Path: "/busy"}))
	require.IsType(t, &messages.Held{}, take(t, firstRec).notice)
	owner := system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor {
		return &busy{session, spawned, held, goOn, actors.WithObserver(rec.PID())}
	}))
	t.Cleanup(func() { system.Root.Stop(owner) })
	old := take(t, spawned)
	system.Root.Send(owner, &work{})
	system.Root.Send(first, &messages.Release{})
	_, err := rec.Await(patience(t), messages.StateHeld) // so Held is in the mailbox, behind work
	require.NoError(t, err)
	close(goOn)
	young := take(t, spawned)
	require.NotEqual(t, messages.IDOf(old), messages.IDOf(young))

	for _, lock := range []*actor.PID{old, young} {
		got := take(t, held)
		require.Equal(t, messages.IDOf(lock), messages.IDOf(got.sender))
		require.Equal(t, messages.IDOf(lock), got.notice.(*messages.Held).Actor)
	}
}

func TestNoSessionPanics(t *testing.T) {
	require.PanicsWithValue(t, "turnstile: actors.NewLock: the session is nil",
		func() { actors.NewLock((*actors.Session)(nil), messages.Acquire{Path: "/a"}) })
	require.PanicsWithValue(t, "turnstile: actors.NewLock: the provider is nil",
		func() { actors.NewLock(nil, messages.Acquire{Path: "/a"}) })
}

// TestActorsOnOtherNodesAreRefused: the lock would be given to others while they rely on it.
func TestActorsOnOtherNodesAreRefused(t *testing.T) {
	kit := actorstest.Start(t)
	system, session := kit.System, kit.Session
	elsewhere := actor.NewPID("10.0.0.7:8090", "clerk")
	for role, opt := range map[string]actors.LockOption{
		"owner": actors.WithOwner(elsewhere), "observer": actors.WithObserver(elsewhere),
	} {
		_, notices := listening(system, actors.NewLock(session, messages.Acquire{Path: "/a"}, opt))
		failed, ok := take(t, notices).notice.(*messages.Failed)
		require.True(t, ok)
		require.Equal(t, messages.ReasonBadInput, failed.Reason)
		require.Contains(t, failed.Detail, "the "+role+" clerk is on another node (10.0.0.7:8090)")

	}
	near := actor.NewPID(system.Address(), system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {})).Id)
	_, notices := listening(system, actors.NewLock(session, messages.Acquire{Path: "/a"}, actors.WithOwner(near)))
	require.IsType(t, &messages.Held{}, take(t, notices).notice)
}

// TestUnreachableOwnerHasNotEnded: protoactor tells that an owner's node is out of reach in the way
// in which it tells that an owner has ended. The lock is kept.
func TestUnreachableOwnerHasNotEnded(t *testing.T) {
	kit := actorstest.Start(t)
	system, session := kit.System, kit.Session
	owner := system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
	unreachable := &actor.Terminated{Who: owner, Why: actor.TerminatedReason_AddressTerminated}
	one, ofOne := listening(system, actors.NewLock(session, messages.Acquire{Path: "/one"}, actors.WithOwner(owner)))
	require.IsType(t, &messages.Held{}, take(t, ofOne).notice)

	system.Root.Send(one, unreachable)
	// The message that follows it in the mailbox is told; a release would have been told before.
	system.Root.Send(one, &messages.Revoke{})
	require.IsType(t, &messages.RevokeRequested{}, take(t, ofOne).notice)

	system.Root.Stop(owner)
	require.Equal(t, messages.ReasonOwnerGone, take(t, ofOne).notice.(*messages.Released).Reason)
}

// TestMeterLabelsThatPanic: the error names them.
func TestMeterLabelsThatPanic(t *testing.T) {
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	kit := actorstest.Start(t)
	cfg, err := zkconn.NewConfig(kit.Server.Addr())
	require.NoError(t, err)
	session, err := actors.StartSession(kit.System, cfg, actors.WithMeterProvider(provider),
		actors.WithMeterLabels(func(path string) []attribute.KeyValue {
			return []attribute.KeyValue{attribute.String("shop", map[string][]string{}[path][0])}
		}))
	require.NoError(t, err)
	scene.CountRelists(t, session)
	defer func() { require.NoError(t, session.Close(patience(t))) }()
	_, notices := listening(kit.System, actors.NewLock(session, messages.Acquire{Path: "/a"}))
	failed, ok := take(t, notices).notice.(*messages.Failed)
	require.True(t, ok)
	require.Contains(t, failed.Detail, "WithMeterLabels")
	require.Contains(t, failed.Detail, "index out of range")
}
