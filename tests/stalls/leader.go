package main

import (
	"time"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// sessionsOfEach is the number of sessions that contend at each member while the leader is paused;
// they share the trials.
const sessionsOfEach = 10

// pausedLeader pauses the leader while every lock is handed around among sessions
// at all members, and lets it go on or kills it. Half of the sessions know their
// member alone, the others the whole ensemble.
func pausedLeader(kill bool) func(r *round) error {
	return func(r *round) error {
		if err := r.handAround(); err != nil {
			return err
		}
		if err := pause(r.ctx, r.timeouts(0.5)+r.between(0, 0.5)); err != nil {
			return err
		}
		if err := r.leader.Pause(); err != nil {
			return err
		}
		err := pause(r.ctx, r.between(0.2, 3))
		if err == nil && kill {
			err = r.leader.Kill()
		} else if err == nil {
			err = r.leader.Resume()
		}
		if err != nil {
			return err
		}
		return pause(r.ctx, r.timeouts(2))
	}
}

// askedWhilePaused has idle sessions at a follower ask for locks while the leader is
// paused, for 0.7 to 1.5 T, so that it finds their requests when it goes on, and that it is time to
// expire the sessions. Others queue behind them.
func askedWhilePaused(r *round) error {
	clients, stopWork, err := r.prepare(idle)
	defer stopWork()
	if err != nil {
		return err
	}
	length := r.between(0.7, 1.5)
	if err := r.leader.Pause(); err != nil {
		return err
	}
	begin := time.Now()
	for i, t := range r.trials {
		ask := time.Duration(float64(length) * (0.5 + 0.5*r.fraction()))
		if t.grants() == 0 {
			r.running.Go(func() {
				if pause(r.asking, time.Until(begin.Add(ask))) == nil {
					r.contend(t, contender{side: affected, client: clients[i], keep: r.timeouts(0.8)})
				}
			})
		}
		r.follow(t, length+r.timeouts(0.2), r.timeouts(0.3), func(bool) {})
	}
	if err := pause(r.ctx, length); err != nil {
		return err
	}
	if err := r.leader.Resume(); err != nil {
		return err
	}
	return pause(r.ctx, r.timeouts(2)+r.o.tick)
}

// handAround has sessions at all members lock and unlock every trial's path until
// the round ends. Those at the leader count as affected.
func (r *round) handAround() error {
	for _, member := range r.ensemble.Members() {
		clients, err := r.openSome(member)
		if err != nil {
			return err
		}
		who := others
		if member == r.leader {
			who = affected
		}
		for i, t := range r.trials {
			client := clients[i%len(clients)]
			r.running.Go(func() {
				for r.contend(t, contender{side: who, client: client, keep: r.between(0.02, 0.6)}) {
				}
			})
		}
	}
	return nil
}

func (r *round) openSome(member *rig.Server) (clients []*locks.Client, err error) {
	for i := range min(sessionsOfEach, len(r.trials)) {
		servers := member.Addr()
		if i%2 == 1 {
			servers = r.ensemble.Addrs()
		}
		c, err := r.open(servers, r.o.timeout)
		if err != nil {
			return nil, err
		}
		clients = append(clients, c)
	}
	return clients, nil
}
