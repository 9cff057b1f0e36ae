package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/interop"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// Curator's clients say what the others say: they lock, write, lose nothing, and end.
func TestRealSoakOfCurator(t *testing.T) {
	rig.Require(t)
	interop.Require(t)
	t.Cleanup(func() { require.NoError(t, interop.RemovePrograms()) })
	o, err := parse([]string{"-peer", peerCurator, "-duration", "2s", "-faults", "none", "-clients", "1", "-workers", "2",
		"-locks", "2", "-calm", "1", "-calm-workers", "2", "-calm-locks", "2", "-session", "5s", "-quiet", "1s",
		"-hold", "1ms-5ms", "-grants", "20"}, t.Output())
	require.NoError(t, err)
	found, err := soak(context.Background(), o, t.Output())
	require.NoError(t, err)
	require.True(t, found.clean(), "must be zero: %v", found.Wrong)
	require.NotZero(t, found.Grants)
	require.NotZero(t, found.Windows)
}
