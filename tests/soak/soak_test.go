package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// said is a writer that logs to the test.
type said struct{ t *testing.T }

func (s said) Write(p []byte) (int, error) {
	s.t.Log(strings.TrimRight(string(p), "\n"))
	return len(p), nil
}

// Every kind of fault once, with few clients: what must be zero is.
func TestSoakShort(t *testing.T) {
	rig.Require(t)
	o, err := parse([]string{"-duration", "20s", "-all-kinds", "-clients", "2", "-workers", "4", "-locks", "3",
		"-session", "1500ms", "-every", "500ms", "-quiet", "15s", "-hold", "1ms-20ms", "-v"}, said{t})
	require.NoError(t, err)
	// Without a bound of its own: go test has one, and every wait here is bounded.
	found, err := soak(context.Background(), o, said{t})
	require.NoError(t, err)
	require.NoError(t, found.print(said{t}, false))
	require.True(t, found.clean(), "must be zero: %v", found.Wrong)
	require.NotZero(t, found.Grants)
	require.NotZero(t, found.Windows)
	c := &chaos{}
	for _, f := range append(c.ensembleFaults(), c.clientFaults()...) {
		require.NotZero(t, found.Faults[f.name], f.name)
	}
}

// The same with nothing broken: no lease is lost by the soak's own doing, unless the machine stands
// still for longer than leases last.
func TestSoakWithoutFaults(t *testing.T) {
	rig.Require(t)
	o, err := parse([]string{"-duration", "2s", "-faults", "none", "-clients", "2", "-workers", "2", "-locks", "2",
		"-session", "5s", "-quiet", "1s", "-hold", "1ms-5ms"}, said{t})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	found, err := soak(ctx, o, said{t})
	require.NoError(t, err)
	require.True(t, found.clean(), "must be zero: %v", found.Wrong)
	require.NotZero(t, found.Grants)
	require.Empty(t, found.Faults)
}
