package zkconn

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// script is what a hostile server does, read out of an input.
type script struct {
	rest    []byte
	largest int // frame so far
}

// next takes a byte, and as many bytes as two more say. some is false at the end of the input.
func (s *script) next() (kind byte, bytes []byte, some bool) {
	if len(s.rest) < 3 {
		return 0, nil, false
	}
	kind, length := s.rest[0], int(binary.BigEndian.Uint16(s.rest[1:]))
	s.rest = s.rest[3:]
	length = min(length, len(s.rest))
	bytes, s.rest = s.rest[:length], s.rest[length:]
	return kind, bytes, true
}

// serve answers a client's requests until the script or the connection ends.
func (s *script) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	for {
		asked, err := readFrame(conn)
		if err != nil {
			return
		}
		kind, said, some := s.next()
		if !some {
			return
		}
		xid := int32(binary.BigEndian.Uint32(asked))
		var answer []byte
		switch kind % 8 {
		case 0, 1, 2:
			answer = frameOf(append(replyHeader(xid, 0), said...))
		case 3:
			answer = frameOf(append(replyHeader(xid, -int32(kind)), said...))
		case 4:
			answer = frameOf(append(replyHeader(xidEvent, 0), said...))
		case 5:
			answer = frameOf(said)
		case 6:
			answer = said
		case 7:
			answer = frameOf(concat(replyHeader(xid, 0), number(uint32(kind)), make([]byte, int(kind)<<10), said)) // does not fit the reader
		}
		s.largest = max(s.largest, len(answer))
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
}

var questions = []func(*Conn) error{
	exists, get, list, set, create, syncs, heartbeat,
	func(c *Conn) error { _, err := c.ChildrenWatched("/a"); return err },
	func(c *Conn) error { return c.Delete("/a") },
	func(c *Conn) error {
		_, err := c.Commit([]NewNode{{Parent: "/a", Prefix: "b-"}}, []string{"/a/c"}, nil, nil)
		return err
	},
	func(c *Conn) error {
		_, _, err := c.Txn(Guard{}, []Op{{Kind: OpSet, Path: "/a", Version: -1}, {Kind: OpCheck, Path: "/b", Version: -1}})
		return err
	},
}

// FuzzReplies has a server say anything to a client: to its connect request where first is odd, and to what it asks. Nothing
// panics, and no more memory is used than the frames that came allow.
func FuzzReplies(f *testing.F) {
	said := func(kind byte, body []byte) []byte {
		return append(binary.BigEndian.AppendUint16([]byte{kind}, uint16(len(body))), body...)
	}
	f.Add(byte(1), said(5, connectReplyBody(7, 4000)))
	f.Add(byte(1), said(5, concat(make([]byte, 16), number(0x7fffffff), make([]byte, 16))))
	f.Add(byte(1), said(6, number(maxFrame)))
	for i := range questions {
		for _, one := range malformed {
			f.Add(byte(2*i), concat(said(4, one.reply.event), said(0, one.reply.body)))
		}
		for _, body := range [][]byte{
			concat(number(1), text("a"), statBody(1, 2, 3)), concat(text("/a"), statBody(1, 2, 3)), statBody(1, 2, 3), text("/a/b-0000000001"),
			concat(multiPart(opCheck, 0, nil), multiEnd()), concat(multiPart(opCreate, 0, text("/a/b-0000000001")), multiPart(opDelete, 0, nil), multiEnd()),
			concat(multiPart(typeOfError, 0, number(0)), multiPart(typeOfError, -101, number(0xffffff9b)), multiEnd()),
		} {
			f.Add(byte(2*i), concat(said(0, body), said(4, concat(number(1), number(3), text("/a"))), said(0, body), said(7, body)))
			f.Add(byte(2*i), concat(said(6, number(1<<20)), said(3, body)))
		}
	}
	f.Fuzz(func(t *testing.T, first byte, input []byte) {
		before := allocated()
		server := &script{rest: input}
		if first%2 == 0 {
			server.rest = concat(said(5, connectReplyBody(7, 4000)), input)
		}
		synctest.Test(t, func(t *testing.T) { server.meet(t, int(first)/2) }) // the library sleeps for a second at times
		require.Less(t, allocated()-before, uint64(32<<20+4*server.largest), "bytes, for a frame of %d", server.largest)
	})
}

// meet has a client connect once, and ask its questions from the first one on.
func (s *script) meet(t *testing.T, first int) {
	client, server := net.Pipe()
	dialed := false
	cfg, err := NewConfig("zk1", WithSessionTimeout(4*time.Second), WithDialer(func(context.Context, string, string) (net.Conn, error) {
		if dialed {
			return nil, errors.New("once is enough")
		}
		dialed = true
		return client, nil
	}))
	require.NoError(t, err)
	c, err := Dial(cfg, 1, func(Event) {})
	require.NoError(t, err)
	var both sync.WaitGroup
	both.Go(func() {
		s.serve(server)
		_ = c.Abandon() // which ends all that is asked
	})
	both.Go(func() {
		for i := range questions {
			_ = questions[(first+i)%len(questions)](c)
		}
		_ = client.Close()
	})
	both.Wait()
}
