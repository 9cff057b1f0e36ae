package scene

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// ServerKind is one kind of server.
type ServerKind struct {
	Name string
	// Real: its stories are skipped where real servers are not installed.
	Real bool
	// Required: nobody is let in without SASL.
	Required bool
	Start    Start

	once  sync.Once
	began string // the addresses of its members
	err   error
}

// Start starts a server. It gives the addresses of its members, and what stops them.
type Start func() (addrs string, stop func() error, err error)

// Embedded starts an embedded server.
func Embedded(opts ...embedded.Option) Start {
	return func() (string, func() error, error) {
		s, err := embedded.Start(opts...)
		if err != nil {
			return "", nil, err
		}
		return s.Addr(), func() error { s.Close(); return nil }, nil
	}
}

// Standalone starts a real server that is alone.
func Standalone(opts ...rig.Option) Start {
	return func() (string, func() error, error) {
		s, err := rig.NewStandalone(opts...)
		if err != nil {
			return "", nil, err
		}
		return s.Addr(), s.Stop, nil
	}
}

// Ensemble starts so many real servers.
func Ensemble(members int, opts ...rig.Option) Start {
	return func() (string, func() error, error) {
		e, err := rig.NewEnsemble(members, opts...)
		if err != nil {
			return "", nil, err
		}
		return e.Addrs(), e.Stop, nil
	}
}

// stops end what was started, and chroots counts the chroots.
var (
	stopping sync.Mutex
	stops    []func() error
	chroots  atomic.Int64
)

// addrs starts the servers where no test has yet. It skips the test where they are real and not installed.
func (k *ServerKind) addrs(t testing.TB) string {
	t.Helper()
	if k.Real {
		rig.Require(t)
	}
	k.once.Do(func() {
		var stop func() error
		if k.began, stop, k.err = k.Start(); k.err == nil {
			AtEnd(stop)
		}
	})
	require.NoError(t, k.err)
	return k.began
}

// Each runs a subtest on every kind of server, with the addresses of its members.
func Each(t *testing.T, kinds []*ServerKind, tell func(t *testing.T, kind *ServerKind, addrs string)) {
	for _, kind := range kinds {
		t.Run(kind.Name, func(t *testing.T) { tell(t, kind, kind.addrs(t)) })
	}
}

// Story is one thing that is shown at a place: servers, with what a package adds to them. The
// struct has no name, so that tables of other packages need not name its fields.
type Story[P any] = struct {
	Name string
	Tell func(t *testing.T, at P)
}

// Tell tells stories on every kind of server, each in a chroot of its own, which does not exist
// yet. place makes its place. Some stories wait long for next to nothing, so several are told at
// once.
func Tell[P any](t *testing.T, kinds []*ServerKind, all []Story[P], place func(t *testing.T, kind *ServerKind, zk *Servers) P) {
	Each(t, kinds, func(t *testing.T, kind *ServerKind, addrs string) {
		for _, s := range all {
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				s.Tell(t, place(t, kind, At(Chroot(), strings.Split(addrs, ",")...)))
			})
		}
	})
}

// Chroot gives a story's chroot, which does not exist yet.
func Chroot() string { return fmt.Sprintf("/story-%d", chroots.Add(1)) }

// AtEnd has Main stop what tests share, the last first.
func AtEnd(stop func() error) {
	stopping.Lock()
	defer stopping.Unlock()
	stops = append(stops, stop)
}

// Main is for TestMain: it is Run, and does not return.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run runs the tests, stops what they share, and then finds out whether anything of Turnstile's is still
// running.
func Run(m *testing.M) (code int) {
	code = m.Run()
	var failures error
	for _, stop := range slices.Backward(stops) {
		failures = errors.Join(failures, stop())
	}
	if failures == nil && code == 0 {
		failures = leaked()
	}
	if failures != nil {
		fmt.Fprintln(os.Stderr, failures)
		return 1
	}
	return code
}

// leaked waits until no goroutine is left, and gives an error where one stays. goleak itself gives up after half a
// second.
func leaked() error {
	for end := time.Now().Add(Bound); ; {
		if err := goleak.Find(); err == nil || time.Now().After(end) {
			return err
		}
	}
}
