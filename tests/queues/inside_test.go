package queues

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// insideOf gives the requests of a client that wait without a node.
func insideOf(t *testing.T, client *locks.Client, root string) *messages.Inside {
	t.Helper()
	answer, err := client.Session().Ask(patient.Deadline(t), &messages.ReadInside{Root: root})
	require.NoError(t, err)
	in := answer.(*messages.Inside)
	require.Equal(t, messages.ReasonNone, in.Reason, in.Detail)
	require.Equal(t, root, in.Root)
	return in
}

// awaitInside waits until so many requests of a client wait without a node, and gives them.
func awaitInside(t *testing.T, client *locks.Client, root string, want int) *messages.Inside {
	t.Helper()
	var in *messages.Inside
	patient.Eventually(t, func() bool {
		in = insideOf(t, client, root)
		return in.All == want
	}, "%d wait without a node below %s", want, root)
	return in
}

// described writes what is told of those that wait: path, mode and weight, label, owner and caller.
func described(in *messages.Inside) (all []string) {
	for _, c := range in.Waiting {
		all = append(all, fmt.Sprintf("%s %s %d %q owner %q caller %q", c.Path, c.Mode, c.Weight, c.Label, c.Owner, c.Caller))
	}
	return all
}

// leadsCohort has a request of a client lead a cohort behind another client, which holds, until ctx ends. A cohort that
// holds would be over after a while, and the next of it have a node.
func leadsCohort(t *testing.T, ctx context.Context, other, client *locks.Client, path string) *locks.Lease {
	t.Helper()
	held := patient.Locked(t, other.Mutex(path).Lock)
	patient.Elsewhere(ctx, client.Mutex(path, locks.WithCohort(1000)).Lock)
	patient.Eventually(t, func() bool { return len(patient.QueueOf(t, other, path)) == 2 }, "it has a node at %s", path)
	awaitInside(t, client, path, 0)
	return held
}

// TestWhoWaitsInside: a session names its requests that wait without a node, in the order in which they asked: in a
// line, for permits, in a cohort, and for a contest. No request with a node is among them, and no other session's.
func TestWhoWaitsInside(t *testing.T) {
	zk := embedded.Run(t)
	client, other := patient.Open(t, zk.Addr(), locks.WithMaxWaiting(1)), patient.Open(t, zk.Addr())
	begun := time.Now()
	ctx, giveUp := context.WithCancel(patient.Deadline(t))
	type lock func(context.Context) (*locks.Lease, error)
	var asked []<-chan patient.Answer
	ask := func(lock lock, inside int) { // and wait until so many wait inside
		t.Helper()
		asked = append(asked, patient.Elsewhere(ctx, lock))
		awaitInside(t, client, "/", inside)
	}
	contenders := func(path string, want int) {
		t.Helper()
		patient.Eventually(t, func() bool { return len(patient.QueueOf(t, other, path)) == want },
			"%d have nodes at %s", want, path)
	}

	crowd := client.Mutex("/app/crowd", locks.WithLabel("crowd"))
	held := patient.Locked(t, crowd.Lock)
	second := patient.Elsewhere(ctx, crowd.Lock)
	contenders("/app/crowd", 2)
	awaitInside(t, client, "/", 0)
	ask(crowd.Lock, 1)

	permits := client.Semaphore("/app/permits", 3, locks.WithLabel("permits"))
	allPermits, err := permits.Acquire(ctx, 3)
	require.NoError(t, err)
	waits := patient.Elsewhere(ctx, func(ctx context.Context) (*locks.Lease, error) { return permits.Acquire(ctx, 1) })
	contenders("/app/permits", 2)
	awaitInside(t, client, "/", 1)
	ask(func(ctx context.Context) (*locks.Lease, error) { return permits.Acquire(ctx, 2) }, 2)

	others := leadsCohort(t, ctx, other, client, "/app/cohort")
	ask(client.Mutex("/app/cohort", locks.WithCohort(1000), locks.WithLabel("cohort")).Lock, 3)

	prize := patient.Locked(t, client.Contest("/app2/prize").Lock)
	ask(client.Contest("/app2/prize", locks.WithLabel("prize")).Lock, 4)

	in := insideOf(t, client, "/")
	require.Equal(t, []string{
		`/app/crowd exclusive 0 "crowd" owner "" caller ""`,
		`/app/permits semaphore 2 "permits" owner "" caller ""`,
		`/app/cohort exclusive 0 "cohort" owner "" caller ""`,
		`/app2/prize contest 0 "prize" owner "" caller ""`,
	}, described(in))
	ids := map[string]bool{}
	for _, c := range in.Waiting {
		require.False(t, c.HasNode())
		require.Zero(t, c.Token)
		require.Equal(t, client.State().ID, c.Session)
		require.WithinRange(t, c.Since, begun, time.Now(), "since the request")
		require.NotEmpty(t, c.Who)
		ids[c.ID] = true
	}
	require.Len(t, ids, 4, "each has an ID of its own")

	require.Equal(t, 3, insideOf(t, client, "/app").All)
	require.Len(t, described(insideOf(t, client, "/app/cohort")), 1, "also at the root itself")
	require.Zero(t, insideOf(t, client, "/app/co").All, "a part of a name is no root")
	require.Zero(t, insideOf(t, other, "/").All, "another session's are not known")

	patient.GiveBack(t, held)
	got := patient.Receive(t, second)
	require.NoError(t, got.Err)
	require.Equal(t, []string{
		`/app/permits semaphore 2 "permits" owner "" caller ""`,
		`/app/cohort exclusive 0 "cohort" owner "" caller ""`,
		`/app2/prize contest 0 "prize" owner "" caller ""`,
	}, described(awaitInside(t, client, "/", 3)), "the one in line has a node now")

	giveUp()
	for _, one := range append(asked, waits) {
		require.ErrorIs(t, patient.Receive(t, one).Err, context.Canceled)
	}
	awaitInside(t, client, "/", 0)
	patient.GiveBack(t, got.Lease, allPermits, others, prize)
}

