package steady

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstile-locks/turnstile/actors/gateway"
)

// TestADayAndFour: while locks are held and waited for, over a gateway too, and queues are followed, but nothing happens,
// four days leave no more behind than one.
func TestADayAndFour(t *testing.T) {
	alone(t)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 5*time.Minute) // some 1 700 heartbeats a day
		w.within = context.WithoutCancel(t.Context())
		w.keepLock()
		far, err := gateway.Open(w.ctx(), w.system, gateway.At(w.gateway()))
		w.ok(err)
		t.Cleanup(func() { w.ok(far.Close(w.ctx())) })
		_, err = far.Mutex("/far").Lock(w.ctx())
		w.ok(err)
		time.Sleep(24 * time.Hour)
		day := measure(t, w.server, w.system)
		time.Sleep(3 * 24 * time.Hour)
		four := measure(t, w.server, w.system)
		requireNoGrowth(t, day, four, 3*24*12) // it is to be as little for each session timeout as for an operation
	})
}
