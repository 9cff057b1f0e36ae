package messages_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/turnstile-locks/turnstile/messages"
)

func TestStatesAreElevenAndNamed(t *testing.T) {
	var names []string
	for _, s := range messages.States() {
		names = append(names, s.String())
	}
	require.Equal(t, []string{"creating", "listing", "watching", "held", "revoking", "recovering",
		"releasing", "released", "lost", "cancelled", "failed"}, names)
	for _, s := range messages.States() {
		require.Equal(t, s >= messages.StateReleased, s.Terminal(), s)
	}
	require.False(t, messages.StateNone.Terminal())
}

// TestUnknownNames: a value of a later version has a name, too.
func TestUnknownNames(t *testing.T) {
	for _, later := range []fmt.Stringer{messages.StateFailed + 1, messages.Contest + 1, messages.RecipeNaming + 1} {
		require.Equal(t, "unknown", later.String())
	}
}

func TestTokenKeepsOrderAndParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zxid := rapid.Int64Range(1, 1<<53-1)
		place := rapid.IntRange(0, messages.MaxPlace)
		z1, p1, z2, p2 := zxid.Draw(t, "z1"), place.Draw(t, "p1"), zxid.Draw(t, "z2"), place.Draw(t, "p2")
		t1, err := messages.NewToken(z1, p1)
		require.NoError(t, err)
		t2, err := messages.NewToken(z2, p2)
		require.NoError(t, err)
		require.Equal(t, z1, t1.Zxid())
		require.Equal(t, p1, t1.Place())
		require.Equal(t, z1 < z2 || z1 == z2 && p1 < p2, t1 < t2)
	})
}

func TestTokenRefusesWhatDoesNotFit(t *testing.T) {
	for _, c := range []struct {
		zxid  int64
		place int
	}{{0, 0}, {-1, 0}, {1 << 53, 0}, {math.MaxInt64, 0}, {1, -1}, {1, messages.MaxPlace + 1}} {
		_, err := messages.NewToken(c.zxid, c.place)
		require.True(t, errors.Is(err, messages.ErrTokenRange), "%+v", c)
	}
}
