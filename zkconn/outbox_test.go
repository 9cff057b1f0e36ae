package zkconn

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// counted is a connection that counts its writes and lets each wait for its turn.
type counted struct {
	net.Conn
	writes chan []byte
	result chan error
}

func (c *counted) Write(p []byte) (int, error) {
	c.writes <- append([]byte(nil), p...)
	return len(p), <-c.result
}

func (c *counted) SetWriteDeadline(time.Time) error { return nil }

// Frames that come while a write is under way go out with the next, in one.
func TestOutboxCoalesces(t *testing.T) {
	c := &counted{writes: make(chan []byte), result: make(chan error)}
	o := newOutbox(c, func(err error) { t.Error(err) })
	defer o.close()
	require.NoError(t, o.put([]byte("a"), time.Time{}))
	require.Equal(t, "a", string(<-c.writes))
	for _, frame := range []string{"b", "c", "d"} {
		require.NoError(t, o.put([]byte(frame), time.Time{}))
	}
	c.result <- nil
	require.Equal(t, "bcd", string(<-c.writes))
	c.result <- nil
	require.NoError(t, o.put([]byte("e"), time.Time{}))
	require.Equal(t, "e", string(<-c.writes))
	c.result <- nil
}

func TestOutboxTellsTheFirstFailure(t *testing.T) {
	c := &counted{writes: make(chan []byte), result: make(chan error)}
	failures := make(chan error, 2)
	o := newOutbox(c, func(err error) { failures <- err })
	require.NoError(t, o.put([]byte("a"), time.Time{}))
	<-c.writes
	require.NoError(t, o.put([]byte("b"), time.Time{}))
	broken := errors.New("broken")
	c.result <- broken
	require.Equal(t, broken, <-failures)
	require.ErrorIs(t, o.put([]byte("c"), time.Time{}), os.ErrClosed)
	require.Empty(t, failures)
}

// A server that does not read: whoever sends waits, and is let go when the connection is closed.
func TestOutboxIsBounded(t *testing.T) {
	c := &counted{writes: make(chan []byte), result: make(chan error)}
	o := newOutbox(c, func(error) {})
	require.NoError(t, o.put([]byte("a"), time.Time{}))
	<-c.writes
	require.NoError(t, o.put(make([]byte, maxWaiting+1), time.Time{}))
	waited := make(chan error)
	go func() { waited <- o.put([]byte("b"), time.Time{}) }()
	select {
	case err := <-waited:
		t.Fatal("there was no room: ", err)
	case <-time.After(20 * time.Millisecond):
	}
	o.close()
	require.ErrorIs(t, <-waited, os.ErrClosed)
	c.result <- nil
}

// The deadline that was set for a frame ends a write to a server that does not read, though the library has lifted it
// long before.
func TestTransportKeepsWriteDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, server, seen := pipeTransport(t, &epochGuard{})
		send(t, server, frameOf(connectReplyBody(0x55, 4000)))
		_, err := io.ReadFull(tr, make([]byte, 4))
		require.NoError(t, err)
		began := time.Now()
		require.NoError(t, tr.SetWriteDeadline(began.Add(time.Second)))
		tr.requested = true
		_, err = tr.Write(frameOf(make([]byte, 8)))
		require.NoError(t, err)
		require.NoError(t, tr.SetWriteDeadline(time.Time{}))
		_, err = io.Copy(io.Discard, tr)
		require.Error(t, err, "the connection is closed when the write has failed")
		require.Equal(t, time.Second, time.Since(began))
		require.Len(t, seen.causes, 1)
		require.ErrorIs(t, seen.causes[0], os.ErrDeadlineExceeded)
	})
}
