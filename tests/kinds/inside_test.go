package kinds

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// inTurn are the options of locks that a client shares among its calls.
var inTurn = [][]locks.LockOption{
	{locks.WithCohort(5)}, {locks.WithSticky(3 * time.Second)}, {locks.WithSticky(time.Minute), locks.WithCohort(5)},
	{locks.WithCohort(5), locks.WithGrace(30 * time.Millisecond)}, {locks.WithSticky(time.Minute), locks.WithReentry()}, nil,
}

// holders knows who holds one lock.
type holders struct {
	mu   sync.Mutex
	now  map[*locks.Lease]bool // whether it reads
	last messages.Token
	held int
	// over are the sessions that were ended at the servers before they ran out: their holders hold on until they hear
	// of it (LIMITS).
	over map[int64]bool
}

// certain reports whether a lease is valid, and nobody has ended its session.
func (h *holders) certain(lease *locks.Lease) bool { return lease.Valid() && !h.over[lease.Session()] }

// enter notes a grant: nobody that it excludes holds a valid lease, and the token of one that writes is the greatest.
func (h *holders) enter(t *testing.T, lease *locks.Lease, reads, shares bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held++
	for other, alsoReads := range h.now {
		if h.certain(other) && h.certain(lease) && !(reads && alsoReads) && !shares {
			assert.Failf(t, "two holders", "token %d beside %d", lease.Token(), other.Token())
		}
	}
	if h.certain(lease) && !reads && !shares {
		assert.Greater(t, lease.Token(), h.last)
		h.last = lease.Token()
	}
	h.now[lease] = reads
}

func (h *holders) leave(lease *locks.Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.now, lease)
}

// TestCallsInsideThroughFaults: workers of two clients share a lock, each client among its own, while connections are cut,
// sessions end, callers give up and somebody asks for the lock. Nobody holds beside another, tokens grow, all come to their
// end, and nothing is left.
func TestCallsInsideThroughFaults(t *testing.T) {
	t.Parallel()
	for i, opts := range inTurn {
		for _, kind := range []string{"mutex", "readers"} {
			if kind == "readers" && i != 0 {
				continue
			}
			t.Run(fmt.Sprint(kind, i), func(t *testing.T) {
				t.Parallel()
				for seed := range uint64(8) {
					synctest.Test(t, func(t *testing.T) { playInside(t, kind, opts, seed, i == 4) })
				}
			})
		}
	}
}

func playInside(t *testing.T, kind string, opts []locks.LockOption, seed uint64, reenters bool) {
	server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
	random := rand.New(rand.NewPCG(seed, 50))
	clients := []*locks.Client{bubble.OpenClient(t, server, server.Connect()), bubble.OpenClient(t, server, server.Connect())}
	h := &holders{now: map[*locks.Lease]bool{}, over: map[int64]bool{}}
	var all sync.WaitGroup
	for n := range 8 {
		mine, client := rand.New(rand.NewPCG(random.Uint64(), 1)), clients[n%2]
		all.Go(func() {
			for range 15 {
				work(t, h, client, kind, opts, mine, reenters)
				time.Sleep(time.Duration(mine.IntN(3)) * 10 * time.Millisecond)
			}
		})
	}
	all.Go(func() {
		for range 6 {
			time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
			switch random.IntN(4) {
			case 0:
				id := clients[random.IntN(2)].Session().ID()
				h.mu.Lock()
				h.over[id] = true
				h.mu.Unlock()
				_ = server.Expire(id) // it may be between two
			case 1:
				_, _ = clients[random.IntN(2)].Revoke(t.Context(), "/inside") // nobody may hold
			default:
				server.Replica(0).DropClients()
			}
		}
	})
	all.Wait()
	require.NotZero(t, h.held)
	for _, client := range clients {
		require.Zero(t, client.State().Inside)
	}
	time.Sleep(2 * time.Minute) // kept ones go
	require.Empty(t, patient.QueueOf(t, clients[0], "/inside"))
}

// work locks once.
func work(t *testing.T, h *holders, client *locks.Client, kind string, opts []locks.LockOption, random *rand.Rand, reenters bool) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	if random.IntN(4) == 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(random.IntN(40))*time.Millisecond)
		defer cancel()
	}
	lock, reads := client.Mutex("/inside", opts...).Lock, false
	if kind == "readers" {
		rw := client.RWMutex("/inside", opts...)
		if lock = rw.Lock; random.IntN(3) > 0 {
			lock, reads = rw.RLock, true
		}
	}
	lease, err := lock(ctx)
	if err != nil {
		requireExpected(t, err)
		return
	}
	h.enter(t, lease, reads, false)
	time.Sleep(time.Duration(random.IntN(3)) * 7 * time.Millisecond)
	if reenters && random.IntN(2) == 0 {
		if inner, err := lock(lease.Context()); err == nil {
			assert.Equal(t, lease.Node(), inner.Node())
			h.enter(t, inner, reads, true)
			h.leave(inner)
			requireExpected(t, inner.Unlock(context.Background()))
		}
	}
	h.leave(lease)
	requireExpected(t, lease.Unlock(context.Background()))
}

// requireExpected: a fault or the caller's patience may have come to the error.
func requireExpected(t *testing.T, err error) {
	t.Helper()
	expected := []error{context.DeadlineExceeded, locks.ErrLost, locks.ErrRevoked, locks.ErrUnconfirmed, zkconn.ErrUnavailable}
	if err != nil && !slices.ContainsFunc(expected, func(e error) bool { return errors.Is(err, e) }) {
		assert.NoError(t, err)
	}
}
