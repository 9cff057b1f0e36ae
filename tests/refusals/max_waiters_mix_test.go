package refusals

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// mix is a way to lock, with whatever else goes together with a bound on waiters. slack is how many nodes there may be
// beyond one for each call: one that another client keeps, or the writer's and the reader's of a downgrade. Calls that
// share a node are judged by its first listing: those that were before it then and have gone since count.
type mix struct {
	name  string
	slack int
	lock  func(c *locks.Client, path string, choice int, bound locks.LockOption) locking
}

// mixes lock one path each. choice says which of several calls it is.
var mixes = []mix{
	{"mutex", 0, mutexWith()},
	{"cohort", 0, mutexWith(locks.WithCohort(3))},
	{"sticky", 1, mutexWith(locks.WithSticky(5 * time.Second))},
	{"sticky-cohort", 1, mutexWith(locks.WithSticky(5*time.Second), locks.WithCohort(3))},
	{"watch-all", 0, mutexWith(locks.WithWatchAll())},
	{"readers", 0, func(c *locks.Client, path string, choice int, bound locks.LockOption) locking {
		rw := c.RWMutex(path, bound)
		return []locking{rw.RLock, rw.RLock, rw.Lock}[choice%3]
	}},
	{"shared-readers", 3, func(c *locks.Client, path string, choice int, bound locks.LockOption) locking {
		rw := c.RWMutex(path, bound, locks.WithCohort(4))
		return []locking{rw.RLock, rw.RLock, rw.Lock}[choice%3]
	}},
	{"downgrade", 1, func(c *locks.Client, path string, choice int, bound locks.LockOption) locking {
		rw := c.RWMutex(path, bound)
		if choice%2 == 0 {
			return rw.RLock
		}
		return func(ctx context.Context) (*locks.Lease, error) {
			lease, err := rw.Lock(ctx)
			if err != nil {
				return nil, err
			}
			return lease.Downgrade(ctx)
		}
	}},
	{"semaphore", 0, func(c *locks.Client, path string, choice int, bound locks.LockOption) locking {
		s := c.Semaphore(path, 3, bound)
		return func(ctx context.Context) (*locks.Lease, error) { return s.Acquire(ctx, 1+choice%3) }
	}},
	{"reentry", 0, func(c *locks.Client, path string, _ int, bound locks.LockOption) locking {
		m := c.Mutex(path, bound, locks.WithReentry())
		return func(ctx context.Context) (*locks.Lease, error) {
			outer, err := m.Lock(ctx)
			if err != nil {
				return nil, err
			}
			within, cancel := context.WithCancel(outer.Context())
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			inner, err := m.Lock(within)
			return inner, errors.Join(err, outer.Unlock(ctx))
		}
	}},
}

func mutexWith(opts ...locks.LockOption) func(*locks.Client, string, int, locks.LockOption) locking {
	return func(c *locks.Client, path string, _ int, bound locks.LockOption) locking {
		return c.Mutex(path, append(opts[:len(opts):len(opts)], bound)...).Lock
	}
}

// crowdOf is a crowd of calls with bounds of their own, by one client or two, and what they came to.
type crowdOf struct {
	mix     mix
	clients []*locks.Client
	calm    bool // nobody gives up, and nothing is cut

	mu      sync.Mutex
	inside  map[*int]bool // calls that have begun and not given back, each with how many others it has met at once
	refused int
	held    int
}

// TestMaxWaitersInEveryMix: whatever goes together with the bound, a call is refused only where at least so many others
// are there, and in the end none has left anything behind: a call with nobody before it is let in. In every other history
// callers give up, connections are cut and sessions end.
func TestMaxWaitersInEveryMix(t *testing.T) {
	t.Parallel()
	const seeds = 12
	for _, m := range mixes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			refused, held := 0, 0
			for seed := range uint64(seeds) {
				synctest.Test(t, func(t *testing.T) {
					c := playMix(t, m, seed)
					refused, held = refused+c.refused, held+c.held
				})
			}
			require.NotZero(t, refused)
			require.NotZero(t, held)
			t.Logf("%d refused, %d held", refused, held)
		})
	}
}

// playMix plays a history of one seed to its end.
func playMix(t *testing.T, m mix, seed uint64) *crowdOf {
	server := bubble.Server(t)
	random := rand.New(rand.NewPCG(seed, 38))
	c := &crowdOf{mix: m, calm: seed%2 == 0, inside: map[*int]bool{}}
	for range 1 + seed/2%2 {
		c.clients = append(c.clients, bubble.Client(t, server))
	}
	var all sync.WaitGroup
	for range 8 {
		mine := rand.New(rand.NewPCG(random.Uint64(), 0))
		all.Go(func() {
			for range 6 {
				c.call(t, mine)
				time.Sleep(time.Duration(mine.IntN(4)) * 20 * time.Millisecond)
			}
		})
	}
	if !c.calm {
		all.Go(func() { c.strike(t, server, random) })
	}
	all.Wait()
	time.Sleep(time.Minute) // retained nodes go, and whatever was given up
	for i, client := range c.clients {
		for choice := range 3 {
			lease, err := m.lock(client, "/mix", choice, locks.WithMaxWaiters(1))(patient.Deadline(t))
			require.NoError(t, err, "client %d, seed %d: nobody is there", i, seed)
			patient.GiveBack(t, lease)
			time.Sleep(10 * time.Second)
		}
	}
	return c
}

// strike cuts all connections, or ends the session of a client, a few times.
func (c *crowdOf) strike(t *testing.T, server *embedded.Server, random *rand.Rand) {
	for range 4 {
		time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
		if client := c.clients[random.IntN(len(c.clients))]; random.IntN(2) == 0 {
			server.Replica(0).DropClients()
		} else if err := server.Expire(client.Session().ID()); err != nil {
			t.Logf("no session to end: %v", err) // it is between two
		}
	}
}

// call locks and gives back once, and looks at what it was told.
func (c *crowdOf) call(t *testing.T, random *rand.Rand) {
	most := 1 + random.IntN(4)
	lock := c.mix.lock(c.clients[random.IntN(len(c.clients))], "/mix", random.IntN(6), locks.WithMaxWaiters(most))
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	if !c.calm && random.IntN(3) == 0 {
		patience := time.Duration(random.IntN(30)) * time.Millisecond
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	met := new(int)
	c.note(func() {
		c.inside[met] = true
		for other := range c.inside {
			*other = max(*other, len(c.inside)-1)
		}
	})
	lease, err := lock(ctx)
	if err == nil {
		time.Sleep(time.Duration(random.IntN(3)) * 20 * time.Millisecond)
		err = lease.Unlock(context.Background())
		c.note(func() { c.held++ })
	}
	if errors.Is(err, locks.ErrQueueFull) {
		time.Sleep(time.Second) // it may have had a node, which counts until it is gone
	}
	c.note(func() { delete(c.inside, met) })
	switch {
	case errors.Is(err, locks.ErrQueueFull):
		c.note(func() { c.refused++ })
		if c.calm {
			assert.GreaterOrEqual(t, *met+c.mix.slack, most, "it is refused with %v", err)
		}
	case err != nil && c.calm, err != nil && !c.expected(err):
		assert.NoError(t, err)
	}
}

// expected reports whether a fault or a caller's patience may have come to an error.
func (c *crowdOf) expected(err error) bool {
	for _, target := range []error{context.DeadlineExceeded, locks.ErrLost, locks.ErrUnconfirmed,
		locks.ErrReleased, zkconn.ErrUnavailable} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

func (c *crowdOf) note(what func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	what()
}
