package actors_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

func TestCheckAcquire(t *testing.T) {
	require.NoError(t, actors.CheckAcquire(messages.Acquire{Path: "/orders/42"}))
	require.ErrorIs(t, actors.CheckAcquire(messages.Acquire{Path: "orders"}), zkconn.ErrBadPath)
	for _, bad := range []messages.Acquire{
		{Path: "/a", Mode: 9}, {Path: "/a", Timeout: -time.Second}, {Path: "/a", Grace: -1},
		{Path: "/a", Label: strings.Repeat("x", 1025)},
	} {
		require.ErrorIs(t, actors.CheckAcquire(bad), actors.ErrBadAcquire)
	}
}
