package services

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/child"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

const (
	virtualTimeout = 10 * time.Second
	// settled is the time that a hold lasts before it meets its fault: longer than the first lease
	// of a connection, and no multiple of the time between two heartbeats.
	settled = time.Minute + 700*time.Millisecond
	// virtualHold is a bound of holds that ends while the lease still runs that the fault has met.
	virtualHold = settled + time.Second
)

// TestInVirtualTime: the cells that need no process.
func TestInVirtualTime(t *testing.T) {
	for _, c := range cells {
		if c.fault == pause || c.fault == kill {
			continue
		}
		t.Run(string(c.ability)+"/"+string(c.fault), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				t.Log(c.must)
				require.True(t, c.play(t, virtualWorld(t)))
			})
		})
	}
}

// virtual is a world in a bubble.
type virtual struct {
	server    *embedded.Server
	network   *network // of the subject
	bystander *locks.Client
}

func virtualWorld(t *testing.T) *virtual {
	t.Helper()
	server := bubble.Server(t)
	return &virtual{server: server, network: &network{server: server}}
}

func (w *virtual) client(t *testing.T, dial func(context.Context, string, string) (net.Conn, error)) *locks.Client {
	t.Helper()
	client, err := locks.Open(t.Context(), w.server.Connect(), locks.WithDialer(dial),
		locks.WithSessionTimeout(virtualTimeout))
	require.NoError(t, err)
	relists.Count(t, client.Session())
	t.Cleanup(func() {
		patient.Closed(t, client.Close(context.WithoutCancel(t.Context())))
		time.Sleep(time.Minute) // the actor system's throttle sleeps on for a while
	})
	return client
}

func (w *virtual) others(t *testing.T) *locks.Client {
	t.Helper()
	if w.bystander == nil {
		w.bystander = w.client(t, w.server.DialContext)
	}
	return w.bystander
}

func (w *virtual) path() string { return "/lock" }

func (w *virtual) begin(t *testing.T, c cell) (*subject, *child.Process) {
	t.Helper()
	o := order{Ability: c.ability, Path: w.path(), Hold: c.bounds.hold, Rejoins: c.rejoins()}
	if o.Hold != never { // in virtual time nothing is slow
		o.Hold = virtualHold
	}
	return here(t, w.client(t, w.network.dial), o), nil
}

func (w *virtual) settle()     { time.Sleep(settled) }
func (w *virtual) exact() bool { return true }

func (w *virtual) expire(t *testing.T, session int64) {
	t.Helper()
	w.network.refuse(true)
	w.network.cut()
	time.Sleep(time.Second)
	require.NoError(t, w.server.Expire(session))
	w.network.refuse(false)
}

func (w *virtual) cut(*testing.T) {
	w.network.cut()
	time.Sleep(time.Second)
}

func (w *virtual) silence() { w.network.hold(true) }
func (w *virtual) heal()    { w.network.hold(false) }

func (w *virtual) lose(t *testing.T, what change) (wait func()) {
	t.Helper()
	fault, err := w.server.Inject(embedded.Fault{Path: w.path() + "/*", Action: embedded.CutAfter})
	require.NoError(t, err)
	return func() { require.NoError(t, fault.Wait(patient.Deadline(t)), "no reply to a %s was lost", what) }
}

// network is one to an embedded server that can be cut and fall silent.
type network struct {
	server *embedded.Server

	mu      sync.Mutex
	refuses bool
	silent  bool
	open    []*heldConn
}

// heldConn is a connection that passes on what is written once its network is not silent.
type heldConn struct {
	net.Conn
	network *network
	held    []byte
}

func (n *network) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.refuses {
		return nil, errors.New("connection refused")
	}
	conn, err := n.server.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	held := &heldConn{Conn: conn, network: n}
	n.open = append(n.open, held)
	return held, nil
}

// Write writes, or keeps what it is given in a silence.
func (c *heldConn) Write(b []byte) (int, error) {
	c.network.mu.Lock()
	silent := c.network.silent
	if silent {
		c.held = append(c.held, b...)
	}
	c.network.mu.Unlock()
	if silent {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, conn := range n.open {
		_ = conn.Close()
	}
	n.open = nil
}

func (n *network) refuse(refuse bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refuses = refuse
}

// hold begins a silence, or ends it: then what was kept arrives, on connections that are still open.
func (n *network) hold(silent bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.silent = silent
	for _, conn := range n.open {
		if !silent && len(conn.held) > 0 {
			_, _ = conn.Conn.Write(conn.held)
			conn.held = nil
		}
	}
}
