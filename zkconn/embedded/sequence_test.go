package embedded_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// atTheEnd is a client and a node whose children's numbers are about to run out.
func atTheEnd(t *testing.T, next int32) *rawClient {
	t.Helper()
	s, _ := frozen(t, threeReplicas...)
	c := openRaw(t, s, followers(s)[0], time.Minute)
	c.create("/p", plain)
	s.SetCounter("/p", next)
	return c
}

// One by one the counter sticks at its greatest value, for a replica never lowers it: the next
// create asks for the same name again and is refused, and the client must find out why.
func TestSequenceSticksAtItsEnd(t *testing.T) {
	c := atTheEnd(t, math.MaxInt32-1)
	require.Equal(t, "/p/n-2147483646", c.create("/p/n-", sequential))
	require.Equal(t, "/p/n-2147483647", c.create("/p/n-", sequential))
	pzxid := c.stat("/p").pzxid
	for range 3 {
		require.Equal(t, nodeExists, c.call(embedded.OpCreate, createOf("/p/n-", sequential)).code)
	}
	require.Equal(t, "/p/other-2147483647", c.create("/p/other-", sequential), "another name has the same number")
	c.create("/p/plain", plain)
	require.Equal(t, int32(4), c.stat("/p").children)
	require.Equal(t, int32(-6), c.stat("/p").cversion, "twice the counter less the children, in 32 bits")
	require.Equal(t, pzxid, c.stat("/p").pzxid, "it is only set together with the counter")
}

// When the last node is deleted its number is given out again, so two contenders may have had the
// same: therefore a lock stops long before.
func TestSequenceRepeatsAtItsEnd(t *testing.T) {
	c := atTheEnd(t, math.MaxInt32)
	for range 3 {
		path := c.create("/p/n-", ephemeral|sequential)
		require.Equal(t, "/p/n-2147483647", path)
		c.delete(path)
	}
}

// Within one multi the counter runs over to the least number there is, because the parts see what those
// before them will have done. The tree keeps the greatest number, so the next multi begins there again.
func TestSequenceRunsOverInAMulti(t *testing.T) {
	c := atTheEnd(t, math.MaxInt32-1)
	multi := func(prefix string) (paths []string) {
		part := partOf(embedded.OpCreate, createOf(prefix, sequential))
		r := c.call(embedded.OpMulti, multiOf(part, part, part, part)).must()
		for range 4 {
			require.Equal(t, int32(embedded.OpCreate), r.int32())
			require.False(t, r.bool())
			require.Equal(t, ok, r.int32())
			paths = append(paths, r.text())
		}
		return paths
	}
	require.Equal(t, []string{"/p/n-2147483646", "/p/n-2147483647", "/p/n--2147483648", "/p/n--2147483647"}, multi("/p/n-"))
	require.Equal(t, []string{"/p/m-2147483647", "/p/m--2147483648", "/p/m--2147483647", "/p/m--2147483646"}, multi("/p/m-"))
	require.Equal(t, nodeExists, c.call(embedded.OpCreate, createOf("/p/n-", sequential)).code)
	require.Equal(t, int32(8), c.stat("/p").children)
}

// A multi that asks for a name that is taken fails as a whole, at the part that asks.
func TestSequenceEndFailsAMulti(t *testing.T) {
	c := atTheEnd(t, math.MaxInt32)
	c.create("/p/n-", sequential)
	r := c.call(embedded.OpMulti, multiOf(
		partOf(embedded.OpCreate, createOf("/q", plain)),
		partOf(embedded.OpCreate, createOf("/p/n-", sequential)),
		partOf(embedded.OpCreate, createOf("/r", plain)))).must()
	for _, want := range []int32{ok, nodeExists, inconsistent} {
		require.Equal(t, int32(-1), r.int32())
		require.False(t, r.bool())
		require.Equal(t, want, r.int32())
		require.Equal(t, want, r.int32())
	}
	require.False(t, c.exists("/q"))
}
