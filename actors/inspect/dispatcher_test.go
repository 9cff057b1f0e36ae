package inspect

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// desk is a dispatcher of a session without a connection: queries are counted instead of run,
// timers are kept, and the test says what came of them.
type desk struct {
	*Dispatcher
	runs   int
	timers []func()
	pauses []time.Duration // of the timers that were started so far
	heard  []any
	unused func(messages.Contender) bool
	calls  []messages.Contender
}

func newDesk() *desk {
	d := &desk{unused: func(messages.Contender) bool { return false }}
	d.Dispatcher = NewDispatcher(Session{
		Run: func(func(*zkconn.Conn) func()) { d.runs++ },
		After: func(pause time.Duration, do func()) {
			d.timers, d.pauses = append(d.timers, do), append(d.pauses, pause)
		},
		Unused: func(node messages.Contender) bool { return d.unused(node) },
		Calls:  func(string) []messages.Contender { return d.calls },
	})
	d.Connected()
	return d
}

func (d *desk) hear(answer any) { d.heard = append(d.heard, answer) }

func (d *desk) only(t *testing.T) *pending {
	t.Helper()
	require.Len(t, d.queries, 1)
	return slices.Collect(maps.Keys(d.queries))[0]
}

func (d *desk) fire() {
	timers := d.timers
	d.timers = nil
	for _, fire := range timers {
		fire()
	}
}

// TestQueryWaitsForTheConnection: it is run once, anew when its outcome is unknown, and anew in the
// next epoch.
func TestQueryWaitsForTheConnection(t *testing.T) {
	d := newDesk()
	d.Disconnected()
	d.Ask("me", messages.ReadQueue{Path: "/p"}, d.hear)
	require.Zero(t, d.runs)
	d.Connected()
	d.Connected()
	require.Equal(t, 1, d.runs)

	p := d.only(t)
	d.take(p, nil, zkconn.ErrUnknownOutcome)
	d.Connected()
	require.Equal(t, 1, d.runs, "not at once")
	d.fire()
	require.Equal(t, 2, d.runs)
	d.take(p, nil, zkconn.ErrUnknownOutcome)
	d.timers = nil // as when an epoch ends
	d.EpochEnded()
	require.Equal(t, 2, d.runs)
	d.Connected()
	require.Equal(t, 3, d.runs, "the pause ends with the epoch, whose timers do")
	d.EpochEnded()
	d.Connected()
	require.Equal(t, 4, d.runs, "what ran in an epoch that is over is never answered")

	d.take(p, &messages.Queue{Path: "/p"}, nil)
	require.Equal(t, []any{&messages.Queue{Path: "/p"}}, d.heard)
	require.Empty(t, d.queries)
	d.take(p, &messages.Queue{Path: "/p"}, nil)
	require.Len(t, d.heard, 1, "a stale answer")
	d.Ask("me", &messages.ReadQueue{Path: "bad"}, d.hear)
	require.Equal(t, messages.ReasonBadInput, d.heard[1].(*messages.Queue).Reason)
	require.Empty(t, d.queries)
}

// TestPausesOfAFollowerGrow while it fails, and begin anew when it has been answered.
func TestPausesOfAFollowerGrow(t *testing.T) {
	d := newDesk()
	d.Follow("me", messages.Follow{Path: "/p"}, d.hear)
	p := d.only(t)
	for range 3 {
		d.take(p, nil, zkconn.ErrUnknownOutcome)
		d.fire()
	}
	d.take(p, &messages.Queue{Path: "/p"}, nil)
	d.Changed("/p", true)
	d.take(p, nil, zkconn.ErrUnknownOutcome)
	require.Len(t, d.pauses, 4)
	require.Less(t, d.pauses[0], d.pauses[2])
	require.Less(t, d.pauses[3], d.pauses[2])
}

// TestQueryIsRefusedForGood: what cannot be answered better the next time is not run again.
func TestQueryIsRefusedForGood(t *testing.T) {
	for want, err := range map[messages.Reason]error{
		messages.ReasonNoAuth: zkconn.ErrNoAuth, messages.ReasonBadInput: zkconn.ErrBadPath,
		messages.ReasonGone: ErrGone, messages.ReasonRefused: zkconn.ErrRefused,
	} {
		d := newDesk()
		d.Ask("me", &messages.SendRevokeRequest{Path: "/p"}, d.hear)
		d.take(d.only(t), nil, err)
		require.Equal(t, want, d.heard[0].(*messages.RevokeRequestSent).Reason)
		require.Empty(t, d.queries)
	}
	require.True(t, retriable(errors.New("who knows")))
}

