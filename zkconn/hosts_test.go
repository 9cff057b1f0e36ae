package zkconn

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func never() bool { return false }

func newTestHosts(t *testing.T, servers string, over func() bool, opts ...Option) *hosts {
	t.Helper()
	cfg, err := NewConfig(servers, opts...)
	require.NoError(t, err)
	h := newHosts(cfg, over)
	t.Cleanup(h.close)
	require.NoError(t, h.Init(nil))
	return h
}

// next takes an address and says how long that took.
func next(t *testing.T, h *hosts) (string, time.Duration) {
	t.Helper()
	start := time.Now()
	server, retryStart := h.Next()
	require.False(t, retryStart, "while open")
	return server, time.Since(start)
}

func TestHostsTryEveryoneInARound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHosts(t, "10.0.0.1,10.0.0.2,10.0.0.3", never)
		require.Equal(t, 3, h.Len())
		var previous time.Duration
		for round := range 12 {
			var tried []string
			for i := range 3 {
				server, took := next(t, h)
				tried = append(tried, server)
				switch {
				case i > 0 || round == 0:
					require.Zero(t, took, "within a round, and at first, there is no wait")
				default:
					require.Positive(t, took)
					require.LessOrEqual(t, took, DefaultMaxBackoff*3/2)
					previous = took
				}
			}
			slices.Sort(tried)
			require.Equal(t, []string{"10.0.0.1:2181", "10.0.0.2:2181", "10.0.0.3:2181"}, tried)
		}
		require.GreaterOrEqual(t, previous, 500*time.Millisecond, "waits have grown")
	})
}

func TestHostsBeginAtOnceAfterALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHosts(t, "10.0.0.1", never)
		next(t, h)
		for range 100 {
			h.Connected()
			h.answered.Store(true)
			_, took := next(t, h)
			require.Zero(t, took)
		}
		_, took := next(t, h)
		require.Positive(t, took, "the second try waits")
	})
}

func TestHostsSlowDownForUselessConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHosts(t, "10.0.0.1", never)
		next(t, h)
		h.Connected()
		_, took := next(t, h)
		require.Zero(t, took, "the first one is given a chance")
		var free int
		start := time.Now()
		for range 100 {
			h.Connected()
			if _, took := next(t, h); took == 0 {
				free++
			}
		}
		require.LessOrEqual(t, free, int(time.Since(start)/DefaultMaxBackoff)+1)
		require.Greater(t, time.Since(start), 30*time.Second, "two a second or so, not hundreds")
	})
}

func TestHostsSlowDownForRefusedCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHosts(t, "10.0.0.1", never)
		next(t, h)
		for range 100 {
			h.Connected()
			h.answered.Store(true)
			h.refused.Store(true)
			_, took := next(t, h)
			require.Positive(t, took)
		}
		h.Connected()
		h.answered.Store(true)
		_, took := next(t, h)
		require.Zero(t, took, "it has been accepted at last")
	})
}

func TestHostsTryTheLostServerLast(t *testing.T) {
	for range 20 {
		h := newTestHosts(t, "10.0.0.1,10.0.0.2,10.0.0.3", never)
		lost, _ := next(t, h)
		h.Connected()
		h.answered.Store(true)
		var tried []string
		for range 3 {
			server, _ := next(t, h)
			tried = append(tried, server)
		}
		require.Equal(t, lost, tried[2])
	}
}

func TestHostsResolveAnewEachRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHosts(t, "zk.example:2182", never)
		var calls int
		h.resolve = func(_ context.Context, name string) ([]string, error) {
			require.Equal(t, "zk.example", name)
			switch calls++; calls {
			case 1:
				return []string{"10.0.0.1", "::1"}, nil
			case 2:
				return nil, errors.New("no such host")
			}
			return []string{"10.0.0.9"}, nil
		}
		first, _ := next(t, h)
		require.Equal(t, "zk.example", h.name(), "TLS verifies the name as configured")
		second, _ := next(t, h)
		require.ElementsMatch(t, []string{"10.0.0.1:2182", "[::1]:2182"}, []string{first, second})
		require.Contains(t, h.label(), "zk.example:2182 (")
		unresolved, _ := next(t, h)
		require.Equal(t, "zk.example:2182", unresolved, "dialing it tells why")
		third, _ := next(t, h)
		require.Equal(t, "10.0.0.9:2182", third)
	})
}

func TestHostsResolveOnlyNamesAndOnlyForTheirOwnDialer(t *testing.T) {
	h := newTestHosts(t, "10.0.0.1,[::1]:2183", never)
	h.resolve = func(context.Context, string) ([]string, error) {
		t.Error("resolved an address")
		return nil, nil
	}
	next(t, h)
	next(t, h)
	require.Nil(t, newTestHosts(t, "zk.example", never, WithDialer(newFakeServer(t).dial)).resolve)
}

func TestHostsClosedWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHosts(t, "10.0.0.1", never, WithReconnectBackoff(time.Hour, time.Hour))
		next(t, h)
		start := time.Now()
		time.AfterFunc(time.Second, h.close)
		server, retryStart := h.Next()
		require.True(t, retryStart)
		require.Equal(t, "10.0.0.1:2181", server)
		require.Equal(t, time.Second, time.Since(start))
		_, retryStart = h.Next()
		require.True(t, retryStart)
		require.Equal(t, time.Second, time.Since(start))
	})
}

func TestHostsOverOnceTheEpochIs(t *testing.T) {
	over := false
	h := newTestHosts(t, "10.0.0.1", func() bool { return over })
	next(t, h)
	over = true
	_, retryStart := h.Next()
	require.True(t, retryStart)
}

func TestHostsGiveUpResolvingInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHosts(t, "zk.example", never)
		h.resolve = func(ctx context.Context, _ string) ([]string, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		server, took := next(t, h)
		require.Equal(t, "zk.example:2181", server)
		require.Equal(t, 2*time.Second, took)
	})
}
