package activation

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/activation"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// mute is a source of locks whose lock actors tell Held at once and then nothing more: neither that the
// lease is over, nor that the lock was lost. So it is for an actor whose process stood still until now.
type mute struct{ clock *zkconn.LeaseClock }

func newMute(lasts time.Duration) *mute {
	m := &mute{zkconn.NewLeaseClock(nil)}
	m.clock.Extend(time.Now().Add(lasts))
	return m
}

func (m *mute) NewLock(want messages.Acquire, opts ...actors.LockOption) *actor.Props {
	listens := actorstest.NewReporter(opts)
	return actor.PropsFromFunc(func(ctx actor.Context) {
		if _, starts := ctx.Message().(*actor.Started); starts {
			term, _ := m.clock.Term()
			listens.Tell(ctx, &messages.Held{Grant: messages.Grant{Path: want.Path, Token: 1}, Epoch: 1, Term: term})
		}
	})
}

func (m *mute) Clock(uint64) *zkconn.LeaseClock { return m.clock }

// TestClockIsAsked: no message is served, and no continuation runs, once the lease has run out,
// although no event has told of it.
func TestClockIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, j := &node{name: "n", system: scene.System(t)}, &journal{}
		pid := n.system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor { return &account{j, "n"} },
			activation.Single(newMute(10*time.Second), activation.At(messages.Acquire{Path: path}))))
		for i := range 1000 {
			n.send(pid, work{n: i, lasts: 1500 * time.Millisecond})
		}
		time.Sleep(time.Hour)
		require.Equal(t, []string{"Started", "0", "1", "2", "3", "4", "5", "6", "Stopping", "Stopped"}, j.served("n"))
		for _, e := range j.entries {
			require.Equal(t, e.message[:1] != "S" || e.message == "Started", e.valid, "%+v", e)
		}
	})
}

// TestContextEndsByTheClock: the context of the lease ends at the deadline, and the actor with it, though no event tells of
// it and no message comes.
func TestContextEndsByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system, begun, over := scene.System(t), time.Now(), make(chan time.Duration, 2)
		system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			switch ctx.Message().(type) {
			case *actor.Started:
				context.AfterFunc(activation.LeaseOf(ctx).Context(), func() { over <- time.Since(begun) })
			case *actor.Stopped:
				over <- time.Since(begun)
			}
		}, activation.Single(newMute(10*time.Second), activation.At(messages.Acquire{Path: path}))))
		time.Sleep(time.Hour)
		require.Len(t, over, 2)
		require.Equal(t, 10*time.Second, <-over)
		require.Equal(t, 10*time.Second, <-over)
	})
}

// TestClockIsAskedForContinuations: as for messages.
func TestClockIsAskedForContinuations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system, ran := scene.System(t), make(chan string, 10)
		soon, late := actor.NewFuture(system, time.Hour), actor.NewFuture(system, time.Hour)
		system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			if _, starts := ctx.Message().(*actor.Started); starts {
				ctx.ReenterAfter(soon, func(any, error) { ran <- "soon" })
				ctx.ReenterAfter(late, func(any, error) { ran <- "late" })
			}
		}, activation.Single(newMute(10*time.Second), activation.At(messages.Acquire{Path: path}))))
		synctest.Wait()
		time.Sleep(9 * time.Second)
		system.Root.Send(soon.PID(), "answer")
		time.Sleep(time.Second)
		system.Root.Send(late.PID(), "answer")
		time.Sleep(time.Minute)
		close(ran)
		require.Equal(t, "soon", <-ran)
		require.Empty(t, <-ran)
	})
}

// TestNoneOvertakes: what comes while kept messages are served is served behind them.
func TestNoneOvertakes(t *testing.T) {
	virtually(t, func(t *testing.T, server *embedded.Server) {
		n, j := newNode(t, server, "n"), &journal{}
		holder := scene.Locked(t, scene.Client(t, server).Mutex(path).Lock)
		waits, want := n.spawn(j), []string{"Started"}
		for i := range 20 {
			want = append(want, fmt.Sprint(i))
			n.send(waits, work{n: i, lasts: time.Second})
			if i == 9 {
				synctest.Wait()
				scene.GiveBack(t, holder)
			}
			if i >= 9 {
				time.Sleep(300 * time.Millisecond)
			}
		}
		time.Sleep(time.Minute)
		require.Equal(t, want, j.served("n"))
	})
}
