package zkconn

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// Closing another process's session. The library cannot be given a session id; two small requests
// are enough (zookeeper.jute; big-endian; a frame follows its length in four bytes):
//
//	connect request   int protocolVersion = 0, long lastZxidSeen, int timeOut (ms), long sessionId,
//	                  buffer passwd (int length, bytes), boolean readOnly
//	connect reply     int protocolVersion, int timeOut, long sessionId (0: expired, or the password is wrong),
//	                  buffer passwd, boolean readOnly
//	request           int xid, int type = -11 (closeSession); no body
//	reply             int xid, long zxid, int err; no body
//
// Any server will do: it answers closeSession, a transaction, once it has applied it. Then the
// session's ephemeral nodes are gone.

// CloseSession ends a session of another process, with its id and password, at the servers of the
// connect string, with cfg's dialer, TLS, timeouts, backoff and SASL mechanism. It presents no
// other credentials: servers ask for none here, unless they enforce authentication
// (zookeeper.enforce.auth.enabled).
//
// It returns when the session has ended; existed reports whether a server still knew it. It tries
// every server, again and again, until ctx ends; the error then wraps that of ctx and the last
// cause, and names the session. When a server hands out another session instead of refusing, it
// fails at once with ErrOtherSession: the session expires by itself. ErrBadConfig: cfg is not of
// NewConfig, or connect no connect string.
//
// A server that takes the session over and then refuses us by SASL has started its timeout anew,
// the shortest that it grants. The next attempt waits until that is over.
//
// A living client of that session is told that it has expired. So make sure that it is dead.
func CloseSession(ctx context.Context, cfg Config, connect string, id int64, password []byte) (existed bool, err error) {
	return cfg.takeOver(ctx, connect, stranger{"close", id, password, shortestSession, true, false})
}

// CloseRemaining makes one attempt to end the session after Close gave ErrSessionRemains, at the
// first server that it reaches. A failed attempt starts the session's timeout anew, so use it only
// while another session of this process is connected.
func (c *Conn) CloseRemaining(ctx context.Context) error {
	if c.Ended() {
		return nil
	}
	_, err := c.cfg.takeOverFrom(ctx, stranger{"close", c.SessionID(), c.SessionPassword(), shortestSession, true, true})
	if err == nil {
		c.guard.closed.Store(true)
	}
	return err
}

// RefreshSession takes over a session as CloseSession does, and starts its timeout, which is the
// one granted, anew instead of ending it. A server may still carry out what it was sent over an
// older connection: see [Conn.Fence].
func RefreshSession(
	ctx context.Context, cfg Config, connect string, id int64, password []byte, timeout time.Duration,
) (existed bool, err error) {
	return cfg.takeOver(ctx, connect, stranger{"refresh", id, password, int32(timeout.Milliseconds()), false, false})
}

// shortestSession is the session timeout that is asked for, in milliseconds: a takeover that gets
// no further leaves the session with the shortest.
const shortestSession = 1

type stranger struct {
	doing    string
	id       int64
	password []byte
	timeout  int32 // milliseconds
	close    bool
	once     bool // one attempt, at the first server that can be reached
}

var errNotReached = errors.New("dial")

func (cfg Config) takeOver(ctx context.Context, connect string, s stranger) (existed bool, err error) {
	if !cfg.made() {
		return false, fmt.Errorf("%w: the zero Config: must be made by NewConfig", ErrBadConfig)
	}
	if cfg.servers, _, err = parseServers(connect); err != nil {
		return false, err
	}
	return cfg.takeOverFrom(ctx, s)
}

func (cfg Config) takeOverFrom(ctx context.Context, s stranger) (existed bool, err error) {
	connect := strings.Join(cfg.servers, ",")
	hosts := newHosts(cfg, func() bool { return ctx.Err() != nil })
	defer hosts.close()
	defer context.AfterFunc(ctx, hosts.close)()
	var cause error
	for {
		address, _ := hosts.Next()
		if ctx.Err() != nil {
			return existed, fmt.Errorf("%s session %#x at %s: %w", s.doing, s.id, connect, errors.Join(ctx.Err(), cause))
		}
		known, over, err := cfg.takeOverAt(ctx, address, hosts.name(), s)
		existed = existed || known
		if over {
			return existed, nil
		}
		var out *notLetIn
		if errors.As(err, &out) {
			out.letExpire(ctx)
		}
		cause = fmt.Errorf("%s: %w", hosts.label(), err)
		if s.once && !errors.Is(err, errNotReached) || errors.Is(err, ErrOtherSession) {
			return existed, fmt.Errorf("%s session %#x: %w", s.doing, s.id, cause)
		}
		cfg.logger.Debug("session not taken over yet", logkeys.Session, logkeys.SessionID(s.id), logkeys.Server, hosts.label(), logkeys.Error, err)
	}
}

