package zkconn

import (
	"bytes"
	"encoding/binary"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/require"
)

func number(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

// malformed are replies that no server may send. Each ends the connection, with an error that names what was wrong, before the library
// sees it: it would panic on its own goroutine, or allocate what a count says.
var malformed = map[string]struct {
	ask   func(c *Conn) error
	reply fakeReply
	named string
}{
	"multi of four bytes":       {heartbeat, fakeReply{body: number(1)}, "multi"},
	"multi without an end":      {heartbeat, fakeReply{body: multiPart(opCheck, 0, nil)}, "multi"},
	"multi of unknown parts":    {heartbeat, fakeReply{body: concat(multiPart(99, 0, nil), multiEnd())}, "99"},
	"multi of too many parts":   {heartbeat, fakeReply{body: concat(bytes.Repeat(multiPart(opCheck, 0, nil), 1000), multiEnd())}, "multi"},
	"multi, a stat cut short":   {heartbeat, fakeReply{body: concat(multiPart(opSetData, 0, make([]byte, 60)))}, "multi"},
	"children beyond the frame": {list, fakeReply{body: concat(number(0xffffffff), make([]byte, 16))}, "children"},
	"children without names":    {list, fakeReply{body: concat(number(1000), make([]byte, 4000), statBody(1, 1, 1))}, "children"},
	"children without a stat":   {list, fakeReply{body: concat(number(1), text("a"))}, "children"},
	"data beyond the frame":     {get, fakeReply{body: concat(number(0x7fffffff), make([]byte, 100))}, "data"},
	"data of negative length":   {get, fakeReply{body: concat(number(0xfffffffe), make([]byte, 100))}, "data"},
	"exists, a short stat":      {exists, fakeReply{body: make([]byte, 67)}, "exists"},
	"create, no path":           {create, fakeReply{body: []byte{}}, "create"},
	"create, a negative length": {create, fakeReply{body: number(0xffffffff)}, "create"},
	"set, a short stat":         {set, fakeReply{body: make([]byte, 4)}, "set"},
	"sync, no path":             {syncs, fakeReply{body: []byte{0, 0}}, "sync"},
	"an event beyond the frame": {syncs, fakeReply{event: concat(number(1), number(3), number(100)), body: text("/a")}, "event"},
	"an xid of nobody's":        {syncs, fakeReply{xid: 12345, body: text("/a")}, "12345"},
	"a negative xid":            {syncs, fakeReply{xid: -7, body: text("/a")}, "-7"},
}

func heartbeat(c *Conn) error { return c.Heartbeat("/a") }
func list(c *Conn) error      { _, err := c.Children("/a"); return err }
func get(c *Conn) error       { _, _, err := c.Get("/a"); return err }
func exists(c *Conn) error    { _, _, err := c.Exists("/a"); return err }
func set(c *Conn) error       { return c.SetData("/a", nil) }
func syncs(c *Conn) error     { return c.Sync("/a") }
func create(c *Conn) error    { return c.EnsureParents("/a") }

func TestMalformedReplies(t *testing.T) {
	for name, one := range malformed {
		t.Run(name, func(t *testing.T) {
			s := newFakeServer(t)
			s.handle = func(fakeRequest) fakeReply { return one.reply }
			c, events := dialFake(t, s, "zk1:2181")
			expect(t, events, Connected)
			before := allocated()
			err := one.ask(c)
			require.ErrorIs(t, err, ErrUnknownOutcome)
			lost := expect(t, events, Disconnected)
			require.ErrorContains(t, lost.Err, "zk1:2181")
			require.ErrorContains(t, lost.Err, one.named)
			require.Less(t, allocated()-before, uint64(8<<20), "bytes, for a frame of at most 10 KB")
		})
	}
}

// allocated gives the bytes that this process has ever allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