// TestManyWaitInside: the answer names the first hundred that asked, and counts all.
func TestManyWaitInside(t *testing.T) {
	zk := embedded.Run(t)
	client := patient.Open(t, zk.Addr())
	ctx, giveUp := context.WithCancel(patient.Deadline(t))
	others := leadsCohort(t, ctx, patient.Open(t, zk.Addr()), client, "/many")
	const named, crowd = 100, 110
	var asked []<-chan patient.Answer
	mutex := client.Mutex("/many", locks.WithCohort(1000))
	var since []time.Time
	for i := range crowd {
		asked = append(asked, patient.Elsewhere(ctx, mutex.Lock))
		patient.AwaitInside(t, client, i+1)
		since = append(since, time.Now())
	}
	in := insideOf(t, client, "/")
	require.Equal(t, crowd, in.All)
	require.Len(t, in.Waiting, named)
	for i, c := range in.Waiting {
		require.False(t, c.Since.After(since[i]))
		require.True(t, i == 0 || c.Since.After(since[i-1]), "in the order in which they asked")
	}
	giveUp()
	for _, one := range asked {
		require.ErrorIs(t, patient.Receive(t, one).Err, context.Canceled)
	}
	awaitInside(t, client, "/", 0)
	patient.GiveBack(t, others)
}

// TestWhoWaitsInsideWithoutAServer: the session answers by itself, so also while it has no connection. A root that is
// not a path is refused.
func TestWhoWaitsInsideWithoutAServer(t *testing.T) {
	zk := embedded.Run(t)
	client := patient.Open(t, zk.Addr())
	mutex := client.Mutex("/cut", locks.WithCohort(1000))
	ctx, giveUp := context.WithCancel(patient.Deadline(t))
	leadsCohort(t, ctx, patient.Open(t, zk.Addr()), client, "/cut")
	second := patient.Elsewhere(ctx, mutex.Lock)
	awaitInside(t, client, "/", 1)
	zk.Replica(0).Stop()
	patient.Eventually(t, func() bool { return client.State().Phase == actors.Disconnected }, "it has no connection")
	third := patient.Elsewhere(ctx, mutex.Lock)
	awaitInside(t, client, "/cut", 2)
	answer, err := client.Session().Ask(patient.Deadline(t), messages.ReadInside{Root: "cut"})
	require.NoError(t, err)
	require.Equal(t, messages.ReasonBadInput, answer.(*messages.Inside).Reason)

	giveUp()
	require.NoError(t, zk.Replica(0).Start())
	for _, one := range []<-chan patient.Answer{second, third} {
		require.ErrorIs(t, patient.Receive(t, one).Err, context.Canceled)
	}
	awaitInside(t, client, "/", 0)
}
