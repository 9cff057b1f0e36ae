package kinds

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// The bounds on the effects of one release of a semaphore, however long the queue is.
const (
	// wakesPerRelease: the first waiter holds; the second becomes the first one.
	wakesPerRelease = 2
	// eventsPerRelease: the end of the holder's node is told to its own session and to the sessions
	// of first waiters that watched it, at most all of them; the write to the new holder's node is
	// told to the session of the next waiter.
	eventsPerRelease = queueSessions + 1

	queueSessions = 4
)

// TestSemaphoreWakesAsManyForTenAsForAThousand: the number of watch events that the servers send, and of
// contenders that are woken, for each release. (On the ensemble it goes up to a hundred: a thousand take long there.)
func TestSemaphoreWakesAsManyForTenAsForAThousand(t *testing.T) {
	const permits, sessions, releases = 3, queueSessions, 8
	stories.EachServerAlone(t, func(t *testing.T, zk *stories.Servers) {
		for _, waiters := range []int{10, 100, 1000} {
			if waiters == 1000 && len(zk.Members) > 1 {
				break
			}
			path := "/" + strconv.Itoa(waiters)
			var clients []*locks.Client
			var wires []*wireEvents
			var held []<-chan patient.Answer
			seen := newTally()
			for range sessions {
				client, events := openCounted(t, zk)
				clients, wires = append(clients, client), append(wires, events)
			}
			for i, client := range clients {
				semaphore := client.Semaphore(path, permits, seen.of(t, client))
				for n := i; n < permits+waiters; n += sessions {
					held = append(held, patient.Elsewhere(patient.Deadline(t), func(ctx context.Context) (*locks.Lease, error) { return semaphore.Acquire(ctx, 1) }))
				}
			}
			seen.await(t, messages.StateHeld, permits)
			seen.await(t, messages.StateWatching, waiters)
			begun := countAll(t, zk, clients, wires, path)

			woken, watching := seen.wakes(), seen.count(messages.StateWatching)
			leases := gather(held)
			for n := range releases {
				patient.GiveBack(t, <-leases)
				seen.await(t, messages.StateHeld, permits+n+1)
				seen.await(t, messages.StateWatching, watching+n+1) // the next is the first waiter now
			}
			events := countAll(t, zk, clients, wires, path)
			woken = seen.wakes() - woken
			t.Logf("%d waiters: %.2f watch events and %.2f woken a release (%d events while they came)",
				waiters, float64(events)/releases, float64(woken)/releases, begun)
			require.LessOrEqual(t, woken, wakesPerRelease*releases)
			require.LessOrEqual(t, events, eventsPerRelease*releases)
			require.GreaterOrEqual(t, woken, releases)
			for _, client := range clients {
				require.Zero(t, client.Session().Counters().Polls)
				require.NoError(t, client.Close(patient.Deadline(t)))
			}
		}
	})
}

// countAll counts the events of a lock path that clients were sent so far, and forgets them.
func countAll(t *testing.T, zk *stories.Servers, clients []*locks.Client, wires []*wireEvents, path string) (n int) {
	t.Helper()
	for i, client := range clients {
		patient.CatchUp(t, client)
		n += wires[i].below(zk.Root() + path)
	}
	return n
}

// gather gives the leases as they come. Nobody waits for the answers that come when all is over.
func gather(held []<-chan patient.Answer) <-chan *locks.Lease {
	leases := make(chan *locks.Lease, len(held))
	for _, got := range held {
		go func() {
			if a := <-got; a.Lease != nil {
				leases <- a.Lease
			}
		}()
	}
	return leases
}
