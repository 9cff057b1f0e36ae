package rig

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// patience bounds every wait for something that must happen. It is long: a test
// that needs it all has failed, and no test passes by being quick. On a busy machine
// an election has taken 21 s after the leader was cut off.
const patience = 3 * time.Minute

// TestMain stops what the tests share, and plays the parent that is killed.
func TestMain(m *testing.M) {
	if os.Getenv(parentVariable) != "" {
		beParent()
		return
	}
	code := m.Run()
	if err := sharedServer.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// sharedServer is for the tests that do it no harm.
var sharedServer Shared

func shared(t *testing.T) *Server {
	t.Helper()
	return sharedServer.Get(t)
}

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !condition(); {
		if time.Now().After(deadline) {
			t.Fatalf("still not so: %s", what)
		}
		time.Sleep(pollInterval)
	}
}

func await(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("did not happen: %s", what)
	}
}

// client is a go-zookeeper connection that remembers its states.
type client struct {
	*zk.Conn
	mu     sync.Mutex
	states []zk.State
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// connect opens a session and waits until it is there.
func connect(t *testing.T, addrs ...string) *client {
	t.Helper()
	c := &client{}
	// The library sleeps for a second once it has tried every server; named twice,
	// a server is tried again at once.
	addrs = slices.Concat(addrs, addrs)
	conn, _, err := zk.Connect(addrs, 10*time.Second, zk.WithLogger(Silent{}), zk.WithEventCallback(c.note))
	if err != nil {
		t.Fatal(err)
	}
	c.Conn = conn
	t.Cleanup(conn.Close)
	eventually(t, "a session", func() bool { return c.saw(zk.StateHasSession) })
	return c
}

func (c *client) note(event zk.Event) {
	if event.Type != zk.EventSession {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.states = append(c.states, event.State)
}

func (c *client) saw(state zk.State) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Contains(c.states, state)
}

// forgetStates makes saw speak of states from now on.
func (c *client) forgetStates() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.states = nil
}

var everyone = zk.WorldACL(zk.PermAll)

func create(t *testing.T, c *client, path string, flags int32) string {
	t.Helper()
	created, err := c.Create(path, nil, flags, everyone)
	if err != nil {
		t.Fatalf("create %s: %v", path, err)
	}
	return created
}

func exists(t *testing.T, c *client, path string) bool {
	t.Helper()
	found, _, err := c.Exists(path)
	if err != nil {
		t.Fatalf("exists %s: %v", path, err)
	}
	return found
}

// freshPath is a path that no other test and no other run of this one uses.
func freshPath(t *testing.T, direct *client) string {
	t.Helper()
	return create(t, direct, "/"+strings.ReplaceAll(t.Name(), "/", "-")+"-", zk.FlagSequence)
}
