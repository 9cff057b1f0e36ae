package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// lookEvery is the pause between two looks at leases while nothing else happens. Shorter overlaps
// are still found where they include the instant of a grant.
const lookEvery = 2 * time.Millisecond

// trial is one lock path.
type trial struct {
	ledger
	path string
	wait *wait // of the affected request; nil: it is not measured
}

// round is one fault and the trials that it befalls.
type round struct {
	*stage
	ctx    context.Context // of the round
	cancel context.CancelFunc
	trials []*trial

	leader, follower, other *rig.Server
	direct                  *zk.Conn      // to the leader, for nodes and watches
	near, far               *locks.Client // at the leader, at the other follower

	asking  context.Context // of all calls of Lock; over when the round has seen enough
	enough  context.CancelFunc
	running sync.WaitGroup // contenders and what else the round has begun
	looking sync.WaitGroup
	failed  atomic.Int64
	// relisted counts the waiters that found by listing again what no event had told them. A listing is answered behind the
	// events of the changes that it shows, so none should, however slow servers and links are.
	relisted atomic.Int64
	never    atomic.Int64 // requests that were not granted while the round waited for them

	mu      sync.Mutex
	clients []*locks.Client
	proxies []*rig.Proxy
}

// enter makes the lock paths and clients of a round, once all members are well.
// The round is to be left also when there is an error.
func (s *stage) enter(ctx context.Context, width int) (*round, error) {
	r := &round{stage: s}
	r.ctx, r.cancel = context.WithTimeout(ctx, 2*settleTime+s.timeouts(20)+2*s.o.pace())
	r.asking, r.enough = context.WithCancel(r.ctx)
	if err := r.cast(); err != nil {
		return r, err
	}
	for i := range width {
		path := fmt.Sprintf("/stalls-%d-%d", s.found.Rounds, i)
		if _, err := r.direct.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			return r, fmt.Errorf("create %s: %w", path, err)
		}
		r.trials = append(r.trials, &trial{path: path})
	}
	r.looking.Go(r.look)
	return r, nil
}

// cast finds the leader, and opens the sessions that every round needs.
func (r *round) cast() (err error) {
	if r.leader, err = r.leading(r.ctx); err != nil {
		return err
	}
	if r.follower, r.other, err = r.following(); err != nil {
		return err
	}
	if r.direct, err = dial(r.ctx, r.leader.Addr()); err != nil {
		return err
	}
	if r.near, err = r.open(r.leader.Addr(), r.o.timeout); err != nil {
		return err
	}
	r.far, err = r.open(r.other.Addr(), r.o.timeout)
	return err
}

// following is the two followers, each first in turn, so that each link has its share. One server is both.
func (r *round) following() (follower, other *rig.Server, err error) {
	if r.alone != nil {
		return r.alone, r.alone, nil
	}
	var followers []*rig.Server
	for len(followers) < 2 {
		if followers, err = r.ensemble.Waiting(r.ctx); err != nil {
			return nil, nil, err
		}
		_ = pause(r.ctx, 20*time.Millisecond)
	}
	n := r.found.Rounds % 2
	return followers[n], followers[1-n], nil
}

// dial opens a session that has nothing to do with locks.
func dial(ctx context.Context, addr string) (*zk.Conn, error) {
	conn, events, err := zk.Connect([]string{addr}, 10*time.Second, zk.WithLogger(rig.Silent{}))
	if err != nil {
		return nil, err
	}
	for {
		select {
		case event := <-events:
			if event.State == zk.StateHasSession {
				return conn, nil
			}
		case <-ctx.Done():
			conn.Close()
			return nil, ctx.Err()
		}
	}
}

// look looks at all leases until the round is over.
func (r *round) look() {
	for pause(r.ctx, lookEvery) == nil {
		for _, t := range r.trials {
			t.look()
		}
	}
}

// survivors is the sessions that live now, by the leader.
func (r *round) survivors() (map[int64]bool, error) {
	leader, err := r.leading(r.ctx)
	if err != nil {
		return nil, err
	}
	dump, err := leader.Address().FourLetter(r.ctx, "dump")
	if err != nil {
		return nil, err
	}
	alive := map[int64]bool{}
	for word := range strings.FieldsSeq(dump) {
		hex, found := strings.CutPrefix(strings.TrimSuffix(word, ":"), "0x")
		if id, err := strconv.ParseUint(hex, 16, 64); found && err == nil {
			alive[int64(id)] = true
		}
	}
	return alive, nil
}

// leave closes everything, however the round has ended, and mends the ensemble for the next.
func (r *round) leave(err error) error {
	r.enough()
	r.running.Wait()
	if r.ensemble != nil {
		r.ensemble.Heal()
	}
	for _, p := range r.proxies {
		p.Close()
	}
	closing, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	for _, member := range r.servers() {
		_ = member.Resume() // one that does not run needs none
		if member.PID() == 0 {
			err = errors.Join(err, member.Restart(closing))
		}
	}
	var all sync.WaitGroup
	for _, c := range r.clients {
		all.Go(func() {
			_ = c.Close(closing) // its session may be gone
			r.relisted.Add(c.Session().Counters().Polls)
		})
	}
	all.Wait()
	if r.direct != nil {
		r.direct.Close()
	}
	r.cancel()
	r.looking.Wait()
	return err
}

// open opens a client that is closed when the round ends.
func (r *round) open(servers string, timeout time.Duration) (*locks.Client, error) {
	ctx, cancel := context.WithTimeout(r.ctx, settleTime)
	defer cancel()
	c, err := locks.Open(ctx, servers, locks.WithSessionTimeout(timeout), locks.WithActorSystem(r.system),
		locks.WithLogger(r.log))
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients = append(r.clients, c)
	return c, nil
}

// proxy opens a proxy that is closed when the round ends.
func (r *round) proxy(target *rig.Server) (*rig.Proxy, error) {
	p, err := rig.OpenProxy(target.Addr())
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.proxies = append(r.proxies, p)
	return p, nil
}

// cutOff takes the network behind a proxy down, or up again.
func cutOff(p *rig.Proxy, down bool) {
	p.Refuse(down)
	if down {
		p.Cut()
	}
}

// each does something for every trial, a few at a time, and joins the errors.
func (r *round) each(do func(i int, t *trial) error) error {
	errs := make([]error, len(r.trials))
	slots := make(chan struct{}, 8)
	var all sync.WaitGroup
	for i, t := range r.trials {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(i, t)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	rig.Rest(ctx, d)
	return ctx.Err()
}
