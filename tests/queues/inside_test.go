package queues

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// insideOf gives the requests of a client that wait without a node, once there are so many.
func insideOf(t *testing.T, client *locks.Client, root string, want int) []messages.Contender {
	t.Helper()
	var in *messages.Inside
	scene.Eventually(t, func() bool {
		answer, err := client.Session().Ask(scene.Deadline(t), &messages.ReadInside{Root: root})
		require.NoError(t, err)
		in = answer.(*messages.Inside)
		require.Equal(t, messages.ReasonNone, in.Reason, in.Detail)
		require.Equal(t, root, in.Root)
		return in.All == want
	}, "%d wait without a node below %s", want, root)
	return in.Waiting
}

// TestWhoWaitsInside: a session names its requests that wait without a node, in the order in which they asked: in a
// line, for permits, in a cohort, and for a contest. No request with a node is among them, and no other session's.
func TestWhoWaitsInside(t *testing.T) {
	at := scene.OnEmbedded(t)
	client, other := at.Open(t, locks.WithMaxWaiting(1)), at.Open(t)
	begun := time.Now()
	cohort := scene.Exclusive.With(locks.WithCohort(1000))
	ctx, giveUp := context.WithCancel(scene.Deadline(t))
	var held []*locks.Lease
	var waiting []<-chan scene.Answer
	var want []string
	for i, c := range []struct {
		path        string
		holder      *locks.Client
		holds, asks scene.Kind
		mode        string
	}{
		{"/app/crowd", client, scene.Exclusive, scene.Exclusive, "exclusive 0"},
		{"/app/permits", client, scene.Permits(3, 3), scene.Permits(2, 3), "semaphore 2"},
		{"/app/cohort", other, scene.Exclusive, cohort, "exclusive 0"},
		{"/app2/prize", client, scene.Contest, scene.Contest, "contest 0"},
	} {
		held = append(held, c.holds.Holds(t, c.holder, c.path))
		inside := c.asks.With(locks.WithLabel("inside"))(client, c.path).Lock
		if c.mode != "contest 0" { // the first that waits has a node
			waiting = append(waiting, scene.Elsewhere(ctx, inside))
			scene.AwaitCount(t, at, c.path, 2)
		}
		insideOf(t, client, "/", i)
		waiting = append(waiting, scene.Elsewhere(ctx, inside))
		want = append(want, fmt.Sprintf(`%s %s "inside"`, c.path, c.mode))
		insideOf(t, client, "/", i+1)
	}
	described := func(all []messages.Contender) (words []string) {
		for _, c := range all {
			words = append(words, fmt.Sprintf("%s %s %d %q", c.Path, c.Mode, c.Weight, c.Label))
		}
		return words
	}
	all, ids := insideOf(t, client, "/", 4), map[string]bool{}
	require.Equal(t, want, described(all))
	for _, c := range all {
		require.False(t, c.HasNode())
		require.Zero(t, c.Token)
		require.Equal(t, client.State().ID, c.Session)
		require.WithinRange(t, c.Since, begun, time.Now(), "since the request")
		require.NotEmpty(t, c.Who)
		ids[c.ID] = true
	}
	require.Len(t, ids, 4, "each has an ID of its own")
	for root, many := range map[string]int{"/app": 3, "/app/cohort": 1, "/app/co": 0} { // a part of a name is no root
		insideOf(t, client, root, many)
	}
	insideOf(t, other, "/", 0)

	scene.GiveBack(t, held[0])
	lease := scene.Got(t, waiting[0])
	require.Equal(t, want[1:], described(insideOf(t, client, "/", 3)), "the one in line has a node now")
	giveUp()
	for _, one := range waiting[1:] {
		require.ErrorIs(t, scene.Receive(t, one).Err, context.Canceled)
	}
	insideOf(t, client, "/", 0)
	scene.GiveBack(t, append(held[1:], lease)...)
}

// TestManyWaitInside: the answer names the first hundred that asked, and counts all.
func TestManyWaitInside(t *testing.T) {
	at := scene.OnEmbedded(t)
	client, cohort := at.Open(t), scene.Exclusive.With(locks.WithCohort(1000))
	held := scene.LockAt(t, at.Open(t), "/many")
	ctx, giveUp := context.WithCancel(scene.Deadline(t))
	const named, crowd = 100, 110
	// One that held would be over after a while, and the next have a node.
	asked := []<-chan scene.Answer{scene.Elsewhere(ctx, cohort(client, "/many").Lock)}
	scene.AwaitCount(t, at, "/many", 2)
	var since []time.Time
	for i := range crowd {
		asked = append(asked, scene.Elsewhere(ctx, cohort(client, "/many").Lock))
		scene.AwaitInside(t, client, i+1)
		since = append(since, time.Now())
	}
	all := insideOf(t, client, "/", crowd)
	require.Len(t, all, named)
	for i, c := range all {
		require.False(t, c.Since.After(since[i]))
		require.True(t, i == 0 || c.Since.After(since[i-1]), "in the order in which they asked")
	}
	giveUp()
	for _, one := range asked {
		require.ErrorIs(t, scene.Receive(t, one).Err, context.Canceled)
	}
	insideOf(t, client, "/", 0)
	scene.GiveBack(t, held)
}
