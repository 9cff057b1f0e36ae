package rig_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestMain stops what the tests share.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := sharedServer.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// sharedServer is for the tests that do it no harm.
var sharedServer rig.Shared

// connect opens a session.
func connect(t *testing.T, addr string) *zk.Conn {
	t.Helper()
	return scene.Raw(t, scene.Session, addr)
}

func create(t *testing.T, c *zk.Conn, path string) {
	t.Helper()
	_, err := c.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
}

func exists(t *testing.T, c *zk.Conn, path string) bool {
	t.Helper()
	found, _, err := c.Exists(path)
	require.NoError(t, err)
	return found
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
