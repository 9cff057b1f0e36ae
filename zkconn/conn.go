package zkconn

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// Conn is one ZooKeeper session, from Dial to Expired or Close. Its methods may be called from any goroutine.
type Conn struct {
	cfg     Config
	epoch   uint64
	log     *slog.Logger
	guard   epochGuard
	watches wantedWatches
	awaited awaitedCreates
	link    link
	lease   *leaseKeeper
	hosts   *hosts
	gate    *gate
	session *session

	dialing  context.Context // ends when the Conn is closed
	stopDial context.CancelFunc
	racing   sync.WaitGroup // attempts to dial that overlap

	zk     *zk.Conn // set once ready is closed; the library's goroutines start before that
	events <-chan zk.Event
	ready  chan struct{}

	closing sync.Once
	closed  error // what Close returns; set once closing is done

	persistentOnly atomic.Bool // the server knows no container nodes
}

// Dial makes a connection that asks for one session, of the given epoch. It returns at once and connects in the
// background, for as long as it takes: an ensemble that cannot be reached shows in LastError. It fails with
// ErrBadConfig when cfg does not come from NewConfig or sink is nil.
//
// sink is called with every event, one at a time and in order, on goroutines of the connection. It must not block
// and must not call operations or Close; Epoch, SessionID, SessionTimeout and LastError are fine. It is not called
// after Close has returned. The event of a watch may reach it before GetWatched returns.
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
		lease: newLeaseKeeper(cfg),
	}
	c.dialing, c.stopDial = context.WithCancel(context.Background())
	c.hosts = newHosts(cfg, c.guard.over.Load)
	c.hosts.haste.timeout = c.SessionTimeout
	c.session = &session{
		epoch: epoch, sink: sink, guard: &c.guard, log: c.log, server: c.hosts.label,
		add: c.addAuth, cut: c.link.cut,
		credentials: cfg.credentials, added: make([]bool, len(cfg.credentials)),
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
	return c, nil
}

// Close ends the session at the server, if it is connected, and with it every ephemeral node of the
// session. It returns when every goroutine of the connection and every operation has ended: in
// milliseconds, or after a third of the session timeout, one to three seconds, when a server does
// not answer. Operations under way end with ErrClosed and ErrUnknownOutcome.
//
// It returns an error that wraps ErrSessionRemains when no server has said that the session is
// closed: it is left to expire, and others wait for its locks until then. It may be called again,
// and by several at once; all return when it is done, with the same answer.
func (c *Conn) Close() error {
	c.closing.Do(func() {
		cause := c.LastError() // before the closing makes others
		c.gate.close(ErrClosed)
		c.session.close()
		c.hosts.close()
		c.stopDial()
		c.link.close()
		// The library waits a second for room in its queue and for the answer, and its connection
		// goes on until the answer has come; without a connection it waits for nothing.
		cut := time.AfterFunc(min(max(c.SessionTimeout()/3, time.Second), longestFarewell), c.link.cut)
		c.zk.Close()
		// The library closes the channel as the last thing it does.
		for range c.events {
		}
		cut.Stop()
		c.link.cut()
		c.racing.Wait()
		c.session.running.Wait()
		c.gate.wait()
		c.closed = c.remains(cause)
	})
	return c.closed
}

// longestFarewell bounds the wait for the server's answer when the session is closed.
const longestFarewell = 3 * time.Second

// remains gives the error of a session that was not closed, and why, where that is known.
func (c *Conn) remains(cause error) error {
	if c.Ended() {
		return nil
	}
	err := fmt.Errorf("zkconn: close session %#x: %w: the servers expire it %v after they last heard of it",
		c.SessionID(), ErrSessionRemains, c.SessionTimeout())
	if cause != nil {
		err = fmt.Errorf("%w (last cause: %v)", err, cause) // not %w: that of the connection is none of Close
	}
	return err
}

