package zkconn

import (
	"net"
	"time"
)

// dial is what the library calls to reach the server that hosts has just handed it. timeout, a second, is the
// library's and is passed over for one that depends on the session timeout. Where it is urgent it may reach another server.
func (c *Conn) dial(network, _ string, _ time.Duration) (net.Conn, error) {
	t, err := c.reach(network)
	if err != nil {
		return nil, c.notReached(c.hosts.currentHost(), err)
	}
	return t, nil
}

func (c *Conn) reach(network string) (*transport, error) {
	if c.guard.over.Load() {
		return nil, errEpochOver
	}
	conn, err := c.connect(network)
	if err != nil {
		return nil, err
	}
	current := c.hosts.currentHost()
	sasl, err := c.cfg.startSASL(c.dialing, current.name, current.address)
	if err != nil {
		_ = closeSocket(conn)
		return nil, err
	}
	patience := func() time.Duration { return c.hosts.urgency.handshake(c.cfg.handshakeTimeout(), len(c.cfg.servers)) }
	t := newTransport(conn, current.label, patience(), &c.guard, &c.watches, c, c.lease)
	t.sasl, t.patience, t.births = sasl, patience, &c.births
	if !c.link.adopt(t) {
		_ = conn.Close()
		return nil, ErrClosed
	}
	return t, nil
}

// connect dials the current host, or where it is urgent several until one is connected, which then is the current one.
func (c *Conn) connect(network string) (net.Conn, error) {
	current := c.hosts.currentHost()
	if !c.hosts.urgency.urgent() {
		return c.dialHost(c.dialing, network, current)
	}
	conn, current, err := c.race(network, current)
	c.hosts.choose(current)
	return conn, err
}
