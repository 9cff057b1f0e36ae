package main

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// lookAtReconnect cuts the connection of a session of its own, and sees whether the servers give that session back. All
// leases rest on it: where a reconnect gets another session, as from ClickHouse Keeper, a holder loses its lock with
// every connection.
func (e *examination) lookAtReconnect(ctx context.Context) {
	const what = "reconnect"
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	var current atomic.Pointer[net.Conn]
	cfg, err := e.config(zkconn.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil {
			current.Store(&conn)
		}
		return conn, err
	}))
	if err != nil {
		e.note(broken, what, "", "%v", err)
		return
	}
	events := make(chan zkconn.Event, 8)
	conn, err := zkconn.Dial(cfg, 1, func(event zkconn.Event) {
		switch event.Kind {
		case zkconn.Connected, zkconn.Expired:
			select {
			case events <- event:
			default: // it has been told enough
			}
		}
	})
	if err != nil {
		e.note(broken, what, "", "%v", err)
		return
	}
	defer conn.Close()
	first, err := next(ctx, events)
	if err != nil || first.Kind == zkconn.Expired {
		e.note(odd, what, lookThere, "a second session did not begin within %v", e.timeout)
		return
	}
	cut := time.Now()
	_ = (*current.Load()).Close()
	switch second, err := next(ctx, events); {
	case err != nil:
		e.note(odd, what, lookThere, "0x%x was not given back within %v", first.SessionID, e.timeout)
	case errors.Is(second.Err, zkconn.ErrOtherSession):
		e.note(broken, what, "no lock can be kept here: a server or a proxy begins another session on a reconnect, as ClickHouse "+
			"Keeper does; run ZooKeeper 3.9.5 or 3.8.6, and name its servers themselves in --zk",
			"0x%x was asked for again, and another session was handed out", first.SessionID)
	case second.Kind == zkconn.Expired:
		e.note(broken, what, "no lock can be kept here: are all servers of --zk members of one ensemble?",
			"0x%x was asked for again at once, and is said to be over", first.SessionID)
	default:
		e.note(fine, what, "", "%s gave 0x%x back in %v", second.Server, second.SessionID, round(time.Since(cut)))
	}
}

// lookThere is what to do about a session that does not begin, or does not go on.
const lookThere = "look at the servers' logs, and at what is between here and there"

// next waits for an event.
func next(ctx context.Context, events <-chan zkconn.Event) (zkconn.Event, error) {
	select {
	case event := <-events:
		return event, nil
	case <-ctx.Done():
		return zkconn.Event{}, context.Cause(ctx)
	}
}
