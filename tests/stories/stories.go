// Package stories tells the stories of a package of tests on each kind of server. A server is started when it is first
// needed and serves all stories of the package; each story has a chroot of its own.
package stories

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Kind is one kind of server.
type Kind struct {
	Name string
	// Real: its stories are skipped where real servers are not installed.
	Real bool
	// Required: nobody is let in without SASL.
	Required bool
	Start    Start

	addrs string // once it has started
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

// stops end the servers that were started, and chroots counts the chroots.
var (
	stops   []func() error
	chroots atomic.Int64
)

// Each runs a subtest on every kind of server, with the addresses of its members.
func Each(t *testing.T, kinds []*Kind, tell func(t *testing.T, kind *Kind, addrs string)) {
	for _, kind := range kinds {
		t.Run(kind.Name, func(t *testing.T) {
			if kind.Real {
				rig.Require(t)
			}
			if kind.addrs == "" {
				addrs, stop, err := kind.Start()
				require.NoError(t, err)
				kind.addrs, stops = addrs, append(stops, stop)
			}
			tell(t, kind, kind.addrs)
		})
	}
}

// Chroot gives a story's chroot, which does not exist yet.
func Chroot() string { return fmt.Sprintf("/story-%d", chroots.Add(1)) }

// Main is for TestMain: it runs the tests, stops the servers that they share, and then finds out whether anything of
// Turnstile's is still running. It does not return.
func Main(m *testing.M) {
	code := m.Run()
	var failures error
	for _, stop := range stops {
		failures = errors.Join(failures, stop())
	}
	if failures == nil && code == 0 {
		failures = goleak.Find()
	}
	if failures != nil {
		fmt.Fprintln(os.Stderr, failures)
		code = 1
	}
	os.Exit(code)
}
