package stalls

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

var (
	trials   = flag.Int("trials", 0, "trials of each scenario; 0: as many as the test wants")
	session  = flag.Duration("session", 2*time.Second, "session timeout T, four ticks of the servers")
	sessions = flag.Int("sessions", 600, "other sessions that expire at the same time")
	lines    = flag.Int("lines", 800, "lines a second that the servers' log takes; a million: as fast as it can")
)

func tick() time.Duration { return *session / 4 }

// pace is the time that servers take to log the end of all sessions.
func pace() time.Duration {
	return time.Duration(*sessions) * time.Second / time.Duration(*lines)
}

// The link from the leader to a follower stalls, and the sessions there expire while their holders hear nothing. A holder
// that dialed again would be touched through the other direction, so nobody can. Mistake LeaseTooLong makes this fail.
func TestNoOverlapWhileALinkStalls(t *testing.T) {
	attacked(t, scenario{members: 3, trials: 40, width: 20, play: func(r *round) error {
		return r.takeAway(func(r *round, clients []proxied) error {
			for _, c := range clients {
				c.proxy.Refuse(true)
			}
			r.ensemble.Link(r.leader, r.follower).Stall() // until the end of the round
			return nil
		}, r.follower)
	}})
}

// Many sessions expire at one instant, and the server's log is slow. Clients that reconnect
// meanwhile are renewed and ended all the same. No two leases are valid at once, and each lock is
// granted. Mistake ChainUnbroken makes each of these fail. At the leader, which serves the
// reconnects as well, it strikes in one trial of ten to sixty, so there are more of them.
func TestNoOverlapWhenManySessionsExpire(t *testing.T) {
	follower, leader := func(r *round) *rig.Server { return r.follower }, func(r *round) *rig.Server { return r.leader }
	for _, c := range []struct {
		name            string
		members, trials int
		at              func(r *round) *rig.Server
	}{{"masses-one", 1, 40, follower}, {"masses-three", 3, 40, follower}, {"masses-leader", 3, 120, leader}} {
		t.Run(c.name, func(t *testing.T) {
			attacked(t, scenario{members: c.members, trials: c.trials, width: 40, options: []rig.Option{rig.WithSlowLog(*lines)},
				play: func(r *round) error { return r.massExpiry(c.at(r)) }})
		})
	}
}

// massExpiry lets many sessions fall silent at one instant, and cuts off a client for each trial
// then. The server takes all of them off its queue at once and ends them one by one
// (SessionTrackerImpl.run). Each client reconnects at a moment of its own, from 0.8 T to 1.6 T
// after that, and asks for its lock. A client that comes inside the loop is renewed, has
// transactions committed, and is ended all the same. One client in five has held its lock before.
// One in two hears nothing more once it has been granted its lock. Others queue behind them.
func (r *round) massExpiry(member *rig.Server) error {
	clients, err := r.behind(member)
	if err != nil {
		return err
	}
	var addrs []string
	for _, server := range r.servers {
		addrs = append(addrs, server.Addr())
	}
	masses, err := rig.OpenCrowd(r.ctx, addrs, *sessions, *session)
	defer masses.Leave()
	if err == nil {
		err = r.each(func(i int, t *trial) error {
			if i%5 > 0 {
				return nil
			}
			return r.hold(t, clients[i].client, r.timeouts(3))
		})
	}
	if err == nil {
		err = masses.FallSilent()
	}
	// The newest packet of a client is up to a sixth of T old.
	if err == nil {
		err = pause(r.ctx, r.timeouts(0.08))
	}
	if err != nil {
		return err
	}
	var asked sync.WaitGroup
	asked.Add(3 * len(clients))
	done := func(granted bool) {
		if !granted {
			r.never.Add(1)
		}
		asked.Done()
	}
	cut := time.Now()
	for _, c := range clients {
		cutOff(c.proxy, true)
	}
	for i, t := range r.trials {
		comes, proxy := r.between(0.8, 1.6), clients[i].proxy
		r.running.Go(func() {
			_ = pause(r.asking, time.Until(cut.Add(comes)))
			cutOff(proxy, false)
			r.follow(t, r.timeouts(1), r.timeouts(0.3), done)
			done(r.contend(t, contender{affected: true, client: clients[i].client, keep: r.timeouts(1.5), granted: func() {
				if i%2 == 1 {
					proxy.Stall(rig.Down)
				}
			}}))
			proxy.Resume(rig.Down)
		})
	}
	// All must be granted, until a minute after the servers can have ended all sessions.
	granted := make(chan struct{})
	go func() { asked.Wait(); close(granted) }()
	select {
	case <-granted:
	case <-time.After(settleTime + pace()):
		r.enough()
		<-granted
	}
	return r.ctx.Err()
}

// The session of a holder is closed at its follower while it connects there again. In some trials the
// connection stays, and the servers refuse in a part of each heartbeat that the session is over. No
// lease is renewed by that. Mistake PartsUnread makes this fail.
func TestNoLeaseOfASessionEndedElsewhere(t *testing.T) {
	attacked(t, scenario{members: 3, trials: 20, width: 20, overlapping: *session, play: func(r *round) error {
		return r.takeAway((*round).endAll, r.follower)
	}})
}

