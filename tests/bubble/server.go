package bubble

import (
	"testing"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Server runs an embedded server that needs no network and ticks once a second; it is stopped with the test.
func Server(t testing.TB, opts ...embedded.Option) *embedded.Server {
	t.Helper()
	return embedded.Run(t, append([]embedded.Option{embedded.WithoutNetwork(), embedded.WithTick(time.Second)}, opts...)...)
}
