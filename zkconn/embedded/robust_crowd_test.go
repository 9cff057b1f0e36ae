package embedded_test

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// badManners are clients that hold a connection and are no use.
var badManners = []func(t *testing.T, stream net.Conn){
	func(*testing.T, net.Conn) {}, // says nothing
	func(t *testing.T, stream net.Conn) { // stops in the middle of its handshake
		_, err := stream.Write(frames(handshake())[:30])
		require.NoError(t, err)
	},
	func(t *testing.T, stream net.Conn) { // stops in the middle of a request
		_, err := stream.Write(append(frames(handshake()), 0, 0, 0, 99, 1, 2, 3))
		require.NoError(t, err)
		readGreeting(t, stream)
	},
	func(t *testing.T, stream net.Conn) { // reads no reply and no event
		all := frames(handshake(), frameOf(1, embedded.OpAddWatch, "/", recursiveWatch))
		for xid := range int32(20) {
			all = append(all, frames(frameOf(2+xid, embedded.OpGetData, "/filler", false))...)
		}
		_, err := stream.Write(all)
		require.NoError(t, err)
	},
}

// TestCrowd has a thousand connections, a third of them of the kinds above, and the others go about their
// work meanwhile. When the server is closed nothing is left of any.
func TestCrowd(t *testing.T) {
	const size = 1000
	s := embedded.Run(t, untimed()) // no connection is closed for silence while the others are made
	first := bystander(t, s)
	first.call(embedded.OpCreate, "/filler", make([]byte, 10_000), openACL, plain).must()
	var streams []net.Conn
	var ordinary []*rawClient
	for i := range size {
		dial := overPipe
		if i%10 == 0 {
			dial = overTCP
		}
		stream := dial(t, s)
		streams = append(streams, stream)
		if i%3 == 0 {
			badManners[i/3%len(badManners)](t, stream)
			continue
		}
		ordinary = append(ordinary, newRaw(t, stream))
	}
	require.Len(t, ordinary, size-(size+2)/3)

	var working sync.WaitGroup
	for i, c := range ordinary {
		working.Go(func() { work(c, fmt.Sprintf("/of-%d", i)) })
	}
	working.Wait()
	unharmed(t, first)
	require.Equal(t, fmt.Sprint(1+size+1), mntr(t, s)["zk_num_alive_connections"])

	s.Close()
	for _, c := range ordinary {
		c.closed()
	}
	for _, stream := range streams {
		_, err := stream.Write([]byte("?"))
		if err == nil { // the network takes a byte more
			require.NoError(t, stream.SetReadDeadline(time.Now().Add(patience)))
			awaitEnd(t, stream)
		}
	}
}

// work does an ordinary client's work: make a node, have it watched, and see it go.
func work(c *rawClient, path string) {
	if !c.open(patience) {
		c.t.Error("no session")
		return
	}
	c.create(path, ephemeral)
	c.call(embedded.OpGetData, path, true).must()
	c.send(embedded.OpDelete, path, anyVersion)
	if c.event() != "deleted "+path || c.reply().code != ok {
		c.t.Error("no event before the reply")
	}
}
