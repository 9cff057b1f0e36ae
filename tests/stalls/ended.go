package main

import (
	"fmt"
	"net"
	"sync/atomic"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// endedElsewhere closes the sessions of holders, each through a second connection to its follower, at the moment at which
// the holder connects there again. In some trials the follower takes the close for its own client's, and the holder's
// connection stays. Others queue behind the holders, and keep what they are granted for longer than a session timeout.
func endedElsewhere(r *round) error {
	clients, err := r.behindProxies(r.follower, r.o.timeout)
	if err != nil {
		return err
	}
	var taken atomic.Int64
	if err := r.holdAll(clients, func(bool) { taken.Add(1) }); err != nil {
		return err
	}
	if err := pause(r.ctx, r.timeouts(0.5)); err != nil {
		return err
	}
	if err := r.endAll(clients); err != nil {
		return err
	}
	if err := r.awaitGrants(&taken); err != nil {
		return err
	}
	return pause(r.ctx, r.timeouts(1.5)) // an overlap of more than T is one too many
}

// writesBefore are queued ahead of the closes, so that the leader hears of a renewed session before it handles the close.
const writesBefore = 1000

// endAll closes the session of every client through a second connection, and lets the client connect again right behind
// the close. The leader finds writes, closes and renewals in its stream: it answers a renewal when it reads it, and handles
// writes and closes in a queue. So it renews sessions whose close is on its way.
func (r *round) endAll(clients []proxied) error {
	writes, err := dial(r.ctx, r.follower.Addr())
	if err != nil {
		return err
	}
	defer writes.Close()
	seconds := make([]net.Conn, len(clients))
	defer func() {
		for _, conn := range seconds {
			if conn != nil {
				_ = conn.Close()
			}
		}
	}()
	for i, c := range clients {
		id, password, ok := c.proxy.Session()
		if !ok {
			return fmt.Errorf("client %d has no session", i)
		}
		cutOff(c.proxy, true)
		if seconds[i], _, err = rig.OpenSession(r.ctx, r.follower.Addr(), r.o.timeout, id, password); err != nil {
			return err
		}
	}
	link := r.ensemble.Link(r.follower, r.leader)
	link.Stall()
	defer link.Heal()
	for range writesBefore {
		r.running.Go(func() { _, _ = writes.Set(r.trials[0].path, nil, -1) }) // it only takes the leader's time
	}
	if err := pause(r.ctx, r.timeouts(0.03)); err != nil {
		return err
	}
	for _, conn := range seconds {
		if _, err := conn.Write(rig.CloseFrame()); err != nil {
			return err
		}
	}
	if err := pause(r.ctx, r.timeouts(0.02)); err != nil {
		return err
	}
	for _, c := range clients {
		cutOff(c.proxy, false)
	}
	return pause(r.ctx, r.timeouts(0.08))
}
