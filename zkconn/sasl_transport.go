package zkconn

import (
	"bytes"
	"time"
)

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
		return err
	}
	t.sasl = nil
	return t.Conn.SetDeadline(time.Time{})
}
