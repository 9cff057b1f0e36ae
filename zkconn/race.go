package zkconn

import (
	"context"
	"net"
	"time"
)

// race dials where reconnecting is urgent: attempts overlap (RFC 8305, "happy eyeballs"). A server that does not answer (its
// packets are dropped, or its kernel accepts and TLS gets no further) so costs a moment in place of the rest of the lease.
// It tries the addresses of the round one after the other, the next as soon as one fails or has had its time to itself;
// the first to be connected wins. An address gets one more attempt each twentieth of the session timeout, because the
// kernel sends a packet that was dropped again after a second at the earliest. When it is not urgent any more, no more
// attempts begin.
//
// Only dialing overlaps. Two connect requests for one session at two servers would take it from each other.
type race struct {
	conn    *Conn
	network string
	ctx     context.Context
	results chan attempt
	over    chan struct{}      // closed when somebody has won or nobody will
	running map[string]running // by address
	next    *time.Timer        // when the next attempt begins
}

// attempt is one that has come to its end.
type attempt struct {
	host host
	conn net.Conn
	err  error
}

// running is the attempts at one address that have not come to their end.
type running struct {
	count int
	begun time.Time // the newest
}

// race gives the first connection to any server, beginning with first, and the server; or the error of the last.
func (c *Conn) race(network string, first host) (net.Conn, host, error) {
	ctx, cancel := context.WithCancel(c.dialing)
	defer cancel()
	r := &race{
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

// hopeless says whether there is nothing more to wait for: Next goes on, after its pause.
func (r *race) hopeless() bool {
	hosts := r.conn.hosts
	return r.ctx.Err() != nil || len(r.running) == 0 && (len(hosts.queue) == 0 || !hosts.urgency.urgent())
}

// again follows a failure while other attempts run, or there are addresses to try: by the next address of the round at
// once, by the next round after a pause.
func (r *race) again() {
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

// beginNext begins an attempt at the next address that may have one, if there is any.
func (r *race) beginNext() {
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

func (r *race) begin(h host) {
	r.running[h.address] = running{count: r.running[h.address].count + 1, begun: time.Now()}
	r.conn.racing.Go(func() {
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

func (r *race) ended(h host) {
	at := r.running[h.address]
	if at.count--; at.count == 0 {
		delete(r.running, h.address)
	} else {
		r.running[h.address] = at
	}
}
