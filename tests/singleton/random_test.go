package singleton

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestRandom: three nodes, and what may happen to them, by a seed; in every other history some have their locks from
// gateways. The witness never sees two children with valid leases, nor a lock that is given back under a child that has
// not ended; tokens increase; and when all is well again one of them is active, takes what is sent to it, and nothing is
// left in the end.
//
// TURNSTILE_SINGLETON_SEEDS says how many histories.
func TestRandom(t *testing.T) {
	seeds, histories, activations := 20, 0, 0
	if text := os.Getenv("TURNSTILE_SINGLETON_SEEDS"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		seeds = n
	}
	for seed := range seeds {
		if !t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			histories++
			activations += history(t, uint64(seed))
		}) {
			return
		}
	}
	require.GreaterOrEqual(t, activations, 3*histories, "too little happens to show anything")
	t.Logf("%d histories, %d activations", histories, activations)
}

// history is one of them, and gives how often a child was activated.
func history(t *testing.T, seed uint64) (activations int) {
	play(t, 3, func(w *world) {
		random := rand.New(rand.NewPCG(seed, 18))
		upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
		opts := []actors.SingletonOption{actors.WithBuffer(5), actors.WithFailures(2, time.Minute, upTo(20*time.Second)+1)}
		if seed%2 == 1 {
			w.overGateways(random)
		}
		for _, n := range w.nodes {
			n.spawn(n.props(opts...))
		}
		for i := range 40 {
			time.Sleep(upTo(6 * time.Second))
			n := w.nodes[random.IntN(len(w.nodes))]
			if n.pid == nil || !n.lives() {
				n.spawn(n.props(opts...))
			}
			n.strike(random.IntN(14), upTo, i)
		}
		for _, n := range w.nodes {
			n.line.Be(scene.Up)
		}
		time.Sleep(2 * time.Minute) // all that are being stopped have ended then
		for _, n := range w.nodes {
			if n.pid == nil || !n.lives() {
				n.spawn(n.props(opts...))
			}
		}
		time.Sleep(2 * time.Minute)
		name := w.witness.running()
		require.Len(w.t, name, 1, "one is active: %q\n%s", name, w.witness.story())
		n := w.nodes[name[0]-'a']
		answer, err := n.request(job{1000})
		require.NoError(w.t, err)
		require.Equal(w.t, job{1000}, answer)
		activations = w.witness.activations()
	})
	return activations
}

// strike lets something happen to a node.
func (n *node) strike(what int, upTo func(time.Duration) time.Duration, i int) {
	n.w.witness.note("%s: strike %d", n.name, what)
	switch what {
	case 0, 1:
		n.line.Be(scene.NetworkState(what) + 1)
		for_ := upTo(25 * time.Second)
		time.AfterFunc(for_, func() { n.line.Be(scene.Up) })
	case 2:
		n.w.system.Root.Stop(n.pid)
	case 3:
		n.w.system.Root.Poison(n.pid)
	case 4:
		n.send(panics{})
	case 5:
		n.send(leaves{})
	case 6:
		n.send(sleeps(upTo(40 * time.Second)))
	case 7:
		n.send(lingers(upTo(20 * time.Second)))
	case 8:
		n.send(poisonous{})
	case 9:
		n.w.system.Root.Send(n.session.PID(), sendRevokeRequest)
	case 10: // and the node gets a new one
		go func(session *actors.Session) { _ = session.Close(n.w.t.Context()) }(n.session)
		n.connect()
		n.openGateway(n.session)
	case 11:
		n.w.system.Root.Stop(n.gateway())
		session := n.session
		time.AfterFunc(upTo(25*time.Second), func() { n.openGateway(session) })
	default:
		n.send(job{i})
	}
}