// notLetIn is a failed SASL exchange with a server that has taken the session over. Attempts
// without a pause would keep the session alive.
type notLetIn struct {
	error
	timeout time.Duration
}

func (n *notLetIn) Unwrap() error { return n.error }

// expiresWithin gives how long a session lasts after its last connect request: its timeout, rounded
// up to a tick, which is half of it at most.
func expiresWithin(timeout time.Duration) time.Duration { return timeout + timeout/2 }

func (n *notLetIn) letExpire(ctx context.Context) {
	wait := time.NewTimer(expiresWithin(n.timeout))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
	}
}

// takeOverAt makes one attempt at one server. known: the server took the session over. over: no
// further attempt is needed, because the session was closed or refreshed, or is gone.
//
// The second frame waits for the answer to the first: a server that does not know the session
// closes the connection, and an unread frame would lose its answer in a reset.
func (c Config) takeOverAt(ctx context.Context, address, name string, s stranger) (known, over bool, err error) {
	dialing, cancel := context.WithTimeout(ctx, c.dialTimeout())
	defer cancel()
	conn, err := c.dialOne(dialing, "tcp", address, name)
	if err != nil {
		return false, false, fmt.Errorf("%w: %w", errNotReached, err)
	}
	defer func() { _ = closeSocket(conn) }()
	sasl, err := c.startSASL(ctx, name, address)
	if err != nil {
		return false, false, err
	}
	if err := conn.SetDeadline(time.Now().Add(c.handshakeTimeout())); err != nil {
		return false, false, err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	from := bufio.NewReader(conn)
	granted, err := reattach(conn, from, s)
	if errors.Is(err, ErrOtherSession) { // do not leave it behind
		if _, err := conn.Write(closeSessionFrame()); err == nil {
			_ = awaitFarewell(from)
		}
	}
	if known = granted > 0; err != nil || !known || !s.close {
		return known, err == nil, err
	}
	if sasl != nil { // a server that requires SASL closes no session without it
		if err := sasl.run(conn, from); err != nil {
			return true, false, &notLetIn{err, granted}
		}
	}
	if _, err := conn.Write(closeSessionFrame()); err != nil {
		return true, false, fmt.Errorf("close: %w", err)
	}
	if err := awaitFarewell(from); err != nil {
		return true, false, fmt.Errorf("close: %w", err)
	}
	return true, true, nil
}

func reattach(conn net.Conn, from *bufio.Reader, s stranger) (granted time.Duration, err error) {
	if _, err := conn.Write(reattachFrame(s)); err != nil {
		return 0, fmt.Errorf("connect: %w", err)
	}
	body, err := readReply(from, maxConnectReply)
	if err != nil {
		return 0, fmt.Errorf("connect: %w", err)
	}
	reply, err := parseConnectReply(body)
	if err != nil {
		return 0, err
	}
	if reply.sessionID != 0 && reply.sessionID != s.id {
		return 0, fmt.Errorf("connect: %w: %#x", ErrOtherSession, reply.sessionID)
	}
	if reply.sessionID == 0 {
		return 0, nil
	}
	if reply.timeout <= 0 {
		return 0, fmt.Errorf("connect: the server granted a session timeout of %v", reply.timeout)
	}
	return reply.timeout, nil
}

func reattachFrame(s stranger) []byte {
	frame := make([]byte, lengthSize, 64)
	frame = binary.BigEndian.AppendUint32(frame, 0) // protocol version
	frame = binary.BigEndian.AppendUint64(frame, 0) // none, so that any server may answer
	frame = binary.BigEndian.AppendUint32(frame, uint32(s.timeout))
	frame = binary.BigEndian.AppendUint64(frame, uint64(s.id))
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(s.password)))
	frame = append(frame, s.password...)
	frame = append(frame, 0) // not a read-only server
	return withLength(frame)
}
