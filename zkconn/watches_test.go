package zkconn

import (
	"fmt"
	"math/rand/v2"
	"runtime"
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
	requireWatches(t, server, 5)
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

// TestServersWithoutRemoveWatches are not asked for ever, in this session or in the next.
func TestServersWithoutRemoveWatches(t *testing.T) {
	for name, row := range map[string]struct {
		fault embedded.Fault
		hits  int
	}{
		"hang up":       {embedded.Fault{Action: embedded.CutBefore}, manyHangUps},
		"unimplemented": {embedded.Fault{Action: embedded.Refuse, Code: codeUnimplemented}, 1},
		"throttled":     {embedded.Fault{Action: embedded.Refuse, Code: codeThrottled}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			server, c, _ := watching(t)
			row.fault.Op, row.fault.Count = embedded.OpRemoveWatches, -1
			injected, err := server.Inject(row.fault)
			require.NoError(t, err)
			for range 2 {
				for set := 0; set < 5; {
					if _, _, err := c.ExistsWatched("/w/n"); err == nil {
						set++
					}
					drop(c, "")
				}
				c.Close()
				c, err = Dial(c.cfg, c.epoch+1, func(Event) {})
				require.NoError(t, err)
				t.Cleanup(func() { _ = c.Close() })
			}
			require.Equal(t, row.hits, injected.Hits())
		})
	}
}
