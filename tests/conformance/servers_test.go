package conformance

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// server has what the harness needs of one.
type server interface {
	Addr() string
}

// conditions are the settings of both servers of a pair.
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

// startSubject starts the server that is to be like a real one, for one test.
func startSubject(t testing.TB, c conditions) server {
	t.Helper()
	s := newSubject(t, c)
	t.Cleanup(s.Close)
	return s
}

// startReal starts a server that is right by definition, for one test.
func startReal(t testing.TB, c conditions) *rig.Server {
	t.Helper()
	s := newReal(t, c)
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newSubject(t testing.TB, c conditions) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(
		embedded.WithTick(c.tick),
		embedded.WithSessionTimeouts(c.shortest, c.longest),
		embedded.WithReapInterval(c.reap),
	)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newReal(t testing.TB, c conditions) *rig.Server {
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
	return s
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// modelled is the version that the embedded server answers as, so the one that it is compared with, whichever version
// the other suites are run on.
const modelled = "3.9.5"

// TestMain chooses the version of the real servers, and stops what the tests started.
func TestMain(m *testing.M) {
	if err := os.Setenv(rig.VersionVariable, modelled); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	for _, stop := range sharedStops {
		if err := stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// Servers that tests share, since they do them no harm. The twin is a second real server: nothing may differ
// between it and the reference.
var (
	reference = shared(newReal, (*rig.Server).Stop)
	twin      = shared(newReal, (*rig.Server).Stop)
	subject   = shared(newSubject, func(s *embedded.Server) error { s.Close(); return nil })
)

// sharedStops end what was shared.
var sharedStops []func() error

// shared starts a server when it is first asked for. Tests that run side by side start their own.
func shared[T any](start func(testing.TB, conditions) T, stop func(T) error) func(testing.TB) T {
	var value *T
	return func(t testing.TB) T {
		t.Helper()
		if value == nil {
			s := start(t, undisturbed)
			value = &s
			sharedStops = append(sharedStops, func() error { return stop(s) })
		}
		return *value
	}
}
