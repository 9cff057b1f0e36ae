package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// watchLists is the request with which a client sets its watches again after a reconnect.
type watchLists struct{ data, exist, child, persistent, recursive []string }

func (r watchLists) fields(since int64) []any {
	return []any{since, list(r.data), list(r.exist), list(r.child), list(r.persistent), list(r.recursive)}
}

// list is never null, which would be an error.
func list(paths []string) []string { return append([]string{}, paths...) }

// A client that comes back gets one event for each watch whose node has changed since the zxid that it has
// seen last, before the reply; the other watches are set again, and fire later.
func TestSetWatchesCatchesUp(t *testing.T) {
	for name, test := range map[string]struct {
		watch watchLists
		meant []func(c *rawClient) // what happened while the client was away
		event string               // the one that it has missed
		later func(c *rawClient)   // when it has missed none: what is told later
		tells string
	}{
		"data, unchanged": {watchLists{data: []string{"/a"}}, nil, "",
			func(c *rawClient) { c.set("/a") }, "changed /a"},
		"data, changed": {watchLists{data: []string{"/a"}}, steps(func(c *rawClient) { c.set("/a") }), "changed /a",
			func(c *rawClient) { c.set("/a") }, ""},
		"data, deleted": {watchLists{data: []string{"/a"}}, steps(func(c *rawClient) { c.delete("/a") }), "deleted /a",
			func(c *rawClient) { c.create("/a", plain) }, ""},
		"data, children only": {watchLists{data: []string{"/a"}}, steps(func(c *rawClient) { c.create("/a/b", plain) }), "",
			func(c *rawClient) { c.set("/a") }, "changed /a"},
		"exist, still missing": {watchLists{exist: []string{"/no"}}, nil, "",
			func(c *rawClient) { c.create("/no", plain) }, "created /no"},
		"exist, created": {watchLists{exist: []string{"/no"}}, steps(func(c *rawClient) { c.create("/no", plain) }), "created /no",
			func(c *rawClient) { c.delete("/no") }, ""},
		"child, unchanged": {watchLists{child: []string{"/a"}}, steps(func(c *rawClient) { c.set("/a") }), "",
			func(c *rawClient) { c.create("/a/b", plain) }, "children /a"},
		"child, changed": {watchLists{child: []string{"/a"}}, steps(func(c *rawClient) { c.create("/a/b", plain) }), "children /a",
			func(c *rawClient) { c.delete("/a/b") }, ""},
		"child, deleted": {watchLists{child: []string{"/a"}}, steps(func(c *rawClient) { c.delete("/a") }), "deleted /a",
			func(c *rawClient) { c.create("/a", plain) }, ""},
		"persistent, missed": {watchLists{persistent: []string{"/a"}}, steps(func(c *rawClient) { c.set("/a") }), "",
			func(c *rawClient) { c.create("/a/b", plain) }, "children /a"},
		"recursive, missed": {watchLists{recursive: []string{"/"}}, steps(func(c *rawClient) { c.set("/a") }), "",
			func(c *rawClient) { c.create("/a/b", plain) }, "created /a/b"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := frozen(t, threeReplicas...)
			old, writer := openRaw(t, s, 0, time.Minute), openRaw(t, s, 1, time.Minute)
			writer.create("/a", plain)
			since := old.call(embedded.OpPing).zxid
			old.leave()
			for _, step := range test.meant {
				step(writer)
			}
			back := dialRaw(t, s, 2)
			require.True(t, back.resume(old))
			back.send(embedded.OpSetWatches2, test.watch.fields(since)...)
			if test.event != "" {
				require.Equal(t, test.event, back.event())
			}
			require.Equal(t, back.xid, back.reply().must().xid)
			test.later(writer)
			if test.tells != "" {
				require.Equal(t, test.tells, back.event())
			}
			back.ping()
		})
	}
}

func steps(all ...func(*rawClient)) []func(*rawClient) { return all }

// set changes a node's data.
func (c *rawClient) set(path string) {
	c.t.Helper()
	c.call(embedded.OpSetData, path, []byte("y"), anyVersion).must()
}

// The older form has three lists. A node that was deleted and made again looks changed, for nobody can tell
// that the one that was watched is gone.
func TestSetWatchesInTheOldForm(t *testing.T) {
	s, _ := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	c.create("/a", plain)
	since := c.call(embedded.OpPing).zxid
	c.delete("/a")
	c.create("/a", plain)
	c.send(embedded.OpSetWatches, since, []string{"/a", "/"}, []string{"/no"}, []string{"/a"})
	require.Equal(t, "changed /a", c.event())
	require.Equal(t, "children /a", c.event())
	c.reply().must()
	require.Equal(t, 2, monitored(t, s, 0, "watch_count"))
}

// The watches of a connection go with it, however it ends: no server may gather watches of the dead.
func TestWatchesGoWithTheirConnection(t *testing.T) {
	for name, end := range map[string]func(s *embedded.Server, c *rawClient){
		"left by the client":  func(s *embedded.Server, c *rawClient) { c.leave() },
		"session closed":      func(s *embedded.Server, c *rawClient) { c.call(embedded.OpCloseSession).must() },
		"session expired":     func(s *embedded.Server, c *rawClient) { _ = s.Expire(c.session) },
		"dropped":             func(s *embedded.Server, c *rawClient) { s.Replica(0).DropClients() },
		"replaced by another": func(s *embedded.Server, c *rawClient) { dialRaw(c.t, s, 0).resume(c) },
		"not understood":      func(s *embedded.Server, c *rawClient) { c.send(embedded.Op(99)) },
		"stopped": func(s *embedded.Server, c *rawClient) {
			s.Replica(0).Stop()
			_ = s.Replica(0).Start()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := frozen(t)
			c := openRaw(t, s, 0, time.Minute)
			for _, path := range []string{"/", "/a", "/b"} {
				c.call(embedded.OpExists, path, true)
			}
			c.call(embedded.OpGetChildren, "/", true).must()
			c.call(embedded.OpAddWatch, "/zookeeper", recursiveWatch).must()
			require.Equal(t, 5, monitored(t, s, 0, "watch_count"))
			end(s, c)
			until(t, func() bool { return monitored(t, s, 0, "watch_count") == 0 })
			writer := openRaw(t, s, 0, time.Minute)
			writer.create("/a", plain) // nobody is there to be told
		})
	}
}
