package zkconn

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/zkconn/lease"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// Dial makes a connection for one session, of the given epoch. It returns at once and connects in
// the background, for as long as it takes; LastError tells of an unreachable ensemble. It fails
// with ErrBadConfig when cfg is not of NewConfig or sink is nil.
//
// sink is called with every event, one at a time and in order, on goroutines of the connection,
// until Close has returned. It must not block and must not call operations or Close; Epoch,
// SessionID, SessionTimeout and LastError are fine.
func Dial(cfg Config, epoch uint64, sink func(Event)) (*Conn, error) {
	if !cfg.made() {
		return nil, fmt.Errorf("%w: the zero Config: must be made by NewConfig", ErrBadConfig)
	}
	if sink == nil {
		return nil, fmt.Errorf("%w: sink: must not be nil", ErrBadConfig)
	}
	c := &Conn{
		cfg: cfg, epoch: epoch, log: cfg.logger.With(logkeys.Epoch, epoch),
		gate: newGate(), ready: make(chan struct{}),
		lease: lease.NewKeeper(cfg.suspended, cfg.serverTick, cfg.IdleSyncs(), cfg.shortest),
	}
	c.lease.Broken = func() { c.session.lapsed() }
	c.lease.GivenUp = func() { c.sessionEnded(errGivenUp) }
	c.dialing, c.stopDial = context.WithCancel(context.Background())
	c.hosts = newHosts(cfg, c.guard.over.Load)
	c.hosts.urgency.timeout, c.hosts.urgency.until = c.SessionTimeout, c.lease.Clock.Deadline
	c.session = &session{
		epoch: epoch, sink: sink, guard: &c.guard, log: c.log, server: c.hosts.label,
		add: c.addAuth, cut: c.link.cut,
		credentials: cfg.credentials,
	}
	conn, events, err := zk.Connect(cfg.servers, cfg.timeout,
		zk.WithDialer(c.dial),
		zk.WithHostProvider(c.hosts),
		zk.WithEventCallback(c.observe),
		zk.WithLogger(libraryLogger{c.log}),
	)
	if err != nil { // by its source only for an empty list or a provider that fails
		c.stopDial()
		c.hosts.close()
		return nil, fmt.Errorf("%w: %w", ErrBadConfig, err)
	}
	c.zk, c.events = conn, events
	close(c.ready)
	if cfg.found != nil {
		c.session.running.Go(c.followMembers)
	}
	return c, nil
}

// Close ends the session at the server, if it is connected, and with it every ephemeral node. It
// returns when every goroutine and operation has ended: in milliseconds, or when a server does not
// answer after a third of the session timeout, one to three seconds. Operations under way end with
// ErrClosed and ErrUnknownOutcome.
//
// The error wraps ErrSessionRemains when no server has confirmed it: others wait for the session's
// locks until it expires. All calls give the same answer.
func (c *Conn) Close() error {
	return c.CloseBy(time.Time{})
}

// CloseBy is Close that asks the servers until one confirms, until end, or until the session
// timeout has passed, by when they have ended the session themselves. The zero time makes it Close.
func (c *Conn) CloseBy(end time.Time) error {
	c.closing.Do(func() {
		c.end(c.link.close)
		c.closeLater(end)
	})
	return c.closed
}

func (c *Conn) closeLater(end time.Time) {
	patience := min(time.Until(end), c.SessionTimeout())
	if c.closed == nil || patience <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cfg := c.cfg // ten attempts at least
	cfg.maxBackoff = min(cfg.maxBackoff, max(patience/10, cfg.initialBackoff))
	_, err := cfg.takeOverFrom(ctx, stranger{"close", c.SessionID(), c.SessionPassword(), shortestSession, true, false})
	if err != nil {
		c.closed = fmt.Errorf("%w; tried again since then: %v", c.closed, err) // not %w: the deadline is not Close's
		return
	}
	c.guard.closed.Store(true)
	c.closed = nil
}

// Abandon is Close that leaves the session to expire: nothing more is sent, so the ephemeral nodes
// last as long as the lease. The error wraps ErrSessionRemains, unless the session has ended
// already.
func (c *Conn) Abandon() error {
	c.closing.Do(func() {
		c.end(func() {
			c.link.close()
			c.link.cut()
		})
	})
	return c.closed
}

func (c *Conn) end(leave func()) {
	cause := c.LastError() // before the closing makes others
	c.gate.close(ErrClosed)
	c.session.close()
	c.lease.Close()
	c.hosts.close()
	c.stopDial()
	leave()
	// Connected, the library waits a second for room in its queue and for the answer, and its
	// connection goes on until the answer has come.
	cut := time.AfterFunc(min(max(c.SessionTimeout()/3, time.Second), longestFarewell), c.link.cut)
	c.zk.Close()
	// The library closes the channel as the last thing it does.
	for range c.events {
	}
	cut.Stop()
	c.link.cut()
	c.attempts.Wait()
	c.session.running.Wait()
	c.gate.inside.Wait()
	c.closed = c.remains(cause)
}

func (c *Conn) remains(cause error) error {
	if c.Ended() {
		return nil
	}
	err := fmt.Errorf("zkconn: close session %#x: %w: the servers expire it %v after they last heard of it",
		c.SessionID(), ErrSessionRemains, c.SessionTimeout())
	if cause != nil {
		err = fmt.Errorf("%w (last cause: %v)", err, cause) // not %w: the cause is the connection's, not Close's
	}
	return err
}

func (c *Conn) addAuth(scheme string, secret []byte) error {
	<-c.ready
	return c.zk.AddAuth(scheme, secret)
}

// libraryLogger logs the library's messages at debug: servers, states and session numbers, never
// secrets.
type libraryLogger struct{ to *slog.Logger }

func (l libraryLogger) Printf(format string, args ...any) {
	if l.to.Enabled(context.Background(), slog.LevelDebug) {
		l.to.Debug("zookeeper client library", logkeys.Text, fmt.Sprintf(format, args...))
	}
}
