package services

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/child"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestMain is a script in a process of its own, or runs the tests. They mostly wait, so many run at the same time.
func TestMain(m *testing.M) {
	child.Ordered(orderVariable, beSubject)
	flag.Parse()
	if err := flag.Set("test.parallel", "40"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	for _, k := range []*kind{embeddedServer, standalone, ensemble} {
		if err := k.end(); err != nil {
			fmt.Fprintln(os.Stderr, k.name+":", err)
			code = max(code, 1)
		}
	}
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// kind is one kind of servers, started once for the package.
type kind struct {
	name  string
	real  bool // it needs what package rig needs
	start func() (members []rig.Address, stop func() error, err error)

	once    sync.Once
	members []rig.Address
	others  *locks.Client // meets no fault
	stop    func() error
	err     error
}

var (
	embeddedServer = &kind{name: "embedded", start: func() ([]rig.Address, func() error, error) {
		s, err := embedded.Start()
		if err != nil {
			return nil, nil, err
		}
		return []rig.Address{rig.Address(s.Addr())}, func() error { s.Close(); return nil }, nil
	}}
	standalone = &kind{name: "standalone", real: true, start: func() ([]rig.Address, func() error, error) {
		s, err := rig.NewStandalone()
		if err != nil {
			return nil, nil, err
		}
		return []rig.Address{s.Address()}, s.Stop, nil
	}}
	ensemble = &kind{name: "ensemble", real: true, start: func() ([]rig.Address, func() error, error) {
		e, err := rig.NewEnsemble(3, rig.WithConfig("syncLimit", "100")) // 20 s: a stall is no reason to elect
		if err != nil {
			return nil, nil, err
		}
		var members []rig.Address
		for _, m := range e.Members() {
			members = append(members, m.Address())
		}
		return members, e.Stop, nil
	}}
)

// use starts the servers, and skips the test where they cannot be.
func (k *kind) use(t *testing.T) {
	t.Helper()
	if k.real {
		rig.Require(t)
	}
	k.once.Do(func() {
		if k.members, k.stop, k.err = k.start(); k.err == nil {
			k.others, k.err = locks.Open(patient.Deadline(t), listOf(k.members), locks.WithSessionTimeout(long))
		}
	})
	require.NoError(t, k.err)
}

// end stops what was started. It gives an error where a waiter of the others' session had to look
// again for a change that an event should have told it: no fault strikes that session.
func (k *kind) end() (err error) {
	if k.others != nil {
		err = relists.None(k.others.Session().Counters().Polls)
		_ = k.others.Close(context.Background())
	}
	if k.stop != nil {
		_ = k.stop()
	}
	return err
}

// kindsOf are the servers on which a fault is met in real time.
func kindsOf(f Fault) []*kind {
	switch f {
	case pause, kill:
		return []*kind{embeddedServer, standalone}
	case cut, lostReply:
		return []*kind{standalone, ensemble} // where the client goes on at another member
	}
	return []*kind{standalone}
}

// paths counts lock paths: each cell has one of its own.
var paths atomic.Int64

func listOf(members []rig.Address) string {
	all := make([]string, len(members))
	for i, m := range members {
		all[i] = m.Addr()
	}
	return strings.Join(all, ",")
}
