package zkconn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// dial connects to the server that hosts has named to the library, or while reconnecting is urgent
// to another. It ignores the library's timeout of one second.
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
	t := newTransport(conn, current.label, patience(), &c.guard, &c.wants, c, c.lease)
	t.sasl, t.patience, t.standing.removals = sasl, patience, c.cfg.removals
	if !c.link.adopt(t) {
		_ = conn.Close()
		return nil, ErrClosed
	}
	return t, nil
}

// connect dials the current host, or if urgent several: the first to connect is then current.
func (c *Conn) connect(network string) (net.Conn, error) {
	current := c.hosts.currentHost()
	if !c.hosts.urgency.urgent() {
		return c.dialHost(c.dialing, network, current)
	}
	conn, current, err := c.dialOverlapping(network, current)
	c.hosts.choose(current)
	return conn, err
}

func (c *Conn) dialHost(ctx context.Context, network string, h host) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.dialTimeout())
	defer cancel()
	c.log.Debug("dialing zookeeper server", logkeys.Server, h.label)
	return c.cfg.dialOne(ctx, network, h.address, h.name)
}

func (c Config) startSASL(ctx context.Context, name, address string) (*saslClient, error) {
	if c.sasl == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.ticketTimeout())
	defer cancel()
	return startSASL(ctx, c.sasl(), SASLServer{Host: name, Address: address})
}

// notReached records and logs a failed attempt. While reconnecting is urgent only the first round
// is logged at warn.
func (c *Conn) notReached(h host, cause error) error {
	err := fmt.Errorf("dial %s: %w", h.label, cause)
	if c.gate.isShut() {
		return err
	}
	level := slog.LevelWarn
	if c.hosts.rounds > 1 && c.hosts.urgency.urgent() {
		level = slog.LevelDebug
	}
	if errors.Is(err, ErrAuthFailed) { // by a SASL mechanism, of others
		c.refused(err)
		return err
	}
	c.session.note(err)
	c.log.Log(context.Background(), level, "zookeeper server not reached", logkeys.Server, h.label, logkeys.Error, err)
	return err
}

// overlappingDial dials while reconnecting is urgent. Attempts overlap (RFC 8305, "happy
// eyeballs"), so a server that does not answer costs a moment, not the rest of the lease.
//
// It tries the round's addresses in order, the next when one fails or has had its time to itself;
// the first to connect wins. An address gets one more attempt each twentieth of the session
// timeout, because the kernel repeats a dropped packet after a second at the earliest. Only dialing
// overlaps: two connect requests for one session at two servers would take it from each other.
type overlappingDial struct {
	conn    *Conn
	network string
	ctx     context.Context
	results chan attempt
	over    chan struct{} // closed when one attempt has succeeded or none will
	running map[string]running
	next    *time.Timer
}

type attempt struct {
	host host
	conn net.Conn
	err  error
}

type running struct {
	count int
	begun time.Time
}

func (c *Conn) dialOverlapping(network string, first host) (net.Conn, host, error) {
	ctx, cancel := context.WithCancel(c.dialing)
	defer cancel()
	r := &overlappingDial{
		conn: c, network: network, ctx: ctx, results: make(chan attempt), over: make(chan struct{}),
		running: map[string]running{}, next: time.NewTimer(c.hosts.urgency.overlap()),
	}
	defer close(r.over)
	defer r.next.Stop()
	r.begin(first)
	for {
		select {
		case a := <-r.results:
			r.ended(a.host)
			if a.err == nil || r.hopeless() {
				return a.conn, a.host, a.err
			}
			c.notReached(a.host, a.err)
			r.again()
		case <-r.next.C:
			if c.hosts.urgency.urgent() {
				r.beginNext()
				r.next.Reset(c.hosts.urgency.overlap())
			}
		}
	}
}

// hopeless reports whether no attempt runs or will begin. Next then goes on, after its pause.
func (r *overlappingDial) hopeless() bool {
	hosts := r.conn.hosts
	return r.ctx.Err() != nil || len(r.running) == 0 && (len(hosts.queue) == 0 || !hosts.urgency.urgent())
}

// again goes on after a failure: with the round's next address at once, with the next round after a
// pause.
func (r *overlappingDial) again() {
	urgency := r.conn.hosts.urgency
	switch {
	case !urgency.urgent():
	case len(r.conn.hosts.queue) > 0:
		r.beginNext()
		r.next.Reset(urgency.overlap())
	default:
		r.next.Reset(urgency.pause())
	}
}

func (r *overlappingDial) beginNext() {
	hosts := r.conn.hosts
	if len(hosts.queue) == 0 {
		hosts.beginRound()
	}
	for len(hosts.queue) > 0 {
		next := hosts.take()
		at, any := r.running[next.address]
		if !any || time.Since(at.begun) >= hosts.urgency.timeout()/overlapsPerTimeout {
			r.begin(next)
			return
		}
	}
}

func (r *overlappingDial) begin(h host) {
	r.running[h.address] = running{count: r.running[h.address].count + 1, begun: time.Now()}
	r.conn.attempts.Go(func() {
		conn, err := r.conn.dialHost(r.ctx, r.network, h)
		select {
		case r.results <- attempt{h, conn, err}:
		case <-r.over:
			if err == nil {
				_ = closeSocket(conn)
			}
		}
	})
}

func (r *overlappingDial) ended(h host) {
	at := r.running[h.address]
	if at.count--; at.count == 0 {
		delete(r.running, h.address)
	} else {
		r.running[h.address] = at
	}
}
