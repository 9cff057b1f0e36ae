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

// startSubject starts a server that is to be like a real one, for one test.
func startSubject(t testing.TB, c conditions) server {
	t.Helper()
	return embedded.Run(t,
		embedded.WithTick(c.tick),
		embedded.WithSessionTimeouts(c.shortest, c.longest),
		embedded.WithReapInterval(c.reap),
	)
}

// startReal starts a server that is right by definition, for one test.
func startReal(t testing.TB, c conditions) *rig.Server {
	t.Helper()
	return rig.StartStandalone(t,
		rig.WithTickTime(c.tick),
		rig.WithMinSessionTimeout(c.shortest),
		rig.WithConfig("maxSessionTimeout", milliseconds(c.longest)),
		rig.WithSystemProperty("znode.container.checkIntervalMs", milliseconds(c.reap)),
		// A server writes pages about every odd request. Only what ends it is of interest.
		rig.WithSystemProperty("org.slf4j.simpleLogger.defaultLogLevel", "off"),
		rig.WithSystemProperty("org.slf4j.simpleLogger.log.org.apache.zookeeper.server.ZooKeeperCriticalThread", "error"),
	)
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// modelled is the version that the embedded server answers as, so the one that it is compared with, whichever version
// the other suites are run on.
const modelled = "3.9.5"

// TestMain chooses the version of the real servers.
func TestMain(m *testing.M) {
	if err := os.Setenv(rig.VersionVariable, modelled); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
