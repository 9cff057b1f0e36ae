package zkconn

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/zkconn/lease"
)

// Conn is one ZooKeeper session, from Dial to Expired or Close. Safe for concurrent use.
type Conn struct {
	cfg     Config
	epoch   uint64
	log     *slog.Logger
	guard   epochGuard
	wants   wantedRequests
	link    link
	lease   *lease.Keeper
	hosts   *hosts
	gate    *gate
	session *session

	dialing  context.Context
	stopDial context.CancelFunc
	attempts sync.WaitGroup // to dial, which overlap while reconnecting is urgent

	zk     *zk.Conn // once ready is closed; the library's goroutines start before that
	events <-chan zk.Event
	ready  chan struct{}

	closing sync.Once
	closed  error // the result of Close, once closing is done

	readable         atomic.Bool  // the session may READ its own nodes
	noContainers     atomic.Bool  // the servers make no container nodes
	containerHangUps atomic.Int32 // on creates of containers, one after the other
	lost             lastLoss
	doubted          atomic.Bool // the newest answered SASL exchange was refused, and that may be the server's mistake
}

// Epoch gives the number of Dial.
func (c *Conn) Epoch() uint64 { return c.epoch }

// SessionID gives the session, also after it has expired; 0 before one was granted.
func (c *Conn) SessionID() int64 { return c.guard.sessionID.Load() }

// SessionPassword gives the session's password; nil before a session was granted. It is a secret:
// anybody can close the session with it.
func (c *Conn) SessionPassword() []byte {
	if password := c.guard.password.Load(); password != nil {
		return bytes.Clone(*password)
	}
	return nil
}

// Done is closed when the session has expired, or Close was called.
func (c *Conn) Done() <-chan struct{} { return c.gate.shut }

// Ended reports whether the session is known to have ended at the servers, or never began.
func (c *Conn) Ended() bool {
	return c.guard.ended.Load() || c.guard.closed.Load() || c.SessionID() == 0 && c.gate.isShut()
}

// Proved reports whether a lease may rest on this session: not once the chain of evidence is broken
// (see the package doc). Once false it stays false.
func (c *Conn) Proved() bool { return c.lease.Proved() }

// KeepLease sets whether a lease is to last. Otherwise the session commits nothing, and sends just
// enough to keep its chain of evidence.
func (c *Conn) KeepLease(on bool) { c.lease.Want(on) }

// Lease gives the session's lease clock. An answer that is evidence extends it before the operation
// returns.
func (c *Conn) Lease() *LeaseClock { return c.lease.Clock }

// SessionTimeout gives the shortest timeout that a server has granted, or else the one that is
// asked for.
func (c *Conn) SessionTimeout() time.Duration {
	if granted := c.guard.sessionTimeout(); granted > 0 {
		return granted
	}
	return c.cfg.timeout
}

// LastError gives the last failure, with the server: not reached, a failed handshake, a refused
// credential or a lost connection; nil for none since the last connection.
func (c *Conn) LastError() error { return c.session.lastError() }

// Silence gives how long no server has answered: since the first request after the newest answer,
// the loss of the connection, or Dial; zero while nothing is waited for. Suspended time counts.
func (c *Conn) Silence() time.Duration { return c.lease.Silence() }

// Urgent sets whether reconnecting is urgent, as while anything is held: a hold is lost unless the
// client reconnects before the lease ends. The last call before a loss of the connection counts,
// until that connection's lease has ended. Then
//
//   - pauses between rounds begin at 10 ms and grow to a hundredth of the session timeout, jittered
//     by half, in place of [WithReconnectBackoff]'s;
//   - attempts to dial overlap, so a server that does not answer does not use the lease up. Where
//     there is another server, one has half of the rest of the lease to answer the connect request;
//   - a name that cannot be resolved in time stands for the addresses that it had last.
//
// Cost: a client that cannot connect makes 100 rounds in a session timeout: 25 a second for 4 s, 10
// for 10 s, 3 for 30 s. A lease at a steady rate lasts 0.4 of the timeout, some 45 rounds; one of a
// new connection 0.9, up to 95. A refused credential ends that until a connection has been of use.
func (c *Conn) Urgent(urgent bool) { c.hosts.urgency.set(urgent) }
