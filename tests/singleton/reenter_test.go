package singleton

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestReenter: a continuation of a singleton's child runs while its lease is valid and its actor lives, and not
// afterwards. Its future is answered while the child is deaf.
func TestReenter(t *testing.T) {
	for _, c := range []struct {
		name string
		deaf func(w *world, n *node, answer func())
		runs bool
	}{
		{"valid", func(_ *world, _ *node, answer func()) { answer() }, true},
		{"over before it is answered", func(_ *world, n *node, answer func()) {
			n.line.Be(scene.Down)
			time.Sleep(timeout)
			answer()
		}, false},
		{"answered before it is over", func(_ *world, n *node, answer func()) {
			answer()
			n.line.Be(scene.Down)
		}, false},
		{"stopped before it is answered", func(w *world, n *node, answer func()) {
			w.system.Root.Stop(n.pid)
			time.Sleep(time.Second)
			answer()
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, 1, func(w *world) {
				n := w.nodes[0]
				future := actor.NewFuture(w.system, time.Hour)
				begun, told := make(chan *actors.Activation, 2), []string{}
				n.spawn(actors.NewSingleton(n.session, acquire, actor.PropsFromFunc(func(ctx actor.Context) {
					switch msg := ctx.Message().(type) {
					case *actors.Activation:
						if len(told) > 0 { // after a loss
							return
						}
						told = append(told, "active")
						ctx.ReenterAfter(future, func(res any, err error) { told = append(told, "continued") })
						begun <- msg
						time.Sleep(time.Minute)
					case *actor.Stopped:
						if len(told) < 3 {
							told = append(told, "stopped")
						}
					}
				})))
				by := <-begun
				time.Sleep(time.Second)
				c.deaf(w, n, func() { w.system.Root.Send(future.PID(), "answer") })
				time.Sleep(3 * time.Minute)
				synctest.Wait()
				if c.runs {
					require.Equal(t, []string{"active", "continued"}, told)
					require.True(t, by.Valid())
					return
				}
				require.Equal(t, "stopped", told[1])
				require.NotContains(t, told, "continued")
				require.False(t, by.Valid())
			})
		})
	}
}
