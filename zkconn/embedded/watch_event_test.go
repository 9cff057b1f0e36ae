package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A watch that fires once fires once, for its own kind of change; its event comes before the reply to any
// later request, also when all was asked in one piece. A client that sees a reply knows that no event
// from before is still under way.
func TestEventsComeBeforeLaterReplies(t *testing.T) {
	s, _ := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	c.write(
		c.request(embedded.OpExists, "/a", true),                     // 1
		c.request(embedded.OpCreate, createOf("/a", plain)),          // 2
		c.request(embedded.OpGetData, "/a", true),                    // 3
		c.request(embedded.OpGetChildren, "/a", true),                // 4
		c.request(embedded.OpCreate, createOf("/a/b", plain)),        // 5
		c.request(embedded.OpSetData, "/a", []byte("y"), anyVersion), // 6
		c.request(embedded.OpSetData, "/a", []byte("z"), anyVersion), // 7
		c.request(embedded.OpDelete, "/a/b", anyVersion),             // 8
		c.request(embedded.OpGetChildren, "/a", true),                // 9
		c.request(embedded.OpDelete, "/a", anyVersion),               // 10
		c.request(embedded.OpPing))
	for _, want := range []any{int32(1), "created /a", int32(2), int32(3), int32(4), "children /a", int32(5),
		"changed /a", int32(6), int32(7), int32(8), int32(9), "deleted /a", int32(10), int32(-2)} {
		if event, ok := want.(string); ok {
			require.Equal(t, event, c.event())
			continue
		}
		require.Equal(t, want, c.reply().xid)
	}
}

// Another client's event is sent when it happens, without any request of the one who watches; before the
// writer has its reply the event is on its way.
func TestEventsFromOthers(t *testing.T) {
	s, _ := frozen(t, threeReplicas...)
	for i := range s.Replicas() {
		watcher, writer := openRaw(t, s, i, time.Minute), openRaw(t, s, (i+1)%3, time.Minute)
		watcher.call(embedded.OpExists, "/a", true)
		watcher.call(embedded.OpGetChildren, "/", true).must()
		writer.create("/a", plain)
		require.Equal(t, "created /a", watcher.event())
		require.Equal(t, "children /", watcher.event())
		writer.delete("/a")
		watcher.ping() // and no more events: both were for once
		require.Zero(t, monitored(t, s, i, "watch_count"))
	}
}

// A watch on a missing node is left by exists, and by nothing else: a read that finds no node sets none.
func TestOnlyExistsWatchesWhatIsMissing(t *testing.T) {
	s, _ := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	require.Equal(t, noNode, c.call(embedded.OpGetData, "/a", true).code)
	require.Equal(t, noNode, c.call(embedded.OpGetChildren, "/a", true).code)
	require.Zero(t, monitored(t, s, 0, "watch_count"))
	require.Equal(t, noNode, c.call(embedded.OpExists, "/a", true).code)
	require.Equal(t, 1, monitored(t, s, 0, "watch_count"))
}

// A persistent watch fires for the node and for its children, again and again.
func TestPersistentWatch(t *testing.T) {
	s, _ := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	c.call(embedded.OpAddWatch, "/a", persistentWatch).must()
	for range 2 {
		for _, step := range []struct {
			request []byte
			event   string
		}{
			{c.request(embedded.OpCreate, createOf("/a", plain)), "created /a"},
			{c.request(embedded.OpSetData, "/a", []byte("y"), anyVersion), "changed /a"},
			{c.request(embedded.OpCreate, createOf("/a/b", plain)), "children /a"},
			{c.request(embedded.OpSetData, "/a/b", []byte("y"), anyVersion), ""},
			{c.request(embedded.OpCreate, createOf("/a/b/c", plain)), ""},
			{c.request(embedded.OpDelete, "/a/b/c", anyVersion), ""},
			{c.request(embedded.OpDelete, "/a/b", anyVersion), "children /a"},
			{c.request(embedded.OpDelete, "/a", anyVersion), "deleted /a"},
		} {
			c.write(step.request)
			if step.event != "" {
				require.Equal(t, step.event, c.event())
			}
			c.reply().must()
		}
	}
	require.Equal(t, 2, monitored(t, s, 0, "watch_count"), "it is there for data and for children")
}

