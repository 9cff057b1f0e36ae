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
	patience := func() time.Duration { return c.hosts.urgency.handshake(c.cfg.handshakeTimeout(), c.cfg.tried()) }
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

// dialOverlapping dials while reconnecting is urgent. Attempts overlap (RFC 8305, "happy
// eyeballs"), so a server that does not answer costs a moment, not the rest of the lease.
//
// It tries the round's addresses in order, the next when one fails or has had its time to itself;
// the first to connect wins. After a round's last failure comes a pause. Only dialing overlaps: two
// connect requests for one session at two servers would take it from each other.
func (c *Conn) dialOverlapping(network string, first host) (net.Conn, host, error) {
	ctx, cancel := context.WithCancel(c.dialing)
	defer cancel()
	hosts, urgency := c.hosts, c.hosts.urgency
	results, over := make(chan attempt), make(chan struct{})
	defer close(over)
	running, begun := 0, map[string]time.Time{}
	begin := func(h host) {
		running++
		begun[h.address] = time.Now()
		c.attempts.Go(func() {
			conn, err := c.dialHost(ctx, network, h)
			select {
			case results <- attempt{h, conn, err}:
			case <-over:
				if err == nil {
					_ = closeSocket(conn)
				}
			}
		})
	}
	begin(first)
	next := time.NewTimer(urgency.overlap())
	defer next.Stop()
	for {
		select {
		case a := <-results:
			running--
			delete(begun, a.host.address)
			isLast := len(hosts.queue) == 0
			hopeless := running == 0 && (isLast || !urgency.urgent()) // Next then goes on, after its pause
			if a.err == nil || hopeless || ctx.Err() != nil {
				return a.conn, a.host, a.err
			}
			c.notReached(a.host, a.err)
			if isLast {
				next.Reset(urgency.pause())
			} else {
				next.Reset(0)
			}
		case <-next.C:
			if urgency.urgent() {
				if h, some := hosts.takeUntried(begun); some {
					begin(h)
				}
				next.Reset(urgency.overlap())
			}
		}
	}
}

type attempt struct {
	host host
	conn net.Conn
	err  error
}
