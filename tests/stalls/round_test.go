package stalls

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// lookEvery is the pause between two looks at leases while nothing else happens. Shorter overlaps
// are still found where they include the instant of a grant.
const lookEvery = 2 * time.Millisecond

// settleTime bounds what is no part of a fault: opening, closing.
const settleTime = time.Minute

// seed is what times are drawn from.
const seed = 1

// scenario is a fault and the contenders around it.
type scenario struct {
	play    func(r *round) error
	members int // three, or one
	trials  int // lock paths that are fought for
	width   int // of these, at the same time
	options []rig.Option
	// overlapping is the time for which two leases may be valid: an operator that closes the session of a
	// living process takes its lock away before its lease is over.
	overlapping time.Duration
}

// attack has the servers of a scenario, and what was found.
type attack struct {
	t *testing.T
	scenario
	ensemble *rig.Partitionable // nil where one server is all
	servers  []*rig.Server
	system   *actor.ActorSystem // one for all clients, which would cost a few megabytes each

	mu     sync.Mutex // guards what follows
	random *rand.Rand
	rounds int

	granted, others atomic.Int64 // valid grants to the side that the fault befalls, and to the other side
	// relisted counts the waiters that found by listing again what no event had told them. A listing is answered behind the
	// events of the changes that it shows, so none should, however slow servers and links are.
	relisted atomic.Int64
	never    atomic.Int64 // requests that were not granted while the round waited for them
}

// attacked plays rounds of a scenario until there were enough trials. No two leases are valid at once for longer than the
// scenario allows, tokens are in order, no waiter found a change by listing again, each request was granted that had to
// be, and so were locks to both sides, or to the other side alone where the fault takes locks away.
func attacked(t *testing.T, s scenario) {
	t.Helper()
	rig.Require(t)
	if *trials > 0 {
		s.trials = *trials
	}
	a := &attack{t: t, scenario: s, random: rand.New(rand.NewPCG(seed, 0))}
	ticks := func(d time.Duration) string { return strconv.Itoa(int(d / tick())) }
	opts := append([]rig.Option{rig.WithTickTime(tick()), rig.WithMaxSessionTimeout(time.Minute),
		// Servers outwait every stall: neither side of a link gives the other up. A member that does not answer is given
		// up sooner than by default: the next round begins sooner.
		rig.WithConfig("syncLimit", ticks(8*(*session))), rig.WithConfig("initLimit", ticks(5*time.Second)),
		rig.WithSystemProperty("zookeeper.cnxTimeout", "1000")}, s.options...)
	if s.members == 1 {
		a.servers = []*rig.Server{rig.StartStandalone(t, opts...)}
	} else {
		a.ensemble = rig.StartPartitionable(t, s.members, opts...)
		a.servers = a.ensemble.Members()
	}
	a.system = actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }),
		actor.WithDeadLetterThrottleInterval(100*time.Millisecond))
	defer a.system.Shutdown()
	overlaps, disorder, longest := 0, 0, time.Duration(0)
	for left := s.trials; left > 0; a.rounds++ {
		for _, trial := range a.round(min(s.width, left)) {
			found, wrong := trial.judge()
			disorder += wrong
			for _, o := range found {
				longest = max(longest, o.length)
				if o.length > s.overlapping || s.overlapping == 0 {
					overlaps++
					t.Logf("overlap of %v at %s: with token %d and token %d, %v after it", o.length, trial.path, o.first.token,
						o.second.token, o.second.from.Sub(o.first.from))
				}
			}
			for _, h := range trial.holds {
				switch {
				case h.from.IsZero():
				case h.affected:
					a.granted.Add(1)
				default:
					a.others.Add(1)
				}
			}
			left--
		}
	}
	t.Logf("%d trials, %d granted, %d to others; two leases were valid for %v at most", s.trials, a.granted.Load(), a.others.Load(), longest)
	require.Zero(t, overlaps, "two valid leases")
	require.Zero(t, disorder, "a smaller token than an earlier one")
	require.Zero(t, a.relisted.Load(), "found by listing again what no event had told")
	require.Zero(t, a.never.Load(), "never granted")
	require.NotZero(t, a.granted.Load())
	require.NotZero(t, a.others.Load())
	if s.overlapping > 0 {
		require.GreaterOrEqual(t, a.others.Load(), int64(s.trials), "each lock was taken away, and granted to the next")
	}
}

