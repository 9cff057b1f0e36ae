package kinds

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// order is a queue: who came, and how many of them hold at first. In each turn one leaves, or gives up, and others come in.
type order struct {
	came  []scene.Kind
	hold  int
	turns [][]int
}

func orders() map[string]order {
	x, r, w, all := scene.Exclusive, scene.Reader, scene.Writer, locks.WithWatchAll()
	one, two, light := scene.Permits(1, 3), scene.Permits(2, 5), scene.Permits(1, 5)
	curator, kazoo := locks.WithNaming(messages.CuratorNaming), locks.WithNaming(messages.KazooNaming)
	recipe, name := locks.WithNaming(messages.RecipeNaming), locks.WithName("n")
	return map[string]order{
		"mutex": {[]scene.Kind{x, x, x}, 1, [][]int{{0, 1}, {1, 2}, {2}}},
		"readers and writers": {[]scene.Kind{r, r, r, w, r, r, w, w, r}, 3,
			[][]int{{1}, {0}, {2, 3}, {3, 4, 5}, {5}, {4, 6}, {6, 7}, {7, 8}, {8}}},
		"a writer gives up":   {[]scene.Kind{r, w, r}, 1, [][]int{{1, 2}, {0}, {2}}},
		"the first leaves":    {[]scene.Kind{one, one, one, one, one, one}, 3, [][]int{{0, 3}, {1, 4}, {2, 5}, {4}, {3}, {5}}},
		"the last leaves":     {[]scene.Kind{one, one, one, one, one, one}, 3, [][]int{{2, 3}, {1, 4}, {0, 5}, {3}, {5}, {4}}},
		"many permits":        {[]scene.Kind{two, two, scene.Permits(4, 5), light}, 2, [][]int{{1}, {0, 2, 3}, {2}, {3}}},
		"who wants many goes": {[]scene.Kind{one, scene.Permits(3, 3), one, one}, 1, [][]int{{1, 2, 3}, {3}, {0}, {2}}},
		"contest":             {[]scene.Kind{scene.Contest, scene.Contest}, 1, [][]int{{0, 1}, {1}}},
		"by name":             {[]scene.Kind{r.With(name), x.With(name), r.With(name), w.With(name)}, 1, [][]int{{0, 1}, {1, 2}, {2, 3}, {3}}},
		"watching all":        {[]scene.Kind{w, x.With(all), w, r.With(all), w.With(all)}, 1, [][]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4}}},
		"by other clients' names": {[]scene.Kind{x.With(curator), r.With(kazoo), w.With(recipe), x.With(kazoo), r.With(recipe),
			w.With(curator), r.With(curator), x.With(recipe), w.With(kazoo)}, 1,
			[][]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}, {8}}},
	}
}

// TestOrder: each kind of lock, in two sessions. Tokens grow in the order in which they came. Nobody who tries passes those
// that wait.
func TestOrder(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		clients := []*locks.Client{zk.Open(t), zk.Open(t)}
		for name, o := range orders() {
			t.Run(name, func(t *testing.T) { o.play(t, clients, "/order/"+name) })
		}
	})
}

func (o order) play(t *testing.T, clients []*locks.Client, path string) {
	waiting, held, last := map[int]*scene.Waiter{}, map[int]*locks.Lease{}, messages.Token(0)
	enters := func(i int, lease *locks.Lease) {
		require.Greater(t, lease.Token(), last)
		held[i], last = lease, lease.Token()
	}
	for i, kind := range o.came {
		if i < o.hold {
			enters(i, kind.Holds(t, clients[i%2], path))
		} else {
			waiting[i] = kind.Waits(t, clients[i%2], path)
		}
	}
	for _, kind := range o.came {
		kind.Fails(t, clients[0], path)
	}
	for _, turn := range o.turns {
		for _, w := range waiting {
			w.Waits(t)
		}
		if w := waiting[turn[0]]; w != nil {
			w.Leave()
			require.ErrorIs(t, w.Fails(t), context.Canceled)
		} else {
			scene.GiveBack(t, held[turn[0]])
		}
		delete(waiting, turn[0])
		delete(held, turn[0])
		for _, i := range turn[1:] {
			enters(i, waiting[i].Granted(t))
			delete(waiting, i)
		}
		for _, lease := range held {
			require.True(t, lease.Valid())
		}
	}
	require.Empty(t, waiting)
	require.Empty(t, held)
}
