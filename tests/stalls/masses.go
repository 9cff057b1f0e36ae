package main

import (
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// slowLog has each session that is ended cost its line in the log.
func slowLog(o options) []rig.Option {
	return append(silences(o, 8*o.timeout), rig.WithSlowLog(o.lines))
}

// massExpiry lets many sessions fall silent at one instant, and cuts off a client for each trial then. The server takes
// all of them off its queue at once and ends them one by one (SessionTrackerImpl.run). Each client reconnects at a
// moment of its own, from 0.8 T to 1.6 T after that, and asks for its lock. Whoever comes inside the loop is renewed, has
// transactions committed, and is ended all the same. One client in five has held its lock before. One in two hears
// nothing more once it has been granted its lock. Others queue behind them.
func massExpiry(r *round) error {
	clients, err := r.behindProxies(r.follower, r.o.timeout)
	if err != nil {
		return err
	}
	var addrs []string
	for _, server := range r.servers() {
		addrs = append(addrs, server.Addr())
	}
	masses, err := rig.OpenCrowd(r.ctx, addrs, r.o.sessions, r.o.timeout)
	defer masses.Leave()
	if err != nil {
		return err
	}
	var asked sync.WaitGroup
	if err := r.holdSome(clients); err != nil {
		return err
	}
	if err := masses.FallSilent(); err != nil {
		return err
	}
	// The newest packet of a client is up to a sixth of T old.
	if err := pause(r.ctx, r.timeouts(0.08)); err != nil {
		return err
	}
	cut := time.Now()
	for _, c := range clients {
		cutOff([]*rig.Proxy{c.proxy}, true)
	}
	for i, t := range r.trials {
		comes, proxy := r.between(0.8, 1.6), clients[i].proxy
		who := contender{side: affected, client: clients[i].client, keep: r.timeouts(1.5)}
		if i%2 == 1 {
			who.granted = func(*hold) { proxy.Stall(rig.Down) }
		}
		asked.Go(func() {
			if pause(r.asking, time.Until(cut.Add(comes))) != nil {
				return
			}
			cutOff([]*rig.Proxy{proxy}, false)
			r.follow(t, r.timeouts(1), r.timeouts(0.3), func(bool) {})
			if !r.contend(t, who) {
				r.never.Add(1)
			}
			proxy.Resume(rig.Down)
		})
	}
	return r.awaitAll(&asked)
}

// holdSome has one client in five hold its lock.
func (r *round) holdSome(clients []proxied) error {
	return r.each(func(i int, t *trial) error {
		if i%5 > 0 {
			return nil
		}
		held := make(chan struct{})
		r.begin(t, contender{side: affected, client: clients[i].client, keep: r.timeouts(3),
			granted: func(*hold) { close(held) }})
		select {
		case <-held:
			return nil
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	})
}

// awaitAll waits for what is bound to end, for a minute. Then it has those who ask give up.
func (r *round) awaitAll(asked *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() { asked.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(settleTime):
		r.enough()
		<-done
	}
	return r.ctx.Err()
}
