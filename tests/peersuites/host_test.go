package main

import (
	"bufio"
	"encoding/json"
	"net"
	"os"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

// A server lives as long as its stand-in, and what it had is found again by its folder, unless that was emptied.
func TestAServerLivesAsLongAsItsStandIn(t *testing.T) {
	h := hosting(t)
	m := member{Addr: free(t), DataDir: t.TempDir(), Tick: 100 * time.Millisecond}

	standIn := comes(t, h, m)
	within(t, m.Addr, func(c *zk.Conn) {
		_, err := c.Create("/kept", nil, 0, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
	})
	goes(t, standIn, m)

	standIn = comes(t, h, m)
	within(t, m.Addr, func(c *zk.Conn) { require.True(t, exists(t, c, "/kept")) })
	goes(t, standIn, m)

	require.NoError(t, os.RemoveAll(m.DataDir))
	require.NoError(t, os.Mkdir(m.DataDir, 0o700))
	standIn = comes(t, h, m)
	within(t, m.Addr, func(c *zk.Conn) { require.False(t, exists(t, c, "/kept")) })
	goes(t, standIn, m)
}

// The members of an ensemble are replicas of one server, which starts when all have come, and outlives one that goes.
func TestMembersOfAnEnsembleAreOneServer(t *testing.T) {
	h := hosting(t)
	peers := []string{"server.1=a", "server.2=b", "server.3=c"}
	var members []member
	var standIns []net.Conn
	for range peers {
		m := member{Addr: free(t), DataDir: t.TempDir(), Tick: 100 * time.Millisecond, Peers: peers}
		members, standIns = append(members, m), append(standIns, announce(t, h, m))
	}
	for _, standIn := range standIns {
		up(t, standIn)
	}
	within(t, members[0].Addr, func(c *zk.Conn) {
		_, err := c.Create("/shared", nil, 0, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
	})
	goes(t, standIns[0], members[0])
	within(t, members[1].Addr, func(c *zk.Conn) {
		_, err := c.Sync("/")
		require.NoError(t, err)
		require.True(t, exists(t, c, "/shared"))
	})
	standIns[0] = comes(t, h, members[0])
	within(t, members[0].Addr, func(c *zk.Conn) { require.True(t, exists(t, c, "/shared")) })
}

func hosting(t *testing.T) *host {
	h, err := newHost(func(err error) { t.Error(err) })
	require.NoError(t, err)
	t.Cleanup(h.close)
	return h
}

// free is an address that nothing listens on.
func free(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// announce is the first step of a stand-in.
func announce(t *testing.T, h *host, m member) net.Conn {
	conn, err := net.Dial("tcp", h.addr())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, json.NewEncoder(conn).Encode(m))
	return conn
}

// up waits until the stand-in is told that its server is up.
func up(t *testing.T, standIn net.Conn) {
	require.NoError(t, standIn.SetReadDeadline(time.Now().Add(time.Minute)))
	lines := bufio.NewReader(standIn)
	line, err := lines.ReadString('\n')
	if line == "waits\n" {
		line, err = lines.ReadString('\n')
	}
	require.NoError(t, err)
	require.Equal(t, "up\n", line)
}

func comes(t *testing.T, h *host, m member) net.Conn {
	standIn := announce(t, h, m)
	up(t, standIn)
	return standIn
}

// goes ends a stand-in and waits until its server is gone.
func goes(t *testing.T, standIn net.Conn, m member) {
	require.NoError(t, standIn.Close())
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", m.Addr)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, time.Minute, 5*time.Millisecond)
}

// within calls a function with a client that has a session.
func within(t *testing.T, addr string, do func(*zk.Conn)) {
	c, _, err := zk.Connect([]string{addr}, 10*time.Second, zk.WithLogInfo(false))
	require.NoError(t, err)
	defer c.Close()
	do(c)
}

func exists(t *testing.T, c *zk.Conn, path string) bool {
	there, _, err := c.Exists(path)
	require.NoError(t, err)
	return there
}
