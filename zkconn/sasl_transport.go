package zkconn

import (
	"bytes"
	"time"
)

// brokenExchanges are SASL exchanges that came to nothing, one after the other. It belongs to the goroutine that
// connects.
type brokenExchanges struct {
	since  time.Time // zero: the last one succeeded
	expiry expiry
}

// expiry is how far the servers have come with ending a session whose client is not let in.
type expiry int

const (
	// touched: a connect request has gone out since the last wait, which lets the session live for its timeout.
	touched expiry = iota
	// awaited: none has since, so that the session has expired.
	awaited
)

func (b *brokenExchanges) another(now time.Time) {
	if b.since.IsZero() {
		b.since = now
	}
}

// connecting notes that a connect request goes out. It may be nil, where there is no SASL.
func (b *brokenExchanges) connecting() {
	if b != nil {
		b.expiry = touched
	}
}

// letExpire waits until the servers have ended the session, where no exchange has succeeded for a session timeout,
// and the lease is over: once, until another connect request has gone out. Each connect request lets a session live
// for longer, so that one whose client is not let in would keep its locks for as long as that tries.
func (c *Conn) letExpire() error {
	timeout := c.SessionTimeout()
	broken := &c.broken
	if broken.since.IsZero() || broken.expiry == awaited || c.SessionID() == 0 || c.lease.clock.Valid() ||
		time.Since(broken.since) < timeout {
		return nil
	}
	wait := time.NewTimer(expiresWithin(timeout))
	defer wait.Stop()
	select {
	case <-wait.C:
		broken.expiry = awaited
		return nil
	case <-c.dialing.Done():
		return ErrClosed
	}
}

// expiresWithin gives how long a session lasts that no server hears of: for its timeout from the last connect request,
// rounded up to a tick, which is half of it at most.
func expiresWithin(timeout time.Duration) time.Duration { return timeout + timeout/2 }

// authenticate makes the SASL exchange, with the session that the connect reply grants: servers know one connection
// of it by now. A session that is new is noted only when the exchange has succeeded. Otherwise the library would
// not know it: it asks for another one at the next connection, and this one, in which nothing was done, expires.
func (t *transport) authenticate(connectReply []byte) error {
	t.held = bytes.Clone(connectReply)
	if _, err := t.reader.Discard(len(connectReply)); err != nil {
		return err
	}
	if err := t.Conn.SetDeadline(time.Now().Add(t.patience())); err != nil {
		return err
	}
	if err := t.sasl.run(t.Conn, t.reader); err != nil {
		t.broken.another(time.Now())
		return err
	}
	t.sasl, t.broken.since = nil, time.Time{}
	return t.Conn.SetDeadline(time.Time{})
}