// A recursive watch fires for the node and all below it, and never for a list of children, which would tell
// the same twice.
func TestRecursiveWatch(t *testing.T) {
	s, _ := frozen(t)
	c, other := openRaw(t, s, 0, time.Minute), openRaw(t, s, 0, time.Minute)
	c.call(embedded.OpAddWatch, "/a", recursiveWatch).must()
	for range 2 {
		other.create("/a", plain)
		other.create("/a/b", plain)
		other.create("/a/b/c", plain)
		other.create("/ab", plain)
		other.call(embedded.OpSetData, "/a/b/c", []byte("y"), anyVersion).must()
		other.delete("/ab")
		other.delete("/a/b/c")
		other.delete("/a/b")
		other.delete("/a")
		for _, event := range []string{"created /a", "created /a/b", "created /a/b/c", "changed /a/b/c",
			"deleted /a/b/c", "deleted /a/b", "deleted /a"} {
			require.Equal(t, event, c.event())
		}
		c.ping()
	}
}

// A watch that its owner removes is silent from then on; removing what is not there is an error.
func TestRemoveWatches(t *testing.T) {
	s, _ := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	require.Equal(t, noWatcher, c.call(embedded.OpRemoveWatches, "/a", anyWatch).code)
	c.create("/a", plain)
	c.call(embedded.OpGetData, "/a", true).must()
	c.call(embedded.OpGetChildren, "/a", true).must()
	c.call(embedded.OpRemoveWatches, "/a", dataWatch).must()
	c.send(embedded.OpCreate, createOf("/a/b", plain))
	require.Equal(t, "children /a", c.event())
	c.reply().must()
	c.call(embedded.OpGetChildren, "/a", true).must()
	c.call(embedded.OpRemoveWatches, "/a", anyWatch).must()
	require.Zero(t, monitored(t, s, 0, "watch_count"))
	c.create("/a/c", plain)
}

// One kind of watch does not stand for another: each is asked about, removed and fired by itself.
func TestWatchesOfSeveralKinds(t *testing.T) {
	s, _ := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	c.create("/a", plain)
	c.call(embedded.OpAddWatch, "/a", persistentWatch).must()
	for _, which := range []int32{childrenWatch, dataWatch} {
		require.Equal(t, noWatcher, c.call(embedded.OpCheckWatches, "/a", which).code)
		require.Equal(t, noWatcher, c.call(embedded.OpRemoveWatches, "/a", which).code)
	}
	c.call(embedded.OpGetData, "/a", true).must()
	c.call(embedded.OpAddWatch, "/a", recursiveWatch).must()
	for range 2 { // one event for all three, and the two that last stay
		c.send(embedded.OpSetData, "/a", []byte("y"), anyVersion)
		require.Equal(t, "changed /a", c.event())
		c.reply().must()
	}
	require.Equal(t, noWatcher, c.call(embedded.OpCheckWatches, "/a", dataWatch).code)
	c.call(embedded.OpRemoveWatches, "/a", lastingWatch).must()
	c.send(embedded.OpCreate, createOf("/a/b", plain))
	require.Equal(t, "created /a/b", c.event(), "only the recursive one is left")
	c.reply().must()
}

// Who may not read a node gets no event about it, though the watch was set: a session without permission
// must not depend on being told.
func TestEventsAreWithheldWithoutPermission(t *testing.T) {
	s, _ := frozen(t)
	owner, stranger := openRaw(t, s, 0, time.Minute), openRaw(t, s, 0, time.Minute)
	owner.call(embedded.OpAuth, int32(0), "digest", []byte("u:p"))
	secret := []access{{31, "auth", ""}}
	watch := func(c *rawClient, paths ...string) {
		for _, path := range paths {
			c.call(embedded.OpExists, path, true)
		}
	}
	watch(stranger, "/secret", "/open")
	watch(owner, "/secret")
	owner.send(embedded.OpCreate, "/secret", []byte("x"), secret, plain)
	require.Equal(t, "created /secret", owner.event())
	owner.reply().must()
	owner.create("/open", plain)
	require.Equal(t, "created /open", stranger.event(), "and nothing of the other")

	watch(stranger, "/secret")
	stranger.call(embedded.OpAddWatch, "/", recursiveWatch).must()
	owner.call(embedded.OpSetData, "/secret", []byte("y"), anyVersion).must()
	owner.delete("/secret")
	owner.delete("/open")
	require.Equal(t, "deleted /open", stranger.event())
	stranger.ping()
}