// trial is one lock path.
type trial struct {
	ledger
	path string
}

// round is one fault and the trials that it befalls.
type round struct {
	*attack
	ctx    context.Context // of the round
	trials []*trial

	leader, follower, other *rig.Server
	direct                  *zk.Conn      // to the leader, for nodes and watches
	near, far               *locks.Client // at the leader, at the other follower

	asking  context.Context // of all calls of Lock; over when the round has seen enough
	enough  context.CancelFunc
	running sync.WaitGroup // contenders and what else the round has begun

	mu      sync.Mutex
	clients []*locks.Client
	proxies []*rig.Proxy
}

// round plays one round.
func (a *attack) round(width int) []*trial {
	r := &round{attack: a}
	var cancel context.CancelFunc
	r.ctx, cancel = context.WithTimeout(a.t.Context(), 2*settleTime+a.timeouts(20)+2*pace())
	defer cancel()
	r.asking, r.enough = context.WithCancel(r.ctx)
	var looking sync.WaitGroup
	err := r.cast()
	for i := range width {
		r.trials = append(r.trials, &trial{path: fmt.Sprintf("/stalls-%d-%d", a.rounds, i)})
		if err == nil {
			_, err = r.direct.Create(r.trials[i].path, nil, 0, zk.WorldACL(zk.PermAll))
		}
	}
	looking.Go(func() {
		for pause(r.ctx, lookEvery) == nil {
			for _, t := range r.trials {
				t.look()
			}
		}
	})
	if err == nil {
		err = r.play(r)
	}
	r.leave()
	cancel()
	looking.Wait()
	require.NoError(a.t, err)
	return r.trials
}

// cast finds the leader and the followers, which take turns so that each link has its share, and opens the sessions that
// every round needs. One server is all three.
func (r *round) cast() (err error) {
	r.leader, r.follower, r.other = r.servers[0], r.servers[0], r.servers[0]
	if r.ensemble != nil {
		if r.leader, err = r.ensemble.Leader(r.ctx); err != nil {
			return err
		}
		var followers []*rig.Server
		for ; len(followers) < 2; _ = pause(r.ctx, 20*time.Millisecond) {
			if followers, err = r.ensemble.Waiting(r.ctx); err != nil {
				return err
			}
		}
		n := r.rounds % 2
		r.follower, r.other = followers[n], followers[1-n]
	}
	r.direct = scene.Raw(r.t, 10*time.Second, r.leader.Addr())
	if r.near, err = r.open(r.leader.Addr()); err != nil {
		return err
	}
	r.far, err = r.open(r.other.Addr())
	return err
}

// leave closes everything, however the round has ended, and mends the ensemble for the next.
func (r *round) leave() {
	r.enough()
	r.running.Wait()
	if r.ensemble != nil {
		r.ensemble.Heal()
	}
	for _, p := range r.proxies {
		p.Close()
	}
	closing := scene.Deadline(r.t)
	var all sync.WaitGroup
	for _, c := range r.clients {
		all.Go(func() {
			_ = c.Close(closing) // its session may be gone
			r.relisted.Add(c.Session().Counters().Polls)
		})
	}
	all.Wait()
}

// open opens a client that is closed when the round ends.
func (r *round) open(servers string) (*locks.Client, error) {
	ctx, cancel := context.WithTimeout(r.ctx, settleTime)
	defer cancel()
	c, err := locks.Open(ctx, servers, locks.WithSessionTimeout(*session), locks.WithActorSystem(r.system),
		locks.WithLogger(slog.New(slog.DiscardHandler)))
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.clients = append(r.clients, c)
	}
	return c, err
}

// proxied is a client and what stands between it and its server.
type proxied struct {
	client *locks.Client
	proxy  *rig.Proxy
	at     *rig.Server // behind the proxy
}

