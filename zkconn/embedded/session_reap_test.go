package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A container goes at the first look after its last child went: not before it had one, and not while it
// has one. Lock paths are such containers, so a lock has to expect it at any time.
func TestContainerIsReapedAfterItsLastChild(t *testing.T) {
	s, clock := frozen(t, embedded.WithReapInterval(10*time.Second))
	c := openRaw(t, s, 0, time.Minute)
	wait := func(d time.Duration) {
		clock.Advance(d)
		c.ping()
	}
	c.createContainer("/locks")
	require.Zero(t, c.stat("/locks").owner, "what clients see of a container is no owner")
	wait(25 * time.Second)
	require.True(t, c.exists("/locks"), "it never had a child")

	first := c.create("/locks/n-", sequential)
	second := c.create("/locks/n-", sequential)
	require.Equal(t, []string{"/locks/n-0000000000", "/locks/n-0000000001"}, []string{first, second})
	c.delete(first)
	wait(20 * time.Second)
	require.True(t, c.exists("/locks"), "it has a child")

	c.delete(second)
	c.call(embedded.OpExists, "/locks", true).must()
	before := c.call(embedded.OpPing).zxid
	wait(4900 * time.Millisecond)
	require.True(t, c.exists("/locks"), "nobody has looked yet")
	clock.Advance(100 * time.Millisecond)
	require.Equal(t, "deleted /locks", c.event())
	require.Equal(t, before+1, c.call(embedded.OpPing).zxid)
	require.False(t, c.exists("/locks"))

	c.createContainer("/locks")
	require.Equal(t, "/locks/n-0000000000", c.create("/locks/n-", sequential), "a new parent counts from the beginning")
}

// A container inside a container goes one look after the inner one, for its last child went only then.
func TestNestedContainersAreReaped(t *testing.T) {
	s, clock := frozen(t, embedded.WithReapInterval(10*time.Second))
	c := openRaw(t, s, 0, time.Minute)
	c.createContainer("/a")
	c.createContainer("/a/b")
	c.delete(c.create("/a/b/c", plain))
	clock.Advance(10 * time.Second)
	require.False(t, c.exists("/a/b"))
	require.True(t, c.exists("/a"), "it had a child when it was looked at")
	clock.Advance(10 * time.Second)
	require.False(t, c.exists("/a"))
}

// Containers are looked at as often as was asked for, also where a tick is longer.
func TestContainersAreReapedBetweenTicks(t *testing.T) {
	s, clock := frozen(t, embedded.WithTick(time.Second), embedded.WithReapInterval(10*time.Millisecond))
	c := openRaw(t, s, 0, time.Minute)
	for range 3 {
		c.createContainer("/a")
		c.delete(c.create("/a/b", plain))
		clock.Advance(9 * time.Millisecond)
		require.True(t, c.exists("/a"))
		clock.Advance(1 * time.Millisecond)
		require.False(t, c.exists("/a"))
	}
}

// A node with a time to live goes when it has neither been changed nor had children for longer than that.
func TestTTLNodeIsReaped(t *testing.T) {
	s, clock := frozen(t, embedded.WithReapInterval(time.Second))
	c := openRaw(t, s, 0, time.Minute)
	create := func(path string) {
		c.call(embedded.OpCreateTTL, createOf(path, timed), int64(5000)).must()
	}
	create("/idle")
	create("/changed")
	create("/parent")
	c.create("/parent/child", plain)
	require.Zero(t, c.stat("/idle").owner)
	clock.Advance(3 * time.Second)
	c.call(embedded.OpSetData, "/changed", []byte("y"), anyVersion).must()
	clock.Advance(2 * time.Second)
	require.True(t, c.exists("/idle"), "its time must be over, not just up")
	clock.Advance(time.Second)
	require.False(t, c.exists("/idle"))
	require.True(t, c.exists("/changed"), "a change gives it its full time")
	clock.Advance(3 * time.Second)
	require.False(t, c.exists("/changed"))
	require.True(t, c.exists("/parent"), "it has a child")
	c.delete("/parent/child")
	clock.Advance(time.Second)
	require.False(t, c.exists("/parent"), "its own time was over long ago")
}

// By default a server looks once a minute, as ZooKeeper does.
func TestReapIntervalByDefault(t *testing.T) {
	s, clock := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	c.createContainer("/c")
	c.delete(c.create("/c/x", plain))
	clock.Advance(59900 * time.Millisecond)
	require.True(t, c.exists("/c"))
	clock.Advance(100 * time.Millisecond)
	require.False(t, c.exists("/c"))
}
