package conformance

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// server is what the harness has to know of one.
type server interface {
	Addr() string
}

// conditions are what both servers of a pair are told.
type conditions struct {
	tick     time.Duration
	shortest time.Duration // session timeout that is granted
	longest  time.Duration
	reap     time.Duration // how often empty containers and old nodes are looked for
}

// undisturbed servers do nothing on their own, however slow the machine is.
var undisturbed = conditions{
	tick:     200 * time.Millisecond,
	shortest: 30 * time.Second,
	longest:  time.Minute,
	reap:     20 * 24 * time.Hour,
}

// startSubject starts the server that is to be like a real one.
func startSubject(t testing.TB, c conditions) server {
	t.Helper()
	s, err := embedded.Start(
		embedded.WithTick(c.tick),
		embedded.WithSessionTimeouts(c.shortest, c.longest),
		embedded.WithReapInterval(c.reap),
	)
	if err != nil {
		t.Fatal(err)
	}
	stopLater(func() error { s.Close(); return nil })
	return s
}

// startReal starts a server that is right by definition.
func startReal(t testing.TB, c conditions) *rig.Server {
	t.Helper()
	rig.Require(t)
	s, err := rig.NewStandalone(
		rig.WithTickTime(c.tick),
		rig.WithMinSessionTimeout(c.shortest),
		rig.WithConfig("maxSessionTimeout", milliseconds(c.longest)),
		rig.WithSystemProperty("znode.container.checkIntervalMs", milliseconds(c.reap)),
		// A server writes pages about every odd request. Only what ends it is of interest.
		rig.WithSystemProperty("org.slf4j.simpleLogger.defaultLogLevel", "off"),
		rig.WithSystemProperty("org.slf4j.simpleLogger.log.org.apache.zookeeper.server.ZooKeeperCriticalThread", "error"),
	)
	if err != nil {
		t.Fatal(err)
	}
	stopLater(s.Stop)
	return s
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// running is what is to be stopped after the tests. It outlives a test, since tests share servers.
var running struct {
	sync.Mutex
	stops []func() error
}

func stopLater(stop func() error) {
	running.Lock()
	defer running.Unlock()
	running.stops = append(running.stops, stop)
}

// TestMain stops what the tests started.
func TestMain(m *testing.M) {
	code := m.Run()
	for _, stop := range running.stops {
		if err := stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// The reference is shared by the tests that do not stop it; the subject is too. The twin is a second
// real server: nothing may differ between it and the reference.
var (
	reference = once(func(t testing.TB) *rig.Server { return startReal(t, undisturbed) })
	twin      = once(func(t testing.TB) *rig.Server { return startReal(t, undisturbed) })
	subject   = once(func(t testing.TB) server { return startSubject(t, undisturbed) })
)

// once starts a server when it is first asked for.
func once[T any](start func(testing.TB) T) func(testing.TB) T {
	var mu sync.Mutex
	var started bool
	var value T
	return func(t testing.TB) T {
		mu.Lock()
		defer mu.Unlock()
		if !started {
			value = start(t)
			started = true
		}
		return value
	}
}
