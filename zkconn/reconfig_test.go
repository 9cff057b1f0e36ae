package zkconn

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMembersIn: each form of a member's client address, and what is no such address.
func TestMembersIn(t *testing.T) {
	config := strings.Join([]string{
		"server.1=zk1:2888:3888:participant;0.0.0.0:2181",
		"server.2=zk2:2888:3888:observer;2182",
		"server.3=10.0.0.3:2888:3888:participant;client3:2183",
		"server.4=[fd00::4]:2888:3888:participant;[::]:2184",
		"server.5=zk5:2888:3888|other5:2888:3888:participant;0.0.0.0:2185",
		"server.6=zk6:2888:3888:participant", // clients have no port there, or a secure one
		"server.7=zk7:2888:3888:participant;0.0.0.0:0",
		"server.8=zk8:2888:3888:participant;zk 8:2181",
		"server.9=known:2888:3888:participant;0.0.0.0:2181",
		"server.10=zk1:2888:3888:participant;0.0.0.0:2181",
		"weight.1=1",
		"version=100000003",
	}, "\n")
	require.Equal(t, []string{"zk1:2181", "zk2:2182", "client3:2183", "[fd00::4]:2184", "zk5:2185"},
		membersIn([]byte(config), []string{"known:2181"}))
	require.Empty(t, membersIn(nil, nil))
	var many strings.Builder
	for n := range 1000 {
		fmt.Fprintf(&many, "server.%d=zk%d:2888:3888;2181\n", n, n)
	}
	require.Len(t, membersIn([]byte(many.String()), nil), mostMembers)
}

// TestFoundServersAreAdded to those of the connect string, in all rounds to come; what is no list of members takes none away.
func TestFoundServersAreAdded(t *testing.T) {
	cfg, err := NewConfig("10.0.0.1:2181", WithReconfig())
	require.NoError(t, err)
	h := newHosts(cfg, func() bool { return false })
	defer h.close()
	round := func() (all []string) {
		h.beginRound()
		for len(h.queue) > 0 {
			all = append(all, h.take().address)
		}
		return all
	}
	require.Equal(t, []string{"10.0.0.1:2181"}, round())
	require.True(t, cfg.found.set([]string{"10.0.0.2:2181"}))
	require.False(t, cfg.found.set(nil))
	require.ElementsMatch(t, []string{"10.0.0.1:2181", "10.0.0.2:2181"}, round())
	require.True(t, cfg.found.set([]string{"10.0.0.3:2181"}))
	require.ElementsMatch(t, []string{"10.0.0.1:2181", "10.0.0.3:2181"}, round())
	require.Equal(t, []string{"10.0.0.1:2181"}, cfg.Servers())
}

// TestReconfigIsNotWithTLS: servers tell the addresses of their plain ports.
func TestReconfigIsNotWithTLS(t *testing.T) {
	for _, opts := range [][]Option{{WithReconfig(), WithTLS(&tls.Config{})}, {WithTLS(&tls.Config{}), WithReconfig()}} {
		_, err := NewConfig("zk1:2281", opts...)
		require.ErrorIs(t, err, ErrBadConfig)
		require.ErrorContains(t, err, "WithReconfig and WithTLS")
	}
}

// TestFoundServersShareTheTimeout: clients may not reach the addresses of /zookeeper/config. A round over all servers takes no
// longer than one over those of a connect string that names them.
func TestFoundServersShareTheTimeout(t *testing.T) {
	named, err := NewConfig("10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4", WithSessionTimeout(6*time.Second))
	require.NoError(t, err)
	cfg, err := NewConfig("10.0.0.1", WithSessionTimeout(6*time.Second), WithReconfig())
	require.NoError(t, err)
	require.NotEqual(t, named.dialTimeout(), cfg.dialTimeout())
	cfg.found.set([]string{"10.0.0.2:2181", "10.0.0.3:2181", "10.0.0.4:2181"})
	require.Equal(t, named.dialTimeout(), cfg.dialTimeout())
	require.Equal(t, named.handshakeTimeout(), cfg.handshakeTimeout())
}

// TestFoundNamesDoNotHoldUpALease: where a lease is about to end, a name that nobody answers for has a moment of the round, and
// is then left to dialing, which overlaps.
func TestFoundNamesDoNotHoldUpALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHosts(t, "10.0.0.1", never, WithReconfig())
		end := time.Now().Add(time.Minute)
		h.urgency.timeout, h.urgency.until = func() time.Duration { return time.Second }, func() time.Time { return end }
		h.urgency.set(true)
		h.resolve = func(ctx context.Context, _ string) ([]string, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		h.found.set([]string{"inside.example:2181"})
		began := time.Now()
		h.beginRound()
		require.Equal(t, time.Second/overlapsPerTimeout, time.Since(began))
		require.Len(t, h.queue, 2)
	})
}
