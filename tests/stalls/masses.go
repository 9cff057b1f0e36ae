package main

import (
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// slowLog has each session that is ended cost its line in the log.
func slowLog(o options) []rig.Option {
	return append(silences(o, 8*o.timeout), rig.WithSlowLog(o.lines))
}

// massExpiry has the clients at a follower, or at the one server there is.
func massExpiry(r *round) error { return r.massExpiry(r.follower) }

// massExpiryAtLeader has them at the leader, which ends the sessions and serves the reconnects alike.
func massExpiryAtLeader(r *round) error { return r.massExpiry(r.leader) }

// massExpiry lets many sessions fall silent at one instant, and cuts off a client for each trial
// then. The server takes all of them off its queue at once and ends them one by one
// (SessionTrackerImpl.run). Each client reconnects at a moment of its own, from 0.8 T to 1.6 T
// after that, and asks for its lock. A client that comes inside the loop is renewed, has
// transactions committed, and is ended all the same. One client in five has held its lock before.
// One in two hears nothing more once it has been granted its lock. Others queue behind them.
func (r *round) massExpiry(member *rig.Server) error {
	clients, err := r.behindProxies(member, r.o.timeout)
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
	formers, err := r.holdSome(clients)
	if err != nil {
		return err
	}
	if err := masses.FallSilent(); err != nil {
		return err
	}
	// The newest packet of a client is up to a sixth of T old.
	if err := pause(r.ctx, r.timeouts(0.08)); err != nil {
		return err
	}
	var asked sync.WaitGroup
	cut := time.Now()
	for _, c := range clients {
		cutOff(c.proxy, true)
	}
	for i, t := range r.trials {
		comes, proxy := r.between(0.8, 1.6), clients[i].proxy
		who := contender{side: affected, client: clients[i].client, keep: r.timeouts(1.5), granted: func(*hold) {
			t.wait.granted = time.Now()
			if i%2 == 1 {
				proxy.Stall(rig.Down)
			}
		}}
		asked.Go(func() {
			if pause(r.asking, time.Until(cut.Add(comes))) != nil {
				return
			}
			t.wait = &wait{since: time.Now(), former: formers[i]}
			cutOff(proxy, false)
			r.queueBehind(t, &asked)
			if !r.contend(t, who) {
				r.never.Add(1)
			}
			proxy.Resume(rig.Down)
		})
	}
	return r.awaitAll(&asked)
}

// queueBehind has both clients that the fault does not befall queue behind the affected one, or without it after T. Each
// is to be granted.
func (r *round) queueBehind(t *trial, asked *sync.WaitGroup) {
	asked.Go(func() {
		r.queued(t, r.timeouts(1))
		for _, c := range []*locks.Client{r.near, r.far} {
			asked.Go(func() {
				if !r.contend(t, contender{side: others, client: c, keep: r.timeouts(0.3)}) {
					r.never.Add(1)
				}
			})
		}
	})
}

// holdSome has one client in five hold its lock, and gives the node of each.
func (r *round) holdSome(clients []proxied) ([]*former, error) {
	formers := make([]*former, len(r.trials))
	return formers, r.each(func(i int, t *trial) (err error) {
		if i%5 > 0 {
			return nil
		}
		held := make(chan struct{})
		r.begin(t, contender{side: affected, client: clients[i].client, keep: r.timeouts(3),
			granted: func(*hold) { close(held) }})
		select {
		case <-held:
			formers[i], err = r.keepAnEyeOn(t)
			return err
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	})
}

// awaitAll waits for the requests, which must end, until a minute after the servers can have ended
// all sessions. Then it has the remaining ones give up.
func (r *round) awaitAll(asked *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() { asked.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(settleTime + r.o.pace()):
		r.enough()
		<-done
	}
	return r.ctx.Err()
}
