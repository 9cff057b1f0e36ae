package gateway

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/relists"
)

// TestVirtualWeather: the real actors on the embedded server, in virtual time, while messages are
// lost, doubled and delayed, gateways are stopped, and their sessions cut off. A witness never sees
// two valid leases; tokens increase; in the end everybody gets the lock, and no node is left.
// TURNSTILE_GATEWAY_WEATHER says how many seeds.
func TestVirtualWeather(t *testing.T) {
	t.Parallel()
	seeds := 20
	if more := os.Getenv("TURNSTILE_GATEWAY_WEATHER"); more != "" {
		n, err := strconv.Atoi(more)
		require.NoError(t, err)
		seeds = n
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { virtualWeather(t, uint64(seed)) })
		})
	}
}

// site is a session of its own with a gateway that is spawned anew when it was stopped.
type site struct {
	client *locks.Client
	line   *bubble.Network
	pid    *actor.PID
}

func virtualWeather(t *testing.T, seed uint64) {
	server := bubble.Server(t)
	system := bubble.System(t)
	w := &weather{system: system, random: rand.New(rand.NewPCG(seed, 1))}
	var sites []*site
	var opts []gateway.Option
	if seed%2 == 1 {
		opts = append(opts, gateway.WithCohort(3))
	}
	var pids []*actor.PID
	for i := range 2 {
		s := &site{line: &bubble.Network{Server: server}}
		client, err := locks.Open(t.Context(), server.Connect(), locks.WithDialer(s.line.Dial),
			locks.WithActorSystem(system))
		require.NoError(t, err)
		relists.Count(t, client.Session())
		s.client = client
		s.pid, err = system.Root.SpawnNamed(w.props(gateway.New(client.Session(), opts...)), fmt.Sprint("gateway-", i))
		require.NoError(t, err)
		sites, pids = append(sites, s), append(pids, s.pid)
	}
	at := gateway.At(pids...)
	client, err := gateway.Open(t.Context(), system, at)
	require.NoError(t, err)

	run := &witnessed{client: client}
	var workers sync.WaitGroup
	wait, stop := context.WithCancel(t.Context())
	for range 5 {
		workers.Go(func() { run.work(wait, w) })
	}
	w.turn(true)
	for range 15 {
		time.Sleep(time.Duration(w.pick(10)) * time.Second)
		s := sites[w.pick(len(sites))]
		switch w.pick(3) {
		case 0:
			s.line.Be(bubble.Down)
			time.Sleep(time.Duration(w.pick(20)) * time.Second)
			s.line.Be(bubble.Open)
		case 1:
			stopped(t, system, s.pid)
			time.Sleep(time.Duration(w.pick(5)) * time.Second)
			_, err := system.Root.SpawnNamed(w.props(gateway.New(s.client.Session(), opts...)), s.pid.Id)
			require.NoError(t, err)
		}
	}
	w.turn(false)
	time.Sleep(2 * time.Minute)
	stop()
	workers.Wait()
	require.Empty(t, run.wrong)
	require.Greater(t, run.grants, 20)
	last := bubble.Locked(t, client.Mutex("/weather").Lock)
	bubble.GiveBack(t, last)
	time.Sleep(time.Minute)
	queue, err := client.Queue(t.Context(), "/weather")
	require.NoError(t, err)
	require.Empty(t, queue)
	require.NoError(t, client.Close(t.Context()))
	for _, s := range sites {
		require.NoError(t, s.client.Close(t.Context()))
	}
}

// witnessed are workers that lock one path, and look at each other's leases.
type witnessed struct {
	client *locks.Client

	mu     sync.Mutex
	leases map[*locks.Lease]struct{}
	newest int64
	grants int
	wrong  []string
}

func (r *witnessed) work(ctx context.Context, w *weather) {
	for ctx.Err() == nil {
		wait, stop := context.WithTimeout(ctx, time.Duration(1+w.pick(60))*time.Second)
		lease, err := r.client.Mutex("/weather").Lock(wait)
		stop()
		if err != nil {
			late := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
			if !late && !errors.Is(err, locks.ErrFailed) {
				r.fault(err.Error())
			}
			time.Sleep(100 * time.Millisecond)
			continue
		}
		r.look(lease)
		select {
		case <-time.After(time.Duration(w.pick(8000)) * time.Millisecond):
		case <-lease.Context().Done():
		}
		r.leave(lease)
		give, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		_ = lease.Unlock(give)
		stop()
	}
}

func (r *witnessed) fault(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrong = append(r.wrong, text)
}

// look finds out whether anybody else has a valid lease.
func (r *witnessed) look(lease *locks.Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other := range r.leases {
		if lease.Valid() && other.Valid() {
			r.wrong = append(r.wrong, fmt.Sprintf("%s and %s are valid", lease.Node(), other.Node()))
		}
	}
	if lease.Valid() && int64(lease.Token()) <= r.newest {
		r.wrong = append(r.wrong, fmt.Sprintf("token %d after %d", lease.Token(), r.newest))
	}
	r.newest = max(r.newest, int64(lease.Token()))
	if r.leases == nil {
		r.leases = map[*locks.Lease]struct{}{}
	}
	r.leases[lease] = struct{}{}
	r.grants++
}

func (r *witnessed) leave(lease *locks.Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.leases, lease)
}
