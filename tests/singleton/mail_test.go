package singleton

import (
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// request asks a node's singleton to do a job, and gives what comes back.
func (n *node) request(j job) (any, error) {
	return n.w.system.Root.RequestFuture(n.pid, j, time.Hour).Result()
}

// batch is a message that stands for several.
type batch []any

func (b batch) GetMessages() []any { return b }

// TestMessagesGoToTheChild with their sender, those of a batch once each; elsewhere they are dead letters. A touch is answered
// once.
func TestMessagesGoToTheChild(t *testing.T) {
	pair(t, func(w *world, a, b *node, _ *actors.Activation) {
		answer, err := a.request(job{1})
		require.NoError(w.t, err)
		require.Equal(w.t, job{1}, answer)
		a.send(batch{job{2}, job{3}})
		touched, err := w.system.Root.RequestFuture(a.pid, &actor.Touch{}, time.Minute).Result()
		require.NoError(w.t, err)
		require.True(w.t, touched.(*actor.Touched).Who.Equal(a.pid))
		_, err = b.request(job{4})
		require.ErrorIs(w.t, err, actor.ErrDeadLetter)
		b.send(job{5})
		time.Sleep(time.Second)
		require.Equal(w.t, []int{1, 2, 3}, w.witness.done())
		require.Equal(w.t, []int{4, 5}, w.witness.lost())
	})
}

// headed notes the header of a message.
type headed struct{ key, value string }

// TestHeadersStay, also those of messages that were kept.
func TestHeadersStay(t *testing.T) {
	play(t, 1, func(w *world) {
		a, got := w.nodes[0], make(chan headed, 10)
		a.line.Be(scene.Down)
		a.spawn(actors.NewSingleton(a.session, acquire, actor.PropsFromFunc(func(ctx actor.Context) {
			if _, is := ctx.Message().(job); is {
				got <- headed{"trace", ctx.MessageHeader().Get("trace")}
			}
		}), actors.WithBuffer(1)))
		root := w.system.Root.Copy().WithHeaders(map[string]string{})
		for _, value := range []string{"kept", "forwarded"} {
			env := &actor.MessageEnvelope{Message: job{1}}
			env.SetHeader("trace", value)
			root.Send(a.pid, env)
			a.line.Be(scene.Up)
			require.Equal(w.t, headed{"trace", value}, <-got)
		}
	})
}

// TestKeptInOrder: messages that come while the singleton is nobody's here are kept up to the bound, and handed on in
// order, before later ones. Those above it are dead letters, and so are those of a singleton that ends.
func TestKeptInOrder(t *testing.T) {
	pair(t, func(w *world, a, b *node, _ *actors.Activation) {
		for number := range 13 {
			b.send(job{number})
		}
		w.system.Root.Stop(a.pid)
		w.until("b is active", func() bool {
			if w.witness.activation("b") == nil {
				return false
			}
			b.send(job{13})
			return true
		})
		w.until("all are done", func() bool { return len(w.witness.done()) == 11 })
		require.Equal(w.t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13}, w.witness.done())
		require.Equal(w.t, []int{10, 11, 12}, w.witness.lost())
		a.gone()
		a.spawn(a.props(actors.WithBuffer(10)))
		a.send(job{14})
		time.Sleep(time.Second)
		a.stop()
		require.Equal(w.t, []int{10, 11, 12, 14}, w.witness.lost())
	}, actors.WithBuffer(10))
}

// TestKeptWhileStopping: what comes while the child is being stopped is for the next one, and a dead letter where none
// will come.
func TestKeptWhileStopping(t *testing.T) {
	pair(t, func(w *world, a, b *node, _ *actors.Activation) {
		a.send(lingers(5 * time.Second))
		time.Sleep(time.Second)
		w.ask(b, sendRevokeRequest)
		time.Sleep(time.Second)
		a.send(job{1})
		w.active(b)
		time.Sleep(time.Minute)
		require.Empty(w.t, w.witness.done())
		require.Empty(w.t, w.witness.lost())
		w.ask(b, sendRevokeRequest)
		w.until("the job is done", func() bool { return len(w.witness.done()) == 1 })

		a.send(lingers(5 * time.Second))
		time.Sleep(time.Second)
		w.system.Root.Stop(a.pid)
		time.Sleep(time.Second)
		a.send(job{2})
		w.until("it is a dead letter", func() bool { return len(w.witness.lost()) == 1 })
		a.gone()
	}, actors.WithBuffer(10))
}

// TestNothingForALeaseThatRanOut: the lease is over, and the singleton may not have heard of it.
func TestNothingForALeaseThatRanOut(t *testing.T) {
	pair(t, func(w *world, a, b *node, by *actors.Activation) {
		a.line.Be(scene.Down)
		number := 0
		for by.Valid() { // to the last moment
			number++
			a.send(job{number})
			time.Sleep(time.Until(by.Deadline())/2 + time.Nanosecond)
		}
		a.send(job{-1})
		w.active2(b)
		require.Contains(w.t, w.witness.lost(), -1)
		require.NotContains(w.t, w.witness.done(), -1)
	})
}
