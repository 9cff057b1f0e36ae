package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// Every kind of fault once, with few clients: what must be zero is.
func TestRealSoakShort(t *testing.T) {
	rig.Require(t)
	o, err := parse([]string{"-duration", "20s", "-all-kinds", "-clients", "2", "-workers", "3", "-locks", "6",
		"-calm", "2", "-calm-workers", "2", "-calm-locks", "4", "-session", "1500ms", "-every", "300ms", "-quiet", "60s", "-hold", "10ms-50ms", "-wipes", "0", "-v"}, t.Output())
	require.NoError(t, err)
	// Without a bound of its own: go test has one, and every wait here is bounded.
	found, err := soak(context.Background(), o, t.Output())
	require.NoError(t, err)
	require.NoError(t, found.show(t.Output()))
	require.True(t, found.clean(), "must be zero: %v", found.Wrong)
	require.NotZero(t, found.Grants)
	require.NotZero(t, found.Windows)
	require.NotZero(t, found.Commits)
	kinds := map[lockKind]bool{}
	for lock := range o.allLocks() {
		kinds[o.kindOf(lock)] = true
	}
	require.Len(t, kinds, int(cohortKind)+1, "every kind of lock")
	c := &chaos{}
	for _, f := range slices.Concat(c.all()...) {
		require.NotZero(t, found.Faults[f.name], f.name)
	}
}

// The same with nothing broken: no lease is lost by the soak's own doing, unless the machine stands
// still for longer than leases last.
func TestRealSoakWithoutFaults(t *testing.T) {
	rig.Require(t)
	o, err := parse([]string{"-duration", "2s", "-faults", "none", "-clients", "2", "-workers", "2", "-locks", "2", "-calm", "1", "-calm-workers", "2",
		"-session", "5s", "-quiet", "1s", "-hold", "1ms-5ms", "-grants", "20", "-wipes", "0"}, t.Output())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	found, err := soak(ctx, o, t.Output())
	require.NoError(t, err)
	require.True(t, found.clean(), "must be zero: %v", found.Wrong)
	require.NotZero(t, found.Grants)
	require.Empty(t, found.Faults)
}

// A soak of locks that are known to be held by two at once finds it: zk.Lock in the hands of a program
// that is stopped while it holds, for longer than its session lasts, and looks at nothing when it goes on.
func TestRealSoakFindsDoubleHolders(t *testing.T) {
	rig.Require(t)
	o, err := parse([]string{"-peer", peerZkNaive, "-duration", "2m", "-faults", "client-pause", "-clients", "2",
		"-workers", "3", "-locks", "1", "-calm", "0", "-session", "1500ms", "-every", "300ms", "-quiet", "2m", "-hold", "200ms-400ms",
		"-patience", "5s", "-history", t.TempDir()}, t.Output())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	found, err := soak(ctx, o, until{t.Output(), "ERROR " + doubleHolders, cancel})
	require.NoError(t, err)
	require.NotZero(t, found.Wrong[doubleHolders])
	require.False(t, found.clean())
}

// until ends something when a text is written.
type until struct {
	io.Writer
	text string
	end  context.CancelFunc
}

func (u until) Write(p []byte) (int, error) {
	if strings.Contains(string(p), u.text) {
		u.end()
	}
	return u.Writer.Write(p)
}
