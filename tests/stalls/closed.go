package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// brokenNode has an operator break the nodes of holders, whose sessions live on. The others wait behind them.
func brokenNode(r *round) error {
	clients, err := r.behindProxies(r.follower, r.o.timeout)
	if err != nil {
		return err
	}
	return r.takeAway(clients, func(i int, t *trial) error {
		queue, err := r.near.Queue(r.ctx, t.path)
		if err != nil {
			return err
		}
		ours := clients[i].client.Session().ID()
		at := slices.IndexFunc(queue, func(c messages.Contender) bool { return c.Session == ours })
		if at < 0 {
			return nil // on a busy machine it has lost its lease
		}
		if err = r.near.Break(r.ctx, queue[at]); errors.Is(err, locks.ErrGone) {
			return nil
		}
		return err
	})
}

// closedThrough has somebody else close the sessions of holders, which are connected all the time: through the server that
// a session is at, or through another one. The connect strings of the holders name that server alone, or all three.
func closedThrough(own, three bool) func(r *round) error {
	return func(r *round) error {
		open := func() ([]proxied, error) { return r.behindProxies(r.follower, r.o.timeout) }
		if three {
			open = r.behindThree
		}
		clients, err := open()
		if err != nil {
			return err
		}
		cfg, err := zkconn.NewConfig(r.follower.Addr())
		if err != nil {
			return err
		}
		return r.takeAway(clients, func(i int, _ *trial) error {
			id, password, ok := clients[i].proxy.Session()
			if !ok {
				return fmt.Errorf("client %d has no session", i)
			}
			through := clients[i].at
			if !own {
				through = r.other
			}
			return r.closeSession(cfg, through, id, password)
		})
	}
}

// closeSession closes a session through a server. Where its client connects there at the same moment, a follower answers
// one of the two and forgets the other ("Missing session for validation"): that attempt is given up after T.
func (r *round) closeSession(cfg zkconn.Config, through *rig.Server, id int64, password []byte) error {
	for {
		ctx, cancel := context.WithTimeout(r.ctx, r.o.timeout)
		_, err := zkconn.CloseSession(ctx, cfg, through.Addr(), id, password)
		cancel()
		if err == nil || r.ctx.Err() != nil {
			return err
		}
	}
}

// behindThree opens a client for each trial with proxies of its own to all members, and gives that of the member that the
// client is at.
func (r *round) behindThree() ([]proxied, error) {
	clients := make([]proxied, len(r.trials))
	return clients, r.each(func(i int, t *trial) error {
		var all []proxied
		var addrs []string
		for _, member := range r.servers() {
			proxy, err := r.proxy(member)
			if err != nil {
				return err
			}
			all, addrs = append(all, proxied{proxy: proxy, at: member}), append(addrs, proxy.Addr())
		}
		client, err := r.open(strings.Join(addrs, ","), r.o.timeout)
		if err != nil {
			return err
		}
		if err := r.once(r.asking, t.path, client); err != nil {
			return err
		}
		ours := func(p proxied) bool {
			id, _, ok := p.proxy.Session()
			return ok && id == client.Session().ID() && p.proxy.Connections() > 0
		}
		at := slices.IndexFunc(all, ours)
		for ; at < 0; at = slices.IndexFunc(all, ours) { // on a busy machine it may be on its way to another member
			if err := pause(r.ctx, lookEvery); err != nil {
				return fmt.Errorf("client %d is at no member: %w", i, err)
			}
		}
		clients[i], clients[i].client = all[at], client
		return nil
	})
}

// takeAway has the clients hold their locks, and others wait behind them. Then each is struck, at some time between two
// of its heartbeats, and the leases are watched until the others hold and for 1.5 T more: no lease can last longer.
func (r *round) takeAway(clients []proxied, strike func(i int, t *trial) error) error {
	var taken atomic.Int64
	if err := r.holdAll(clients, func(bool) { taken.Add(1) }); err != nil {
		return err
	}
	if err := pause(r.ctx, r.timeouts(0.5)); err != nil {
		return err
	}
	struck := make(chan error, len(r.trials))
	for i, t := range r.trials {
		after := r.between(0, 1)
		r.running.Go(func() {
			err := pause(r.ctx, after)
			if err == nil {
				err = strike(i, t)
			}
			struck <- err
		})
	}
	for range r.trials {
		if err := <-struck; err != nil {
			return err
		}
	}
	if err := r.awaitGrants(&taken); err != nil {
		return err
	}
	return pause(r.ctx, r.timeouts(1.5))
}

// awaitGrants waits until so many locks were granted to others as there are trials.
func (r *round) awaitGrants(granted *atomic.Int64) error {
	ctx, cancel := context.WithTimeout(r.ctx, settleTime)
	defer cancel()
	for granted.Load() < int64(len(r.trials)) {
		if pause(ctx, 50*time.Millisecond) != nil {
			return fmt.Errorf("%d of %d locks were granted to others", granted.Load(), len(r.trials))
		}
	}
	return nil
}
