package actors

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// holdsSticky makes a contender that holds with a node that may stay.
func holdsSticky(t *testing.T, a *aloneSession) (*contender, <-chan machine.Event) {
	t.Helper()
	c, heard := a.contend("")
	c.spec.sticky = time.Hour
	token, err := messages.NewToken(7, 0)
	require.NoError(t, err)
	a.have(c, nodeName(1), 1, token)
	c.granted = true
	return c, heard
}

// TestVerifyingWhatRests: a lock is given back while the connection is down, which its lock actor hears of only then:
// it takes its order for lost, and looks for its node, which rests by then, or was taken up. The node is no concern of
// it any more; it would delete it under whoever holds with it (found by the exhaustive walk).
func TestVerifyingWhatRests(t *testing.T) {
	for _, takenUp := range []bool{false, true} {
		a := newAlone(t, 1)
		c, heard := holdsSticky(t, a)
		a.remove(c, machine.Effect{Do: machine.GiveBack, Op: 1, Node: c.node})
		require.Equal(t, machine.Deleted, (<-heard).Kind)
		next, nextHeard := a.contend("")
		next.spec.sticky = time.Hour
		if takenUp {
			a.create(next, 1)
			a.checked(a.resting[next.queue()], next, beat{sent: time.Now()})
			require.Equal(t, nodeName(1), (<-nextHeard).Node)
		}
		asked := a.asked
		a.verify(c, 2)
		ev := <-heard
		require.Equal(t, machine.Found, ev.Kind)
		require.EqualValues(t, 2, ev.Op)
		require.Empty(t, ev.Node)
		require.Equal(t, asked, a.asked)
	}
}

// TestNoRestForWhatHasMates: the places behind that of a node made together with others are theirs: who took it up
// would have the token of one that may hold later (found by the exhaustive walk).
func TestNoRestForWhatHasMates(t *testing.T) {
	a := newAlone(t, 1)
	c, heard := holdsSticky(t, a)
	c.mates = true
	asked := a.asked
	a.remove(c, machine.Effect{Do: machine.GiveBack, Op: 1, Node: c.node})
	a.quiet(t, c, heard)
	require.Equal(t, asked+1, a.asked, "the delete")
	require.Empty(t, a.resting)
}

// TestMates: who shares a transaction with others of its lock path knows it.
func TestMates(t *testing.T) {
	a := newAlone(t, 1)
	one, _ := a.contend("")
	two, _ := a.contend("")
	other, _ := a.contend("")
	other.spec.path = "/q"
	a.commit([]change{{contender: one, op: 1}, {contender: two, op: 1}, {contender: other, op: 1}})
	require.True(t, one.mates)
	require.True(t, two.mates)
	require.False(t, other.mates)
}

// TestShorterRest: a node that was kept for an hour and is then kept for a second rests for a second.
func TestShorterRest(t *testing.T) {
	a := newAlone(t, 1)
	first, firstHeard := holdsSticky(t, a)
	a.remove(first, machine.Effect{Do: machine.GiveBack, Op: 1, Node: first.node})
	require.Equal(t, machine.Deleted, (<-firstHeard).Kind)
	r := a.resting[first.queue()]
	require.WithinDuration(t, r.until, r.due, 0)
	require.Len(t, a.timers, 1)

	second, heard := a.contend("")
	second.spec.sticky = time.Second
	a.create(second, 1)
	a.checked(r, second, beat{sent: time.Now()})
	require.Equal(t, machine.Created, (<-heard).Kind)
	timers := len(a.timers) // of heartbeats, too
	a.grantedTo(second)
	a.remove(second, machine.Effect{Do: machine.GiveBack, Op: 2, Node: second.node})
	require.Same(t, r, a.resting[first.queue()])
	require.WithinDuration(t, time.Now().Add(time.Second), r.due, time.Minute)
	require.Len(t, a.timers, timers, "the timer of an hour is gone")
}
