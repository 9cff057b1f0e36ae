package zkconn

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"syscall"
)

// fail tells the first cause and closes the connection.
func (t *transport) fail(doing string, cause error) error {
	switch {
	case t.established.Load() || !t.requested:
	case t.replied:
		doing = "handshake"
	case hungUp(cause):
		doing, cause = "handshake", fmt.Errorf("the server hung up in place of an answer (%s): %w", t.whyHungUp(), cause)
	}
	err := fmt.Errorf("connection to %s: %s: %w", t.server, doing, cause)
	t.failure.Do(func() { t.observer.failed(t, err) })
	_ = t.Close()
	return err
}

func hungUp(cause error) bool {
	return errors.Is(cause, io.EOF) || errors.Is(cause, syscall.ECONNRESET) || errors.Is(cause, syscall.EPIPE)
}

// whyHungUp names what servers say no more to than that: people look for the cause in vain otherwise.
func (t *transport) whyHungUp() string {
	if _, secured := t.Conn.(*tls.Conn); secured {
		return "it may have no quorum, or too many connections"
	}
	return "it may have no quorum, or too many connections, or expect TLS"
}
