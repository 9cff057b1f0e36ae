package main

import (
	"io"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/examples/printing"
	"github.com/turnstile-locks/turnstile/messages"
)

// hire spawns a foreman, and gives where its verdict comes.
func hire(kit *actorstest.Kit, from actors.Provider) <-chan error {
	verdict := make(chan error, 1)
	kit.System.Root.Spawn(actor.PropsFromProducer(func() actor.Actor {
		settings := settings{path: "/actors", work: time.Millisecond}
		return &foreman{from: from, settings: settings, prints: printing.New(io.Discard, "lock"), verdict: verdict}
	}))
	return verdict
}

// TestForeman: both of its lock actors hold, one after the other.
func TestForeman(t *testing.T) {
	kit := actorstest.Start(t)
	observed := actorstest.Observed(kit.Session)
	require.NoError(t, <-hire(kit, observed))
	for range 2 {
		recorder, err := observed.Await(t.Context(), "/actors")
		require.NoError(t, err)
		_, err = recorder.Await(t.Context(), messages.StateHeld)
		require.NoError(t, err)
		_, err = recorder.Await(t.Context(), messages.StateReleased)
		require.NoError(t, err)
	}
}

// TestForemanLoses: its verdict says why.
func TestForemanLoses(t *testing.T) {
	kit, fake := actorstest.Start(t), new(actorstest.Fake)
	verdict := hire(kit, fake)
	lock, err := fake.Await(t.Context(), "/actors")
	require.NoError(t, err)
	lock.Hold()
	lock.Lose(messages.ReasonSessionExpired)
	require.ErrorContains(t, <-verdict, "lost: the session has expired")
}