// behind opens a client for each trial, with proxies of its own to members, and gives that of the member that the client is
// at.
func (r *round) behind(members ...*rig.Server) ([]proxied, error) {
	clients := make([]proxied, len(r.trials))
	return clients, r.each(func(i int, t *trial) error {
		var all []proxied
		servers := ""
		for _, member := range members {
			proxy, err := rig.OpenProxy(member.Addr())
			if err != nil {
				return err
			}
			r.mu.Lock()
			r.proxies = append(r.proxies, proxy)
			r.mu.Unlock()
			all, servers = append(all, proxied{proxy: proxy, at: member}), servers+","+proxy.Addr()
		}
		client, err := r.open(servers[1:])
		if err != nil {
			return err
		}
		for { // on a busy machine it may be on its way to another member
			for _, p := range all {
				if id, _, ok := p.proxy.Session(); ok && id == client.Session().ID() && p.proxy.Connections() > 0 {
					clients[i] = proxied{client, p.proxy, p.at}
					return r.once(t.path, client)
				}
			}
			if err := pause(r.ctx, lookEvery); err != nil {
				return fmt.Errorf("client %d is at no member: %w", i, err)
			}
		}
	})
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

// contender is a contender for the lock of a trial.
type contender struct {
	affected bool
	client   *locks.Client
	keep     time.Duration // how long a lease is kept, unless it is lost
	granted  func()        // called when Lock has returned; nil: nothing to do
}

// contend locks once, keeps the lease, and gives it back. It reports whether the
// lock was granted.
func (r *round) contend(t *trial, c contender) bool {
	lease, err := c.client.Mutex(t.path).Lock(r.asking)
	if err != nil {
		if r.asking.Err() == nil {
			r.t.Logf("lock %s: %v", t.path, err)
		}
		return false
	}
	h := t.granted(c.affected, lease.Valid, int64(lease.Token()))
	if c.granted != nil {
		c.granted()
	}
	keeping, cancel := context.WithTimeout(lease.Context(), c.keep)
	defer cancel()
	select {
	case <-keeping.Done():
	case <-r.asking.Done():
	}
	t.end(h)
	r.running.Go(func() {
		ctx, cancel := context.WithTimeout(r.ctx, 2*(*session))
		defer cancel()
		_ = lease.Unlock(ctx) // it may be lost
	})
	return true
}

// once locks and unlocks, so that the client knows the path: it asks for the lock
// in one request then, with no read in front that a stall could hold back. On a busy
// machine the lease may be lost in between, or the unlock be confirmed later: neither
// matters.
func (r *round) once(path string, c *locks.Client) error {
	lease, err := c.Mutex(path).Lock(r.asking)
	if err != nil {
		return err
	}
	err = lease.Unlock(r.asking)
	if errors.Is(err, locks.ErrLost) || errors.Is(err, locks.ErrUnconfirmed) {
		return nil
	}
	return err
}

// hold has the client hold the trial's lock, in the background once it was granted.
func (r *round) hold(t *trial, c *locks.Client, keep time.Duration) error {
	held := make(chan struct{})
	r.running.Go(func() {
		r.contend(t, contender{affected: true, client: c, keep: keep, granted: func() { close(held) }})
	})
	select {
	case <-held:
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}

// queued waits until the leader has a contender's node in the trial's path, for
// at most d.
func (r *round) queued(t *trial, d time.Duration) {
	ctx, cancel := context.WithTimeout(r.asking, d)
	defer cancel()
	for {
		children, _, changed, err := r.direct.ChildrenW(t.path)
		if err != nil || len(children) > 0 {
			return
		}
		select {
		case event := <-changed:
			if event.Type == zk.EventNotWatching {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// follow has both clients that the fault does not befall queue behind the affected one, or without it after a while, and
// keep what they are granted. done hears of each grant, and of each request that was not granted.
func (r *round) follow(t *trial, patience, keep time.Duration, done func(granted bool)) {
	r.running.Go(func() {
		r.queued(t, patience)
		for _, c := range []*locks.Client{r.near, r.far} {
			r.running.Go(func() {
				if !r.contend(t, contender{client: c, keep: keep, granted: func() { done(true) }}) {
					done(false)
				}
			})
		}
	})
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	rig.Rest(ctx, d)
	return ctx.Err()
}

// timeouts is a number of session timeouts.
func (a *attack) timeouts(n float64) time.Duration { return time.Duration(n * float64(*session)) }

// between draws a duration, in session timeouts.
func (a *attack) between(from, to float64) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.timeouts(from + (to-from)*a.random.Float64())
}
