package locks

import (
	"runtime"
	"testing"
	"time"
)

// TestSerialGoesOnBehindAGoexit: a function that ends its goroutine, as t.FailNow does, keeps no
// other from being called, neither one that waits nor one that comes later.
func TestSerialGoesOnBehindAGoexit(t *testing.T) {
	var s serial
	called, begun := make(chan string, 2), make(chan struct{})
	s.tell(func() {
		<-begun
		runtime.Goexit()
	})
	s.tell(func() { called <- "waited" })
	close(begun)
	for _, want := range []string{"waited", "came later"} {
		select {
		case got := <-called:
			if got != want {
				t.Fatalf("%s was called, not %s", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s is never called", want)
		}
		s.tell(runtime.Goexit)
		s.tell(func() { called <- "came later" })
	}
}
