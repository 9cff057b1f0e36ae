package queues

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
