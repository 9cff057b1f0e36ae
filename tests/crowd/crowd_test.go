package crowd

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// variable sets the size of the crowds. The servers' jute.maxbuffer stays at its default then.
const variable = "TURNSTILE_CROWD"

// meeting is an ensemble, and the crowds that meet it.
type meeting struct {
	servers []rig.Option
	// one is a crowd that asks for one lock, each a crowd of which each asks for its own lock.
	one, each crowd
}

// newMeeting gives the usual one, or the one of variable.
func newMeeting(t *testing.T) meeting {
	if of := os.Getenv(variable); of != "" {
		many, err := strconv.Atoi(of)
		require.NoError(t, err)
		return meeting{
			servers: []rig.Option{rig.WithHeap(1000), rig.WithTickTime(2 * time.Second)},
			one:     crowd{Many: many},
			each:    crowd{Many: many / 5, Paths: true},
		}
	}
	const maxBuffer = 128 << 10 // bytes; the usual is eight times that
	return meeting{
		servers: []rig.Option{rig.WithSystemProperty("jute.maxbuffer", strconv.Itoa(maxBuffer))},
		one:     crowd{Many: 2000, Weight: maxBuffer / 2},
		each:    crowd{Many: 1250, Paths: true, Weight: maxBuffer / 2},
	}
}

// TestEnsembleLives: however the session of a crowd ends, the ensemble goes on, and the one that waits behind the crowd is
// granted its lock.
func TestEnsembleLives(t *testing.T) {
	t.Parallel()
	s := newMeeting(t)
	ensemble := rig.StartEnsemble(t, 3, s.servers...)
	for _, c := range []struct {
		name string
		crowd
	}{{"one path", s.one}, {"a path each", s.each}} {
		for _, how := range []string{"close", "killed", "expired"} {
			t.Run(c.name+", "+how, func(t *testing.T) {
				p := c.start(t, ensemble.Addrs(), ensemble.Members()...)
				behind := scene.Queue(t, scene.Open(t, ensemble.Addrs()), c.path(0)) // the first of the crowd holds
				switch how {
				case "close":
					require.NoError(t, p.Tell("close"))
					p.await(t, "closed: <nil>")
				case "killed":
					require.NoError(t, p.Kill())
				case "expired":
					require.NoError(t, p.Pause())
				}
				scene.GiveBack(t, behind.Granted(t))
				lives(t, ensemble)
				require.NoError(t, p.Kill())
			})
		}
	}
}

// lives waits until every member has forgotten the nodes of the crowd, and sees that another client can lock, before
// and after each member was killed and has started again.
func lives(t *testing.T, ensemble *rig.Ensemble) {
	t.Helper()
	for _, m := range ensemble.Members() {
		scene.Eventually(t, func() bool {
			left, err := m.Address().Ephemerals(scene.Deadline(t))
			return err == nil && left == 0
		}, "member %s forgets the crowd", m.Addr())
	}
	lockOnce := func() {
		scene.GiveBack(t, scene.LockAt(t, scene.Open(t, ensemble.Addrs()), "/after"))
	}
	lockOnce()
	for _, m := range ensemble.Members() {
		require.NoError(t, m.Kill())
		require.NoError(t, m.Restart(scene.Deadline(t)), m.Addr())
		lockOnce()
	}
}
