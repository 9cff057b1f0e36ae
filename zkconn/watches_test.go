package zkconn

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// watching connects to an embedded server, with a node /w.
func watching(t *testing.T) (*embedded.Server, *Conn, <-chan Event) {
	t.Helper()
	server := embedded.Run(t)
	cfg, err := NewConfig(server.Addr(), WithSessionTimeout(30*time.Second), WithReconnectBackoff(time.Millisecond, time.Millisecond))
	require.NoError(t, err)
	events := make(chan Event, 10_000)
	c, err := Dial(cfg, 1, func(e Event) { events <- e })
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	expect(t, events, Connected)
	_, err = c.MakeParents("/w", nil)
	require.NoError(t, err)
	return server, c, events
}

func requireWatches(t *testing.T, server *embedded.Server, want int) {
	t.Helper()
	have, err := rig.Address(server.Addr()).Watches(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, have)
}

// drop removes all watches but one, and waits for the server's answers.
func drop(c *Conn, but string) {
	if remove := c.DropWatches(func(path string, _ bool) bool { return path == but }); remove != nil {
		remove()
		_, _, _ = c.Exists("/w") // its answer follows theirs
	}
}

func createNode(t *testing.T, c *Conn, name string) {
	t.Helper()
	_, err := c.CreateNamed("/w", name, nil, "")
	require.NoError(t, err)
}

// TestDropWatches: those that are not wanted are gone, and do not come back with the next connection.
func TestDropWatches(t *testing.T) {
	server, c, events := watching(t)
	createNode(t, c, "n")
	for _, name := range []string{"kept", "a", "b"} {
		_, exists, err := c.ExistsWatched("/w/" + name)
		require.NoError(t, err)
		require.False(t, exists)
	}
	_, _, err := c.GetWatched("/w/n")
	require.NoError(t, err)
	_, err = c.ChildrenWatched("/w")
	require.NoError(t, err)
	_, _, err = c.GetWatched("/w/none")
	require.ErrorIs(t, err, ErrNoNode)
	for i := range removedAtOnce {
		_, _, err := c.ExistsWatched("/w/many-" + strconv.Itoa(i))
		require.NoError(t, err)
	}
	requireWatches(t, server, 5+removedAtOnce)
	drop(c, "/w/kept")
	requireWatches(t, server, 1)
	require.Nil(t, c.DropWatches(func(path string, _ bool) bool { return path == "/w/kept" }))

	for _, name := range []string{"a", "kept"} {
		createNode(t, c, name)
	}
	require.NoError(t, c.Delete("/w/n"))
	require.Equal(t, "/w/kept", expect(t, events, NodeCreated).Path)
	require.Nil(t, c.DropWatches(func(string, bool) bool { return false }), "it has fired")

	_, _, err = c.ExistsWatched("/w/b")
	require.NoError(t, err)
	c.link.cut()
	expect(t, events, Disconnected)
	expect(t, events, Connected)
	requireWatches(t, server, 0)
	require.Nil(t, c.DropWatches(func(string, bool) bool { return false }))
	require.Empty(t, events)
}

// TestWatchThatIsWantedAgainFires: a read goes out while the removal of its watch is under way.
func TestWatchThatIsWantedAgainFires(t *testing.T) {
	_, c, events := watching(t)
	const rounds = 300
	for round := range rounds {
		name := fmt.Sprint(round)
		_, _, err := c.ExistsWatched("/w/" + name)
		require.NoError(t, err)
		remove := c.DropWatches(func(string, bool) bool { return false })
		require.NotNil(t, remove)
		var both sync.WaitGroup
		both.Go(func() {
			for range rand.IntN(3) {
				runtime.Gosched()
			}
			remove()
		})
		_, _, err = c.ExistsWatched("/w/" + name)
		require.NoError(t, err)
		both.Wait()
		createNode(t, c, name)
		require.Equal(t, "/w/"+name, expect(t, events, NodeCreated).Path)
	}
}

// TestServersWithoutRemoveWatches are asked less and less, in this session and in the next. Once they remove them, as before.
func TestServersWithoutRemoveWatches(t *testing.T) {
	for name, fault := range map[string]embedded.Fault{
		"hang up":       {Action: embedded.CutBefore},
		"unimplemented": {Action: embedded.Refuse, Code: codeUnimplemented},
		"throttled":     {Action: embedded.Refuse, Code: codeThrottled},
		"expired":       {Action: embedded.Refuse, Code: codeSessionExpired},
	} {
		t.Run(name, func(t *testing.T) {
			server, c, _ := watching(t)
			again := func() {
				c.Close()
				var err error
				c, err = Dial(c.cfg, c.epoch+1, func(Event) {})
				require.NoError(t, err)
				t.Cleanup(func() { _ = c.Close() })
			}
			fault.Op, fault.Count = embedded.OpRemoveWatches, -1
			injected, err := server.Inject(fault)
			require.NoError(t, err)
			const looks, doublings = 64, 6
			for n := range looks {
				if _, _, err := c.ExistsWatched("/w/n"); errors.Is(err, ErrClosed) || n == looks/2 {
					again()
				}
				drop(c, "")
			}
			require.LessOrEqual(t, injected.Hits(), doublings+1)
			require.GreaterOrEqual(t, injected.Hits(), doublings/2)

			injected.Remove()
			again()
			for looks := 0; looks < 3; {
				_, _, err := c.ExistsWatched("/w/n")
				require.NoError(t, err)
				remove := c.DropWatches(func(string, bool) bool { return false })
				if looks > 0 {
					require.NotNil(t, remove)
				}
				if remove != nil {
					remove()
					looks++
				}
			}
			require.Eventually(t, func() bool { // also of the connections before
				n, err := rig.Address(server.Addr()).Watches(t.Context())
				return err == nil && n == 0
			}, time.Minute, time.Millisecond)
		})
	}
}