// Epoch gives the number the connection was dialed with.
func (c *Conn) Epoch() uint64 { return c.epoch }

// SessionID gives the session, also after it has expired; 0 before one was granted.
func (c *Conn) SessionID() int64 { return c.guard.sessionID.Load() }

// SessionPassword gives what a server wants to hear from whoever says that a session is its own; nil before a session
// was granted. It is a secret: who knows it can close the session.
func (c *Conn) SessionPassword() []byte {
	if password := c.guard.password.Load(); password != nil {
		return bytes.Clone(*password)
	}
	return nil
}

// Done is closed when no operation is possible any more: the session has expired, or Close was called.
func (c *Conn) Done() <-chan struct{} { return c.gate.shut }

// Ended says whether the session is known to have ended at the servers: it has expired, or was closed by Close and a
// server has said so, or none was ever granted and none will be, because the Conn is closed.
func (c *Conn) Ended() bool {
	return c.guard.over.Load() || c.guard.closed.Load() || c.SessionID() == 0 && c.gate.isShut()
}

// Lease gives the session's lease clock. It is extended before an operation returns whose answer is evidence.
func (c *Conn) Lease() *LeaseClock { return c.lease.clock }

// SessionTimeout gives the shortest timeout that a server has granted to the session; until then the one that is asked
// for.
func (c *Conn) SessionTimeout() time.Duration {
	if granted := c.guard.sessionTimeout(); granted > 0 {
		return granted
	}
	return c.cfg.timeout
}

// LastError gives the last cause for which a server could not be reached, a handshake failed, a credential was
// refused or a connection was lost; it names the server. It is nil when there was none since the last connection.
func (c *Conn) LastError() error { return c.session.lastError() }

// observe is the library's event callback.
func (c *Conn) observe(event zk.Event) {
	switch event.Type {
	case zk.EventSession:
		// States of the library's own carry the server; there are servers that send states as watch events.
		if event.Server != "" {
			c.observeState(event.State)
		}
	case zk.EventNodeCreated:
		c.observeNode(NodeCreated, event.Path)
	case zk.EventNodeDeleted:
		c.observeNode(NodeDeleted, event.Path)
	case zk.EventNodeDataChanged:
		c.observeNode(NodeDataChanged, event.Path)
	case zk.EventNodeChildrenChanged:
		c.observeNode(NodeChildrenChanged, event.Path)
	}
}

func (c *Conn) observeState(state zk.State) {
	switch state {
	case zk.StateHasSession:
		c.session.gained()
	case zk.StateDisconnected:
		c.session.lost()
	case zk.StateExpired:
		c.gate.close(fmt.Errorf("%w: %w", ErrClosed, zk.ErrSessionExpired))
		c.session.over()
		c.link.cut() // the library leaves it open
	}
}

func (c *Conn) observeNode(kind EventKind, path string) {
	relative, inside := strings.CutPrefix(path, c.cfg.chroot)
	if !inside {
		c.log.Warn("zookeeper event outside of the chroot", logkeys.Path, path)
		return
	}
	c.session.watched(kind, relative)
}

// passes, replied and failed make Conn the transport's observer.

func (c *Conn) passes(frame []byte) { c.awaited.passes(frame) }

func (c *Conn) replied(t *transport, code int32) {
	if code == codeAuthFailed {
		c.hosts.sawRefusal()
		c.session.refused(fmt.Errorf("connection to %s: %w: %w", t.server, ErrAuthFailed, zk.ErrAuthFailed))
		return
	}
	c.hosts.sawReply()
}

func (c *Conn) failed(_ *transport, cause error) {
	// A refused credential says more than the end of the connection that follows it.
	if c.gate.isShut() || c.hosts.refused.Load() {
		return
	}
	c.session.note(cause)
}

// addAuth presents one credential and waits for the reply.
func (c *Conn) addAuth(scheme string, secret []byte) error {
	<-c.ready
	return c.zk.AddAuth(scheme, secret)
}
