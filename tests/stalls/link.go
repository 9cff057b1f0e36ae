package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
)

// state says what the sessions at the follower have done before a stall.
type state int

const (
	idle  state = iota
	busy        // locked and unlocked a path of their own
	fresh       // connected right before it
)

// stalledLink stalls one direction of the link between the leader and a follower.
// Sessions at the follower ask for locks meanwhile; one in five holds its lock
// before. Others at the leader and at the other follower queue behind them. The
// link is healed when one of those is granted a lock for which it had to wait, or
// after 3 T; in one round of four after less, drawn at random.
func stalledLink(down bool, before state) func(r *round) error {
	return func(r *round) error {
		clients, stopWork, err := r.prepare(before)
		defer stopWork()
		if err != nil {
			return err
		}
		link := r.ensemble.Link(r.follower, r.leader)
		if down {
			link = r.ensemble.Link(r.leader, r.follower)
		}
		begin := time.Now()
		link.Stall()
		healed := make(chan struct{})
		heal := sync.OnceFunc(func() { link.Heal(); close(healed) })
		for i, t := range r.trials {
			ask := r.between(r.o.askFrom, r.o.askTo)
			held := t.grants() > 0
			if !held {
				r.running.Go(func() {
					if pause(r.asking, time.Until(begin.Add(ask))) == nil {
						r.contend(t, contender{side: affected, client: clients[i], keep: r.timeouts(0.8)})
					}
				})
			}
			r.follow(t, ask+r.timeouts(0.3), r.timeouts(0.3), func(waited bool) {
				// Down, a lease from before the stall is lost, and its node deleted, long before any
				// session expires; up, nobody waits but behind such a lease.
				if waited && down != held {
					heal()
				}
			})
		}
		limit := r.timeouts(3)
		if r.found.Rounds%4 == 3 {
			limit = r.between(0.2, 3)
		}
		select {
		case <-healed:
		case <-time.After(limit):
		}
		heal()
		return pause(r.ctx, r.timeouts(1.2))
	}
}

// prepare opens a client at the follower for each trial, and has it do what is to come before the
// stall. The function that it returns is to be called in any case.
func (r *round) prepare(before state) (clients []*locks.Client, stopWork func(), err error) {
	work, stopWork := context.WithCancel(r.asking)
	clients = make([]*locks.Client, len(r.trials))
	err = r.each(func(i int, t *trial) (err error) {
		if clients[i], err = r.open(r.follower.Addr(), r.o.timeout); err == nil {
			err = r.once(work, t.path, clients[i])
		}
		return err
	})
	if err != nil {
		return nil, stopWork, err
	}
	if before == busy {
		for i, c := range clients {
			r.running.Go(func() { r.work(work, fmt.Sprintf("/busy-%d-%d", r.found.Rounds, i), c) })
		}
	}
	err = r.each(func(i int, t *trial) error {
		if i%5 > 0 {
			return nil
		}
		granted := make(chan struct{})
		r.begin(t, contender{side: affected, client: clients[i], keep: r.timeouts(3),
			granted: func(*hold) { close(granted) }})
		select {
		case <-granted:
			return nil
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	})
	if err == nil && before != fresh {
		err = pause(r.ctx, r.timeouts(1)+r.between(0, 0.3))
	}
	return clients, stopWork, err
}

// work locks and unlocks a path of its own.
func (r *round) work(ctx context.Context, path string, c *locks.Client) {
	for r.once(ctx, path, c) == nil && pause(ctx, 100*time.Millisecond) == nil {
	}
}
