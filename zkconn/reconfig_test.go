package zkconn

import (
	"crypto/tls"
	"fmt"
	"strings"
	"testing"

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