// TestQueryIsWithdrawn: with the one that asked, and nobody else's.
func TestQueryIsWithdrawn(t *testing.T) {
	d := newDesk()
	d.Ask("nobody", messages.SendRevokeRequest{Path: "/nobody/hears"}, d.hear)
	d.Ask("one", &messages.ReadQueue{Path: "/one"}, d.hear)
	d.Ask("two", &messages.ReadQueue{Path: "/two"}, d.hear)
	d.Ask("two", "what?", d.hear)
	require.True(t, d.Follow("one", messages.Follow{Path: "/followed"}, d.hear))
	require.Len(t, d.queries, 4)
	d.Withdraw("one")
	d.Withdraw("nobody")
	require.Len(t, d.queries, 2)
	d.Unfollow("one", "")
	require.Equal(t, &messages.Queue{Path: "/two"}, d.only(t).refused)
	d.Close()
	require.Empty(t, d.queries)
	closed := messages.Refusal{Reason: messages.ReasonSessionClosed}
	d.Ask("late", &messages.ReadLocks{Root: "/"}, d.hear)
	require.Equal(t, []any{&messages.Queue{Path: "/two", Refusal: closed}, &messages.LockTree{Root: "/", Refusal: closed}}, d.heard)
}

// TestWithdrawnQueryIsNotRunAgain when its pause is over.
func TestWithdrawnQueryIsNotRunAgain(t *testing.T) {
	d := newDesk()
	d.Ask("me", messages.Break{Contender: messages.Contender{Path: "/p", Node: "lock-0000000001", Token: 1}}, d.hear)
	d.take(d.only(t), nil, zkconn.ErrUnknownOutcome)
	d.Withdraw("me")
	d.fire()
	require.Equal(t, 1, d.runs)
	require.Empty(t, d.heard)
}

// TestFollowerMissesNoChange: what changes while it is told, or while the connection is down, is in
// the next reading.
func TestFollowerMissesNoChange(t *testing.T) {
	d := newDesk()
	require.False(t, d.Follow("me", messages.Follow{Path: ""}, d.hear))
	require.Equal(t, messages.ReasonBadInput, d.heard[0].(*messages.Queue).Reason)
	require.True(t, d.Follow("me", messages.Follow{Path: "/p"}, d.hear))
	require.False(t, d.Follow("me", messages.Follow{Path: "/p"}, d.hear), "asking once more changes nothing")
	p := d.only(t)
	require.Equal(t, 1, d.runs)
	d.Changed("/p", true)
	d.Changed("/p", true)
	d.Changed("/other", true)
	require.Equal(t, 1, d.runs, "one reading at a time")
	d.take(p, &messages.Queue{Path: "/p"}, nil)
	require.Len(t, d.heard, 2)
	require.Equal(t, 2, d.runs)
	d.take(p, &messages.Queue{Path: "/p"}, nil)
	require.Equal(t, 2, d.runs, "nothing has changed")

	d.Disconnected()
	d.Changed("/p", true)
	require.Equal(t, 2, d.runs)
	d.Connected()
	require.Equal(t, 3, d.runs, "the watch has gone with the connection")
	d.Disconnected()
	d.Connected()
	d.take(p, &messages.Queue{Path: "/p"}, nil)
	require.Equal(t, 4, d.runs, "the watch that this reading set may be gone")
	d.EpochEnded()
	d.Connected()
	require.Equal(t, 5, d.runs)

	d.take(p, nil, zkconn.ErrUnknownOutcome)
	d.fire()
	require.Equal(t, 6, d.runs)
	d.take(p, nil, zkconn.ErrNoAuth)
	require.Equal(t, messages.ReasonNoAuth, d.heard[len(d.heard)-1].(*messages.Queue).Reason)
	require.Empty(t, d.queries, "that was the last")
}

// TestInsideIsAnsweredAtOnce: the session knows it by itself, connected or not. A root that is no path is refused, and
// so is the question once the session is closed.
func TestInsideIsAnsweredAtOnce(t *testing.T) {
	d := newDesk()
	d.Disconnected()
	waits := []messages.Contender{{Path: "/a/b", ID: "one"}}
	d.session.Inside = func(root string) ([]messages.Contender, int) { return waits, len(root) }
	d.Ask("me", &messages.ReadInside{Root: "/a"}, d.hear)
	d.Ask("me", messages.ReadInside{Root: "/"}, d.hear)
	require.Equal(t, []any{&messages.Inside{Root: "/a", Waiting: waits, All: 2},
		&messages.Inside{Root: "/", Waiting: waits, All: 1}}, d.heard)
	require.Zero(t, d.runs)
	require.Empty(t, d.queries)
	require.NoError(t, Check(messages.ReadInside{Root: "/"}))
	require.ErrorIs(t, Check(messages.ReadInside{Root: "a"}), zkconn.ErrBadPath)
	d.Ask("me", messages.ReadInside{Root: "a"}, d.hear)
	require.Equal(t, messages.ReasonBadInput, d.heard[2].(*messages.Inside).Reason)
	d.Close()
	d.Ask("me", messages.ReadInside{Root: "/"}, d.hear)
	require.Equal(t, &messages.Inside{Root: "/", Refusal: messages.Refusal{Reason: messages.ReasonSessionClosed}}, d.heard[3])
}
