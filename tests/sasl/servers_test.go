package sasl

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// story is one thing that is shown.
type story struct {
	name string
	tell func(t *testing.T, at *place)
}

// place is where a story happens: servers, and a chroot of the story's own.
type place struct {
	addrs    string // of all servers
	one      string // of one of them
	root     string
	required bool // nobody is let in without SASL
}

// kind is one kind of server, started once for the package.
type kind struct {
	name     string
	real     bool
	required bool
	start    func() (addrs string, stop func() error, err error)
	addrs    string
}

var kinds = []*kind{
	{name: "embedded", start: startEmbedded()},
	{name: "embedded, required", required: true, start: startEmbedded(embedded.WithSASLRequired())},
	{name: "standalone", real: true, start: startStandalone()},
	{name: "standalone, required", real: true, required: true,
		start: startStandalone(rig.WithConfig("sessionRequireClientSASLAuth", "true"))},
	{name: "ensemble, enforced", real: true, required: true, start: func() (string, func() error, error) {
		e, err := rig.NewEnsemble(3, rig.WithJAAS(rig.DigestJAAS(passwords)),
			rig.WithConfig("enforce.auth.enabled", "true"), rig.WithConfig("enforce.auth.schemes", "sasl"),
			rig.WithConfig("syncLimit", "100")) // 20 s: a stall is no reason to elect
		if err != nil {
			return "", nil, err
		}
		return e.Addrs(), e.Stop, nil
	}},
}

func startEmbedded(opts ...embedded.Option) func() (string, func() error, error) {
	return func() (string, func() error, error) {
		s, err := embedded.Start(append(opts, embedded.WithSASL(passwords))...)
		if err != nil {
			return "", nil, err
		}
		return s.Addr(), func() error { s.Close(); return nil }, nil
	}
}

func startStandalone(opts ...rig.Option) func() (string, func() error, error) {
	return func() (string, func() error, error) {
		s, err := rig.NewStandalone(append(opts, rig.WithJAAS(rig.DigestJAAS(passwords)))...)
		if err != nil {
			return "", nil, err
		}
		return s.Addr(), s.Stop, nil
	}
}

// stops end the servers that were started.
var stops []func() error

var chroots atomic.Int64

// tell tells the stories on every kind of server. Some wait long for next to nothing, so several are told at once.
func tell(t *testing.T, stories []story) {
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			if kind.real {
				rig.Require(t)
			}
			if kind.addrs == "" {
				addrs, stop, err := kind.start()
				require.NoError(t, err)
				kind.addrs, stops = addrs, append(stops, stop)
			}
			for _, s := range stories {
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					one, _, _ := strings.Cut(kind.addrs, ",")
					s.tell(t, &place{addrs: kind.addrs, one: one, required: kind.required,
						root: fmt.Sprintf("/story-%d", chroots.Add(1))})
				})
			}
		})
	}
}

// connect is the connect string for Open.
func (p *place) connect() string { return p.addrs + p.root }

// proxy stands before one of the servers.
func (p *place) proxy(t *testing.T) *rig.Proxy { return rig.NewProxy(t, p.one) }

// What all tests of behaviour do, whatever package they are in.
var (
	open       = patient.Open
	recorder   = patient.Recorder
	deadline   = patient.Deadline
	eventually = patient.Eventually
)
