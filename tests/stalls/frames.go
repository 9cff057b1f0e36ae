package main

import (
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// proxied is a client and what stands between it and its server.
type proxied struct {
	client *locks.Client
	proxy  *rig.Proxy
	at     *rig.Server // behind the proxy
}

// behindProxies opens a client at the member for each trial, through a proxy of
// its own.
func (r *round) behindProxies(member *rig.Server, timeout time.Duration) ([]proxied, error) {
	clients := make([]proxied, len(r.trials))
	return clients, r.each(func(i int, t *trial) (err error) {
		clients[i].at = member
		if clients[i].proxy, err = r.proxy(member); err == nil {
			clients[i].client, err = r.open(clients[i].proxy.Addr(), timeout)
		}
		if err == nil {
			err = r.once(r.asking, t.path, clients[i].client)
		}
		return err
	})
}

// holdUp holds up the frames of each client so that all go on at the same time, and
// has each ask for its lock then. Others queue behind it. In even rounds it holds
// each up for 0.1 to 0.9 T; in odd ones for 0.6 to 0.66 T, right from a ping of the
// client: the longest that no frame is heard of it while it keeps its connection.
func (r *round) holdUp(clients []proxied, granted func(i int, h *hold)) error {
	if err := pause(r.ctx, r.timeouts(0.5)+r.between(0, 0.5)); err != nil {
		return err
	}
	aligned := r.found.Rounds%2 == 1
	resume := time.Now().Add(r.timeouts(0.95))
	if aligned { // clients that were opened together ping together
		var pinged sync.WaitGroup
		for _, c := range clients {
			pinged.Go(func() { r.afterPing(c.proxy, r.timeouts(0.4)); c.proxy.Stall(rig.Up) })
		}
		r.afterPing(clients[0].proxy, r.timeouts(0.4))
		resume = time.Now().Add(r.between(0.6, 0.66))
		pinged.Wait()
	}
	for i, t := range r.trials {
		held, proxy := r.between(0.1, 0.9), clients[i].proxy
		r.running.Go(func() {
			defer proxy.Resume(rig.Up)
			if !aligned && pause(r.asking, time.Until(resume.Add(-held))) != nil {
				return
			}
			proxy.Stall(rig.Up)
			if pause(r.asking, time.Until(resume)) != nil {
				return
			}
			proxy.Resume(rig.Up)
			r.follow(t, r.timeouts(0.5), r.timeouts(0.3), func(bool) {})
			r.contend(t, contender{side: affected, client: clients[i].client, keep: r.timeouts(2),
				granted: func(h *hold) { granted(i, h) }})
		})
	}
	return pause(r.ctx, time.Until(resume))
}

// afterPing waits until a ping has passed, for at most d.
func (r *round) afterPing(proxy *rig.Proxy, d time.Duration) {
	limit, before := time.Now().Add(d), proxy.Requests(rig.OpPing)
	for proxy.Requests(rig.OpPing) == before && time.Now().Before(limit) {
		if pause(r.asking, lookEvery) != nil {
			return
		}
	}
}

// killedFollower kills the follower within milliseconds of the first grant that it
// has told its clients of. They have nowhere else to go.
func killedFollower(r *round) error {
	clients, err := r.behindProxies(r.follower, r.o.timeout)
	if err != nil {
		return err
	}
	if err := r.heldUpAndGranted(clients, func(int) {}); err != nil {
		return err
	}
	if err := r.follower.Kill(); err != nil {
		return err
	}
	return pause(r.ctx, r.timeouts(2)+r.o.tick)
}

// heldUpAndGranted holds clients up and returns within milliseconds of the first
// of their grants. A ping of the leader, each half tick, brings a touch: waiting
// for more grants would spoil the attack.
func (r *round) heldUpAndGranted(clients []proxied, granted func(i int)) error {
	first := make(chan struct{})
	found := sync.OnceFunc(func() { close(first) })
	err := r.holdUp(clients, func(i int, _ *hold) {
		found()
		granted(i)
	})
	if err != nil {
		return err
	}
	select {
	case <-first:
		return pause(r.ctx, time.Duration(r.pick(20))*time.Millisecond)
	case <-time.After(r.timeouts(0.5)):
		return nil
	}
}

// heldFrames cuts each client off right after its grant. In two rounds of four the
// leader's pings do not reach their follower any more from the first grant on.
func heldFrames(r *round) error {
	clients, err := r.behindProxies(r.follower, r.o.timeout)
	if err != nil {
		return err
	}
	err = r.heldUpAndGranted(clients, func(i int) {
		clients[i].proxy.Refuse(true)
		clients[i].proxy.Cut()
	})
	if err != nil {
		return err
	}
	if r.found.Rounds%4 > 1 {
		r.ensemble.Link(r.leader, r.follower).Stall()
	}
	return pause(r.ctx, r.timeouts(2.2)+r.o.tick)
}
