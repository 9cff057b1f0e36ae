package gateway

import (
	"context"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// sharer is the owner of a hold that it lets others have.
type sharer struct {
	*office
	lock *actor.PID
	told chan any
}

// shares spawns a lock actor that tells more, and waits until it holds.
func (o *office) shares(at *gateway.Gateways) (*sharer, *messages.Held) {
	o.t.Helper()
	s := &sharer{office: o, told: make(chan any, 100)}
	observer := o.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case *messages.Transition, actor.SystemMessage, actor.AutoReceiveMessage:
		default:
			s.told <- msg
		}
	}))
	o.t.Cleanup(func() { o.system.Root.Stop(observer) })
	s.lock = o.system.Root.Spawn(gateway.NewLock(at, messages.Acquire{Path: "/shared", TellMore: true}, actors.WithObserver(observer)))
	held, is := s.hear().(*messages.Held)
	require.True(o.t, is)
	return s, held
}

func (s *sharer) hear() any {
	s.t.Helper()
	select {
	case got := <-s.told:
		return got
	case <-time.After(time.Minute):
		s.t.Fatal("nothing is told")
		return nil
	}
}

// quiet checks that nothing is told for a while.
func (s *sharer) quiet(d time.Duration) {
	s.t.Helper()
	time.Sleep(d)
	require.Empty(s.t, s.told)
}

func (s *sharer) send(command any) { s.system.Root.Send(s.lock, command) }

// TestSharedHold: over a gateway the owner of a hold is told what it needs to let others have it, as by a lock actor of its
// own process. A silence of the gateway makes void what it has asked for.
func TestSharedHold(t *testing.T) {
	inOffice(t, func(o *office) {
		t := o.t
		s, held := o.shares(o.at)
		defer s.send(&messages.Release{})
		grant := held.Grant
		require.Equal(t, messages.MaxPlace, held.Places)
		watched := &messages.Watched{Grant: grant, Readable: true}
		require.Equal(t, watched, s.hear())
		s.send(&messages.Check{})
		require.Equal(t, &messages.Checked{Grant: grant}, s.hear())
		s.send(messages.WatchContention{})
		s.quiet(time.Hour)

		o.deaf[0].Store(true)
		begun := time.Now()
		s.send(&messages.Check{}) // nobody hears it
		require.IsType(t, &messages.Suspended{}, s.hear())
		require.LessOrEqual(t, time.Since(begun), patient.Session/3)
		s.send(&messages.Check{})
		o.deaf[0].Store(false)
		require.IsType(t, &messages.Resumed{}, s.hear())
		require.Equal(t, watched, s.hear())
		s.quiet(time.Minute)
		s.send(messages.Check{})
		require.Equal(t, &messages.Checked{Grant: grant}, s.hear())

		waiting := elsewhere(t.Context(), o.clients[1].Mutex("/shared"))
		s.quiet(time.Minute) // the ask of before the silence is void
		s.send(&messages.WatchContention{})
		require.Equal(t, &messages.Contended{Grant: grant}, s.hear())

		contenders, err := o.clients[1].Queue(t.Context(), "/shared")
		require.NoError(t, err)
		begun = time.Now()
		require.NoError(t, o.clients[1].Break(t.Context(), contenders[0]))
		lost := s.hear().(*messages.Lost)
		require.Equal(t, messages.ReasonNodeDeleted, lost.Reason)
		require.Less(t, time.Since(begun), time.Second)
		got := <-waiting
		require.NoError(t, got.err)
		require.NoError(t, got.lease.Unlock(t.Context()))
	})
}

// TestWaitingOverGateway: it is told behind how many a request waits.
func TestWaitingOverGateway(t *testing.T) {
	inOffice(t, func(o *office) {
		t := o.t
		first, second := o.lock(t.Context(), o.clients[1].Mutex("/shared")), make(chan int, 1)
		observer := o.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			if msg, is := ctx.Message().(*messages.Waiting); is {
				second <- msg.Before
			}
		}))
		defer o.system.Root.Stop(observer)
		lock := o.system.Root.Spawn(gateway.NewLock(o.at, messages.Acquire{Path: "/shared", TellMore: true}, actors.WithObserver(observer)))
		require.Equal(t, 1, await(t, second))
		o.system.Root.Send(lock, &messages.Cancel{})
		require.NoError(t, first.Unlock(t.Context()))
	})
}

// TestMembersHaveNodesOfTheirOwn: also over a gateway whose requests share holds.
func TestMembersHaveNodesOfTheirOwn(t *testing.T) {
	inOffice(t, func(o *office) {
		ctx, stop := context.WithTimeout(o.t.Context(), time.Hour)
		defer stop()
		for range 2 {
			m, err := o.client.Group("/members").Join(ctx, "")
			require.NoError(o.t, err)
			defer func() { patient.Closed(o.t, m.Leave(context.WithoutCancel(ctx))) }()
		}
		members, err := o.client.Group("/members").Members(ctx)
		require.NoError(o.t, err)
		require.Len(o.t, members, 2)
	}, gateway.WithCohort(8))
}
