package embedded_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// flood sends many requests in one piece, and reads nothing before all of them have gone. Every one is
// answered, in their order, and creates find the numbers that their order gives.
func flood(t testing.TB, stream net.Conn, parent string, requests int) {
	all := frames(handshake(), frameOf(1, embedded.OpCreate, createOf(parent, plain)))
	for xid := int32(2); xid <= int32(requests); xid++ {
		switch xid % 4 {
		case 0:
			all = append(all, frames(frameOf(xid, embedded.OpCreate, createOf(parent+"/n-", ephemeral|sequential)))...)
		case 1:
			all = append(all, frames(frameOf(xid, embedded.OpGetData, parent, true))...)
		case 2:
			all = append(all, frames(frameOf(xid, embedded.OpExists, parent+"/none", false))...)
		case 3:
			all = append(all, frames(frameOf(xid, embedded.OpSync, parent))...)
		}
	}
	_, err := stream.Write(all)
	require.NoError(t, err)

	in := bufio.NewReader(stream)
	readGreeting(t, in)
	created := 0
	for xid := int32(1); xid <= int32(requests); xid++ {
		r := readReply(t, in)
		require.Equal(t, xid, r.xid)
		switch {
		case xid%4 == 2:
			require.Equal(t, noNode, r.code)
		case xid > 1 && xid%4 == 0:
			r.must()
			require.Equal(t, fmt.Sprintf("%s/n-%010d", parent, created), r.text())
			created++
		default:
			r.must()
		}
	}
}

// untimed has a server's clock stand still: on a slow machine a flood takes longer than its session lasts, and nothing
// is sent in the meantime.
func untimed() embedded.Option {
	return embedded.WithClock(embedded.NewManualClock(time.Unix(1e9, 0)))
}

func TestPipelinedRequestsAreAnsweredInOrder(t *testing.T) {
	for way, dial := range reaches {
		t.Run(way, func(t *testing.T) {
			s := embedded.Run(t, untimed())
			flood(t, dial(t, s), "/alone", 10_000)
		})
	}
}

func TestPipelinedRequestsOfManyConnections(t *testing.T) {
	s := embedded.Run(t, untimed())
	other := bystander(t, s)
	var floods sync.WaitGroup
	for i := range 16 {
		dial := overTCP
		if i%2 == 0 {
			dial = overPipe
		}
		stream := dial(t, s)
		floods.Go(func() { flood(t, stream, fmt.Sprintf("/from-%d", i), 1000) })
	}
	unharmed(t, other)
	floods.Wait()
	unharmed(t, other)
}

// Replies that are more than the server keeps for one client are not lost: its requests wait.
func TestRepliesBeyondWhatIsKeptWait(t *testing.T) {
	const reads, size = 200, 100_000
	s := embedded.Run(t, embedded.WithMaxUnsent(reads*size/10), untimed())
	other := bystander(t, s)
	other.call(embedded.OpCreate, "/large", make([]byte, size), openACL, plain).must()
	for way, dial := range reaches {
		t.Run(way, func(t *testing.T) {
			stream := dial(t, s)
			all := frames(handshake())
			for xid := range int32(reads) {
				all = append(all, frames(frameOf(xid, embedded.OpGetData, "/large", false))...)
			}
			sent := make(chan error, 1)
			go func() {
				_, err := stream.Write(all)
				sent <- err
			}()
			readGreeting(t, stream)
			unharmed(t, other)
			for xid := range int32(reads) {
				r := readReply(t, stream)
				require.Equal(t, xid, r.xid)
				r.must()
				require.Len(t, r.bytes(), size)
			}
			require.NoError(t, <-sent)
		})
	}
}

// TestClientThatNeverReads watches a node and reads none of its events. Others are not held up, and when
// too much waits for it, its connection is closed.
func TestClientThatNeverReads(t *testing.T) {
	for way, dial := range reaches {
		t.Run(way, func(t *testing.T) {
			s := embedded.Run(t, embedded.WithMaxUnsent(1<<20), untimed())
			other := bystander(t, s)
			path := "/" + strings.Repeat("long-", 40_000) // events are as long as their paths
			other.create(path, plain)
			deaf := dial(t, s)
			_, err := deaf.Write(frames(handshake(), frameOf(1, embedded.OpAddWatch, path, persistentWatch)))
			require.NoError(t, err)
			readGreeting(t, deaf)
			readReply(t, deaf).must()
			const watches = "zk_watch_count" // one is the bystander's
			require.Equal(t, "3", mntr(t, s)[watches])
			for begin := time.Now(); mntr(t, s)[watches] != "1"; {
				require.Less(t, time.Since(begin), patience, "the deaf one still watches")
				for range 10 {
					other.call(embedded.OpSetData, path, []byte{}, anyVersion).must()
				}
			}
			_, _ = io.Copy(io.Discard, deaf) // what the network has kept, and then the end
			unharmed(t, other)
		})
	}
}

// TestRepeatedReadOfALargeNode asks in one short request for more than the server can keep.
func TestRepeatedReadOfALargeNode(t *testing.T) {
	s := embedded.Run(t, embedded.WithMaxUnsent(10_000_000))
	other := bystander(t, s)
	other.call(embedded.OpCreate, "/large", make([]byte, 1_000_000), openACL, plain).must()
	c := openRaw(t, s, 0, patience)
	read := partOf(embedded.OpGetData, "/large", false)
	c.send(embedded.OpMultiRead, multiOf(slices.Repeat([]raw{read}, 30_000)...))
	c.closed()
	unharmed(t, other)
}
