package deadlocks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// inLine waits until so many requests stand in the line of their session, without a node.
func inLine(t *testing.T, s *stage.Stage, want int) {
	t.Helper()
	patient.Eventually(t, func() bool {
		now, _ := s.Session.Connection()
		return now.Inside == want
	}, "%d stand in the line", want)
}

// TestDeadlocksThroughTheLineAreFound: a circle through a request that has no node, because its session waits with as
// many as it may. Only the session itself knows of it.
func TestDeadlocksThroughTheLineAreFound(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, at *stories.Servers) {
		one := stage.New(t, at.Connect(), actors.WithMaxWaiting(1))
		t.Run("of one session", func(t *testing.T) {
			caller(t, one, "A", "/one/x").Holds(t)
			by := caller(t, one, "B", "/one/y").Holds(t)
			d := caller(t, one, "D", "/one/y").Waits(t)
			forY := caller(t, one, "A", "/one/y")
			inLine(t, one, 1)
			require.Empty(t, deadlocksOf(t, one, "/one"), "B goes on")
			forX := caller(t, one, "B", "/one/x").Waits(t)
			require.Equal(t, [][]string{{"A holds /one/x and waits for /one/y", "B holds /one/y and waits for /one/x"}},
				deadlocksOf(t, one, "/one"))
			require.Empty(t, deadlocksOf(t, one, "/one/x"), "half of it shows no circle")
			forX.Send(&messages.Cancel{})
			forX.Finish(t)
			require.Empty(t, deadlocksOf(t, one, "/one"))
			by.Send(&messages.Release{})
			d.Holds(t).Send(&messages.Release{})
			forY.Holds(t)
			inLine(t, one, 0)
		})
		t.Run("with another session", func(t *testing.T) {
			two := stage.New(t, at.Connect())
			caller(t, one, "A", "/two/x").Holds(t)
			caller(t, two, "B", "/two/y").Holds(t)
			caller(t, one, "D", "/two/y").Waits(t)
			caller(t, one, "A", "/two/y")
			inLine(t, one, 1)
			caller(t, two, "B", "/two/x").Waits(t)
			require.Equal(t, [][]string{{"A holds /two/x and waits for /two/y", "B holds /two/y and waits for /two/x"}},
				deadlocksOf(t, one, "/two"))
			require.Empty(t, deadlocksOf(t, two, "/two"), "only its own session knows that A waits for y")
		})
		t.Run("one gives up", func(t *testing.T) {
			three := stage.New(t, at.Connect(), actors.WithMaxWaiting(1))
			ax := caller(t, three, "A", "/three/x").Holds(t)
			caller(t, three, "B", "/three/y").Holds(t)
			caller(t, three, "D", "/three/y").Waits(t)
			forX := caller(t, three, "B", "/three/x").Waits(t)
			forY := caller(t, three, "A", "/three/y", detecting)
			told := forY.Finish(t)
			require.Len(t, told, 2)
			require.Len(t, told[0].(*messages.Deadlocked).Deadlock.Members, 2)
			require.Equal(t, messages.ReasonDeadlock, told[1].(*messages.Cancelled).Reason)
			require.Empty(t, deadlocksOf(t, three, "/three"))
			ax.Send(&messages.Release{})
			forX.Holds(t)
		})
	})
}
