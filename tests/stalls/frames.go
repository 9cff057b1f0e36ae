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
}

// behindProxies opens a client at the member for each trial, through a proxy of
// its own.
func (r *round) behindProxies(member *rig.Server, timeout time.Duration) ([]proxied, error) {
	clients := make([]proxied, len(r.trials))
	return clients, r.each(func(i int, t *trial) (err error) {
		if clients[i].proxy, err = r.proxy(member); err == nil {
			clients[i].client, err = r.open(clients[i].proxy.Addr(), timeout)
		}
		if err == nil {
			err = r.once(r.asking, t.path, clients[i].client)
		}
		return err
	})
}

// holdUp holds up the frames of each client for 0.1 to 0.9 T, so that all go on
// at the same time, and has each ask for its lock then. Others queue behind it.
// Every other client is held up right after a ping of its own, which leaves the
// longest time between two frames.
func (r *round) holdUp(clients []proxied, granted func(i int, h *hold)) error {
	if err := pause(r.ctx, r.timeouts(0.5)+r.between(0, 0.5)); err != nil {
		return err
	}
	resume := time.Now().Add(r.timeouts(0.95))
	for i, t := range r.trials {
		held := r.between(0.1, 0.9)
		proxy := clients[i].proxy
		r.running.Go(func() {
			defer proxy.Resume(rig.Up)
			if pause(r.asking, time.Until(resume.Add(-held))) != nil {
				return
			}
			if i%2 == 1 {
				r.afterPing(proxy, time.Until(resume.Add(-r.timeouts(0.1))))
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
	limit := time.Now().Add(d)
	for before := proxy.Requests(rig.OpPing); proxy.Requests(rig.OpPing) == before && time.Now().Before(limit); {
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

// heldFrames cuts each client off right after its grant. In every other round the
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
	if r.found.Rounds%2 == 1 {
		r.ensemble.Link(r.leader, r.follower).Stall()
	}
	return pause(r.ctx, r.timeouts(2.2)+r.o.tick)
}
