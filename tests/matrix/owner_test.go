package matrix

import (
	"testing"
	"testing/synctest"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// ownedPath is a lock that one owner asks for twice, by requests of their own.
const ownedPath = "/lock-owned"

// owned is one request of an owner.
type owned struct {
	rec  *actorstest.Recorder
	lock *actor.PID
	send func(any)
}

// own has our session ask for the lock.
func (c *crowd) own(t *testing.T, want messages.Acquire) *owned {
	t.Helper()
	rec := actorstest.NewRecorder(c.ours.System())
	t.Cleanup(rec.Close)
	root := c.ours.System().Root
	want.Path, want.Owner = ownedPath, "me"
	lock := root.Spawn(actors.NewLock(c.ours.Session(), want, actors.WithObserver(rec.PID())))
	return &owned{rec, lock, func(msg any) { root.Send(lock, msg) }}
}

func (o *owned) reaches(t *testing.T, state messages.State) messages.Transition {
	t.Helper()
	moved, err := o.rec.Await(patient(t), state)
	require.NoError(t, err, "it went %v", o.rec.States())
	return moved
}

// inDoubt is the state of an owner's first request when the connection is lost, and the way in
// which it is given up or back.
type inDoubt struct {
	name  string
	enter func(t *testing.T, c *crowd, want messages.Acquire) *owned // with the connection lost behind it
	leave any
	ends  messages.State
}

// lose cuts our connection, and keeps it from coming back.
func (c *crowd) lose(t *testing.T) {
	t.Helper()
	c.refuse(true)
	c.server.Replica(0).DropClients()
	synctest.Wait()
}

var inDoubts = []inDoubt{
	{"creating", func(t *testing.T, c *crowd, want messages.Acquire) *owned {
		made := c.strike(t, embedded.Fault{Path: ownedPath + "/*", Action: embedded.CutAfter})
		c.refuse(true)
		first := c.own(t, want)
		require.NoError(t, made.Wait(patient(t)))
		synctest.Wait()
		return first
	}, &messages.Cancel{}, messages.StateCancelled},
	{"holding", func(t *testing.T, c *crowd, want messages.Acquire) *owned {
		first := c.own(t, want)
		first.reaches(t, messages.StateHeld)
		c.lose(t)
		return first
	}, &messages.Release{}, messages.StateReleased},
	{"waiting", func(t *testing.T, c *crowd, want messages.Acquire) *owned {
		holder := c.enter(t, c.theirs, ownedPath)
		c.awaitHolds(t, holder)
		first := c.own(t, want)
		first.reaches(t, messages.StateWatching)
		synctest.Wait()
		c.lose(t)
		holder.giveBack()
		return first
	}, &messages.Cancel{}, messages.StateCancelled},
}

// asksAgain: an owner gives its first request up, or back, while its outcome is unknown, and
// asks again.
func asksAgain(want messages.Acquire, d inDoubt) func(*testing.T, *crowd) {
	return func(t *testing.T, c *crowd) {
		c.know(t, c.ours, ownedPath)
		first := d.enter(t, c, want)
		first.reaches(t, messages.StateRecovering)
		first.send(d.leave)
		synctest.Wait()
		second := c.own(t, want)
		synctest.Wait()
		c.refuse(false)
		first.reaches(t, d.ends)
		second.reaches(t, messages.StateHeld)
		second.send(&messages.Release{})
		second.reaches(t, messages.StateReleased)
		require.Empty(t, c.childrenOf(t, ownedPath))
	}
}

// downgradesAgain: a writer asks for the read lock, takes that back while its outcome is
// unknown, and asks again.
func downgradesAgain(t *testing.T, c *crowd) {
	c.know(t, c.ours, ownedPath)
	writer := c.own(t, messages.Acquire{Mode: messages.Write})
	held := writer.reaches(t, messages.StateHeld)
	synctest.Wait()
	read := messages.Acquire{Mode: messages.Read, Beside: held.Node}
	first := inDoubts[0].enter(t, c, read)
	first.reaches(t, messages.StateRecovering)
	first.send(&messages.Cancel{})
	synctest.Wait()
	second := c.own(t, read)
	synctest.Wait()
	c.refuse(false)
	first.reaches(t, messages.StateCancelled)
	require.Equal(t, held.Token, second.reaches(t, messages.StateHeld).Token, "in the writer's place")
	for _, o := range []*owned{writer, second} {
		o.send(&messages.Release{})
		o.reaches(t, messages.StateReleased)
	}
	require.Empty(t, c.childrenOf(t, ownedPath))
}

// TestOwnerAsksAgainInDoubt: the same owner asks again while its first request is in doubt and
// given up.
func TestOwnerAsksAgainInDoubt(t *testing.T) {
	plots := []plot{{name: "downgrade/creating", play: downgradesAgain,
		outcome: "the writer, which holds on, is read by in its place as if it had not been asked for before"}}
	for _, mode := range []messages.Mode{messages.Exclusive, messages.Read, messages.Write} {
		for _, d := range inDoubts {
			plots = append(plots, plot{name: mode.String() + "/" + d.name, play: asksAgain(messages.Acquire{Mode: mode}, d),
				outcome: "the first ends as it was told to, and the second holds then: it is not refused for the first"})
		}
	}
	testPlots(t, plots)
}
