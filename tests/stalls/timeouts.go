package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// The members whose session timeouts differ, counted from 0; the third grants
// what is asked for.
const (
	generous = 0 // grants a long timeout to every request
	strict   = 1 // grants T at most
)

// long is the longer timeout: so long that a lease that goes by it outlives what the
// others need to get the locks.
func long(o options) time.Duration { return min(15*o.timeout, time.Minute) }

// movedTimeout moves clients that hold their locks to a member that grants a
// shorter or a longer timeout, lets them hear of it, and cuts them off. With a
// longer one the leader is killed, for a new leader takes up sessions with the
// timeout of their creation. Others queue behind them.
func movedTimeout(grow bool) func(r *round) error {
	return func(r *round) error {
		members := r.ensemble.Members()
		from, to, granted := members[generous], members[strict], r.o.timeout
		if grow {
			from, to, granted = to, from, long(r.o)
		}
		clients, err := r.behindProxies(from, long(r.o))
		if err != nil {
			return err
		}
		// The members that the round has cast may be these two, or die.
		if r.near, err = r.open(r.ensemble.Addrs(), r.o.timeout); err != nil {
			return err
		}
		if r.far, err = r.open(members[2].Addr()+","+members[strict].Addr(), r.o.timeout); err != nil {
			return err
		}
		var others atomic.Int64
		if err := r.holdAll(clients, func(bool) { others.Add(1) }); err != nil {
			return err
		}
		if err := r.move(clients, to, granted); err != nil {
			return err
		}
		for _, c := range clients {
			c.proxy.Refuse(true)
			c.proxy.Cut()
		}
		if grow {
			if err := r.leader.Kill(); err != nil {
				return err
			}
		}
		for limit := time.Now().Add(r.timeouts(9) + settleTime/2); others.Load() < int64(len(r.trials)); {
			if time.Now().After(limit) {
				return nil
			}
			if err := pause(r.ctx, 50*time.Millisecond); err != nil {
				return err
			}
		}
		// A lease that goes on by the longer timeout may outlive this.
		return pause(r.ctx, r.timeouts(6))
	}
}

// holdAll has every client hold its lock for the rest of the round, and others
// queue behind it; granted hears of theirs.
func (r *round) holdAll(clients []proxied, granted func(bool)) error {
	return r.each(func(i int, t *trial) error {
		held := make(chan struct{})
		r.begin(t, contender{side: affected, client: clients[i].client, keep: r.timeouts(30),
			granted: func(*hold) { close(held) }})
		select {
		case <-held:
			r.follow(t, 0, r.timeouts(20), granted)
			return nil
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	})
}

// move has every client reconnect to another member, and waits until it has been
// granted its timeout and has had time for a heartbeat.
func (r *round) move(clients []proxied, to *rig.Server, granted time.Duration) error {
	for _, c := range clients {
		c.proxy.SetTarget(to.Addr())
		c.proxy.Cut()
	}
	for i, c := range clients {
		for limit := time.Now().Add(settleTime / 2); c.proxy.Timeout() != granted; {
			if time.Now().After(limit) {
				return fmt.Errorf("client %d was granted %v by member %s, want %v", i, c.proxy.Timeout(), to.Addr(), granted)
			}
			if err := pause(r.ctx, 10*time.Millisecond); err != nil {
				return err
			}
		}
	}
	return pause(r.ctx, r.timeouts(0.5))
}
