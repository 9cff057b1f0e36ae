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

func anyPatience() time.Duration { return time.Minute }

// busyOutbox gives an outbox that has just been used, so that it does not write at once.
func busyOutbox(c net.Conn, failed func(error)) *outbox {
	o := newOutbox(c, anyPatience, failed)
	o.last = time.Now().Add(time.Hour)
	return o
}

// busily puts in a frame that comes right behind another.
func (o *outbox) busily(frame []byte) error {
	err := o.put(frame)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = time.Now().Add(time.Hour)
	return err
}

// idles makes it one that nothing has been put into for long.
func (o *outbox) idles() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = time.Time{}
}

// Frames that come while a write is under way go out with the next, in one.
func TestOutboxCoalesces(t *testing.T) {
	c := &counted{writes: make(chan []byte), result: make(chan error)}
	o := busyOutbox(c, func(err error) { t.Error(err) })
	defer o.close()
	require.NoError(t, o.busily([]byte("a")))
	require.Equal(t, "a", string(<-c.writes))
	for _, frame := range []string{"b", "c", "d"} {
		require.NoError(t, o.busily([]byte(frame)))
	}
	c.result <- nil
	require.Equal(t, "bcd", string(<-c.writes))
	c.result <- nil
	require.NoError(t, o.busily([]byte("e")))
	require.Equal(t, "e", string(<-c.writes))
	c.result <- nil
}

func TestOutboxTellsTheFirstFailure(t *testing.T) {
	c := &counted{writes: make(chan []byte), result: make(chan error)}
	failures := make(chan error, 2)
	o := busyOutbox(c, func(err error) { failures <- err })
	require.NoError(t, o.busily([]byte("a")))
	<-c.writes
	require.NoError(t, o.busily([]byte("b")))
	broken := errors.New("broken")
	c.result <- broken
	require.Equal(t, broken, <-failures)
	require.ErrorIs(t, o.busily([]byte("c")), os.ErrClosed)
	require.Empty(t, failures)
}

// A server that does not read: senders wait, and are let go when the connection is closed.
func TestOutboxIsBounded(t *testing.T) {
	c := &counted{writes: make(chan []byte), result: make(chan error)}
	o := busyOutbox(c, func(error) {})
	require.NoError(t, o.busily([]byte("a")))
	<-c.writes
	require.NoError(t, o.busily(make([]byte, maxWaiting+1)))
	waited := make(chan error)
	go func() { waited <- o.busily([]byte("b")) }()
	select {
	case err := <-waited:
		t.Fatal("there was no room: ", err)
	case <-time.After(20 * time.Millisecond):
	}
	o.close()
	require.ErrorIs(t, <-waited, os.ErrClosed)
	c.result <- nil
}

// An idle outbox writes at once; what comes meanwhile goes behind.
func TestIdleOutboxWritesAtOnce(t *testing.T) {
	c := &counted{writes: make(chan []byte), result: make(chan error)}
	failures := make(chan error, 2)
	o := newOutbox(c, anyPatience, func(err error) { failures <- err })
	put := make(chan error, 2)
	go func() { put <- o.put([]byte("a")) }()
	require.Equal(t, "a", string(<-c.writes))
	require.Empty(t, put, "it has not returned yet")
	o.idles() // even when the write under way takes longer than that
	require.NoError(t, o.put([]byte("b")))
	c.result <- nil
	require.NoError(t, <-put)
	require.Equal(t, "b", string(<-c.writes))
	c.result <- nil

	synced := func() bool { o.mu.Lock(); defer o.mu.Unlock(); return !o.sending }
	require.Eventually(t, synced, time.Minute, time.Millisecond)
	o.idles()
	broken := errors.New("broken")
	go func() { put <- o.put([]byte("c")) }()
	require.Equal(t, "c", string(<-c.writes))
	c.result <- broken
	require.NoError(t, <-put)
	require.Equal(t, broken, <-failures)
	require.ErrorIs(t, o.put([]byte("d")), os.ErrClosed)
}

// Two thirds of the session timeout end a write to a server that does not read, though the library has lifted its deadline long
// before.
func TestTransportKeepsWriteDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, server, seen := pipeTransport(t, &epochGuard{})
		send(t, server, frameOf(connectReplyBody(0x55, 4000)))
		_, err := io.ReadFull(tr, make([]byte, 4))
		require.NoError(t, err)
		began := time.Now()
		tr.requested = true
		_, err = tr.Write(frameOf(make([]byte, 8)))
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, tr)
		require.Error(t, err, "the connection is closed when the write has failed")
		require.Equal(t, 4*time.Second*2/3, time.Since(began))
		require.Len(t, seen.causes, 1)
		require.ErrorIs(t, seen.causes[0], os.ErrDeadlineExceeded)
	})
}
