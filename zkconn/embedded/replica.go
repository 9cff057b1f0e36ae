package embedded

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

// Replica is one server of the ensemble, with a tree, connections and an address of its own. A server that
// was started alone has one, which is its own leader.
type Replica struct {
	e        *ensemble
	number   int
	addr     string
	listener net.Listener
	running  bool
	refusing bool

	tree    *tree
	behind  []*txn // committed, and not applied here yet
	results []result
	lagging bool
	cut     bool // cannot reach the others
	deposed bool // was the leader when it was cut off, and thinks that it still is
	held    bool // replies stay here

	link       *link                   // to the leader; nil for the leader, and for who has none
	touched    map[int64]time.Duration // sessions heard of since the leader's last ping, with their timeouts
	looking    bool                    // has lost the leader, or cannot reach it
	losing     bool                    // see LoseTouch
	paused     bool
	unheard    bool // what clients send stays unread
	overthrown bool // the others have left it while it was paused
	dropping   bool // it drops its clients when it is paused no more

	minTimeout, maxTimeout time.Duration

	conns     set[*conn]
	bySession map[int64]*conn
	tasks     sync.WaitGroup
	control   sync.Mutex // one Start or Stop at a time, the latter's wait included

	received, sent int64 // packets
	latency        latency
}

// following means that the leader's transactions come here.
func (r *Replica) following() bool { return r.running && !r.cut && !r.looking && r.e.leader != nil }

// serves means that clients are let in.
func (r *Replica) serves() bool { return r.running && !r.looking && (r.cut || r.e.leader != nil) }

// catchUp applies what was committed and not applied here yet.
func (r *Replica) catchUp() {
	for len(r.behind) > 0 {
		x := r.behind[0]
		r.behind = r.behind[1:]
		r.results = r.tree.apply(x)
		if x.op == OpCloseSession {
			r.sessionClosed(x.session)
		}
	}
	r.behind = nil
}

// sessionClosed closes the connection of a session that has ended, when what was answered before is sent. One that
// asked for it itself is closed by its own request, after the reply.
func (r *Replica) sessionClosed(id int64) {
	if c := r.bySession[id]; c != nil && !c.leaving {
		c.parked = true
		c.out.finish()
	}
}

func (r *Replica) dropClients() {
	if r.paused {
		r.dropping = true
		return
	}
	for _, c := range slices.Clone(r.conns.items) {
		c.shut()
	}
}

// dropSilent closes connections that have sent nothing for their session's timeout, and those that have
// not even asked for a session in handshakeTimeout.
func (r *Replica) dropSilent(now time.Time) {
	if r.paused {
		return
	}
	for _, c := range slices.Clone(r.conns.items) {
		if now.Sub(c.heard) >= c.timeout {
			c.shut()
		}
	}
}

// listen opens the replica's port.
func (r *Replica) listen() error {
	listener, err := net.Listen("tcp", r.addr)
	if err != nil {
		return err
	}
	if r.listener == nil { // it has a name from now on, which is read without the lock
		r.addr = listener.Addr().String()
	}
	r.listener = listener
	return nil
}

// run accepts connections until the listener is closed.
func (r *Replica) run() {
	listener := r.listener
	r.tasks.Go(func() {
		for {
			stream, err := listener.Accept()
			switch {
			case errors.Is(err, net.ErrClosed):
				return
			case err != nil: // out of descriptors, perhaps: not for ever
				time.Sleep(10 * time.Millisecond)
				continue
			}
			if !r.serve(stream) {
				_ = stream.Close()
			}
		}
	})
}

// serve starts a connection. It reports false when the replica takes none.
func (r *Replica) serve(stream net.Conn) bool {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if !r.running || r.refusing || r.e.closed {
		return false
	}
	c := newConn(r, stream)
	r.conns.add(c)
	r.tasks.Go(c.read)
	r.tasks.Go(c.write)
	return true
}

// dial opens a connection that needs no network.
func (r *Replica) dial(ctx context.Context) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	client, server := net.Pipe()
	if !r.serve(server) {
		_ = client.Close()
		_ = server.Close()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errRefused}
	}
	return client, nil
}

var errRefused = errors.New("embedded: connection refused")
