package crowd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// variable sets the size of the crowds. The servers' jute.maxbuffer stays at its default then.
const variable = "TURNSTILE_CROWD"

// scene is an ensemble, and the crowds that meet it.
type scene struct {
	servers []rig.Option
	// one is a crowd that asks for one lock, each a crowd of which each asks for its own lock.
	one, each crowd
}

// newScene gives the usual scene, or the one of variable.
func newScene(t *testing.T) scene {
	// A crowd whose session runs out while it gathers never stands in full. A machine with other work makes it slow.
	const timeout = patient.Session
	if of := os.Getenv(variable); of != "" {
		many, err := strconv.Atoi(of)
		require.NoError(t, err)
		return scene{
			servers: []rig.Option{rig.WithHeap(1000), rig.WithTickTime(2 * time.Second)},
			one:     crowd{many: many, timeout: timeout},
			each:    crowd{many: many / 5, paths: true, timeout: timeout},
		}
	}
	const maxBuffer = 128 << 10 // bytes; the usual is eight times that
	return scene{
		servers: []rig.Option{rig.WithSystemProperty("jute.maxbuffer", strconv.Itoa(maxBuffer))},
		one:     crowd{many: 2000, weight: maxBuffer / 2, timeout: timeout},
		each:    crowd{many: 1250, paths: true, weight: maxBuffer / 2, timeout: timeout},
	}
}

// ends are the ways in which the session of a process ends.
var ends = []struct {
	name string
	end  func(t *testing.T, p *process)
}{
	{"close", func(t *testing.T, p *process) {
		require.NoError(t, p.Tell("close"))
		p.await(t, "closed: <nil>")
	}},
	{"killed", func(t *testing.T, p *process) { require.NoError(t, p.Kill()) }},
	{"expired", func(t *testing.T, p *process) { require.NoError(t, p.Pause()) }},
}

// TestEnsembleLives: however the session of a crowd ends, the ensemble goes on, and the one that waits behind the crowd is
// granted its lock.
func TestEnsembleLives(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	ensemble := rig.StartEnsemble(t, 3, s.servers...)
	for _, c := range []struct {
		name string
		crowd
	}{{"one path", s.one}, {"a path each", s.each}} {
		for _, how := range ends {
			t.Run(c.name+", "+how.name, func(t *testing.T) {
				p := c.start(t, ensemble.Addrs(), ensemble.Members()...)
				granted := c.waitBehind(t, ensemble)
				how.end(t, p)
				patient.GiveBack(t, patient.Receive(t, granted))
				require.NoError(t, lives(patient.Deadline(t), ensemble))
				require.NoError(t, p.Kill())
			})
		}
	}
}

// waitBehind has a client of its own wait behind the first of the crowd, which holds.
func (k crowd) waitBehind(t *testing.T, ensemble *rig.Ensemble) (granted <-chan *locks.Lease) {
	t.Helper()
	client := patient.Open(t, ensemble.Addrs())
	rec := actorstest.NewRecorder(client.System())
	t.Cleanup(rec.Close)
	leases := make(chan *locks.Lease, 1)
	ctx := patient.Deadline(t)
	go func() {
		lease, err := client.Mutex(k.path(0), locks.WithObserver(rec.PID())).Lock(ctx)
		if err != nil {
			t.Error("behind the crowd:", err)
			return
		}
		leases <- lease
	}()
	_, err := rec.Await(ctx, messages.StateWatching)
	require.NoError(t, err)
	return leases
}

// lives waits until every member has forgotten the nodes of the crowd, and sees that another client can lock, before
// and after each member was killed and has started again.
func lives(ctx context.Context, ensemble *rig.Ensemble) error {
	members := ensemble.Members()
	for _, m := range members {
		if err := forgets(ctx, m); err != nil {
			return fmt.Errorf("member %s: %w", m.Addr(), err)
		}
	}
	if err := locksOnce(ctx, ensemble); err != nil {
		return err
	}
	for _, m := range members {
		if err := errors.Join(m.Kill(), m.Restart(ctx)); err != nil {
			return fmt.Errorf("member %s does not start again: %w", m.Addr(), err)
		}
		if err := locksOnce(ctx, ensemble); err != nil {
			return err
		}
	}
	return nil
}

// forgets waits until a server has no ephemeral nodes.
func forgets(ctx context.Context, m *rig.Server) error {
	for {
		left, err := m.Address().Ephemerals(ctx)
		if err == nil && left == 0 {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%d ephemeral nodes are left (%w): %w", left, err, ctx.Err())
		}
	}
}

func locksOnce(ctx context.Context, ensemble *rig.Ensemble) (err error) {
	client, err := locks.Open(ctx, ensemble.Addrs())
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, client.Close(ctx), relists.None(client.Session().Counters().Polls))
	}()
	lease, err := client.Mutex("/after").Lock(ctx)
	if err != nil {
		return err
	}
	return lease.Unlock(ctx)
}