// Somebody else breaks the node of a holder, or closes its session, through another server or through its own, which is
// the only one of its connect string, or one of three. The next holds beside it until it hears of that, and never for
// longer than a session timeout. LIMITS says for how long.
func TestHoldersHearThatTheirLockIsTaken(t *testing.T) {
	one := func(r *round) []*rig.Server { return []*rig.Server{r.follower} }
	through := func(own bool) func(r *round, i int, c proxied) error {
		return func(r *round, _ int, c proxied) error { return r.closeSession(c, own) }
	}
	for name, c := range map[string]struct {
		behind func(r *round) []*rig.Server
		strike func(r *round, i int, c proxied) error
	}{
		"broken":           {one, (*round).breakNode},
		"closed-elsewhere": {one, through(false)},
		"closed-alone":     {one, through(true)},
		"closed-of-three":  {func(r *round) []*rig.Server { return r.servers }, through(true)},
	} {
		t.Run(name, func(t *testing.T) {
			// So few locks are taken away in one round, each at some time of T, that none waits for another.
			attacked(t, scenario{members: 3, trials: 4, width: 10, overlapping: *session, play: func(r *round) error {
				return r.takeAway(func(r *round, clients []proxied) error {
					after := make([]time.Duration, len(clients))
					for i := range after {
						after[i] = r.between(0, 1)
					}
					struck := make(chan error, len(clients))
					for i, holder := range clients {
						r.running.Go(func() {
							_ = pause(r.ctx, after[i])
							struck <- c.strike(r, i, holder)
						})
					}
					var err error
					for range clients {
						err = errors.Join(err, <-struck)
					}
					return err
				}, c.behind(r)...)
			}})
		})
	}
}

// takeAway has clients hold their locks behind proxies to members, and others wait behind them. Then each is struck, and
// the leases are watched until the others hold and for 1.5 T more: no lease can last longer.
func (r *round) takeAway(strike func(r *round, clients []proxied) error, members ...*rig.Server) error {
	clients, err := r.behind(members...)
	if err != nil {
		return err
	}
	var taken atomic.Int64
	err = r.each(func(i int, t *trial) error {
		err := r.hold(t, clients[i].client, r.timeouts(30))
		r.follow(t, 0, r.timeouts(20), func(granted bool) {
			if granted {
				taken.Add(1)
			}
		})
		return err
	})
	if err == nil {
		err = pause(r.ctx, r.timeouts(0.5))
	}
	if err == nil {
		err = strike(r, clients)
	}
	ctx, cancel := context.WithTimeout(r.ctx, settleTime)
	defer cancel()
	for err == nil && taken.Load() < int64(len(r.trials)) {
		if pause(ctx, 50*time.Millisecond) != nil {
			err = fmt.Errorf("%d of %d locks were granted to others", taken.Load(), len(r.trials))
		}
	}
	if err == nil {
		err = pause(r.ctx, r.timeouts(1.5))
	}
	return err
}

// breakNode has an operator break the node of a holder, whose session lives on.
func (r *round) breakNode(i int, c proxied) error {
	queue, err := r.near.Queue(r.ctx, r.trials[i].path)
	if err != nil {
		return err
	}
	ours := c.client.Session().ID()
	at := slices.IndexFunc(queue, func(c messages.Contender) bool { return c.Session == ours })
	if at < 0 {
		return nil // on a busy machine it has lost its lease
	}
	if err = r.near.Break(r.ctx, queue[at]); errors.Is(err, locks.ErrGone) {
		return nil
	}
	return err
}

// closeSession closes the session of a holder, which is connected all the time: through the server that it is at, or
// through another one. Where its client connects there at the same moment, a follower answers one of the two and forgets
// the other ("Missing session for validation"): that attempt is given up after T.
func (r *round) closeSession(c proxied, own bool) error {
	cfg, err := zkconn.NewConfig(r.follower.Addr())
	if err != nil {
		return err
	}
	through := r.other
	if own {
		through = c.at
	}
	id, password, _ := c.proxy.Session()
	for {
		ctx, cancel := context.WithTimeout(r.ctx, *session)
		_, err := zkconn.CloseSession(ctx, cfg, through.Addr(), id, password)
		cancel()
		if err == nil || r.ctx.Err() != nil {
			return err
		}
	}
}

// writesBefore are queued ahead of the closes, so that the leader hears of a renewed session before it handles the close.
const writesBefore = 1000

// endAll closes the session of every client through a second connection to its follower, and lets the client connect again
// right behind the close. The leader finds writes, closes and renewals in its stream: it answers a renewal when it reads
// it, and handles writes and closes in a queue. So it renews sessions whose close is on its way. In some trials the
// follower takes the close for its own client's, and the holder's connection stays.
func (r *round) endAll(clients []proxied) error {
	writes := scene.Raw(r.t, 10*time.Second, r.follower.Addr())
	seconds := make([]net.Conn, len(clients))
	for i, c := range clients {
		id, password, _ := c.proxy.Session()
		cutOff(c.proxy, true)
		conn, _, err := rig.OpenSession(r.ctx, r.follower.Addr(), *session, id, password)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		seconds[i] = conn
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
