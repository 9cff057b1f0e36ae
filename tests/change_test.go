package tests

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// changesHeard has the changes that WithOnChange was told.
type changesHeard struct {
	mu   sync.Mutex
	all  []locks.Change
	slow time.Duration
}

func (h *changesHeard) hear(c locks.Change) {
	time.Sleep(h.slow)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, c)
}

func (h *changesHeard) kinds() (kinds []locks.ChangeKind) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.all {
		kinds = append(kinds, c.Kind)
	}
	return kinds
}

// TestOnChange: an outage that is survived, a revoke request, and an outage that is not are told in order, each with the
// time that is left; a listener that takes its time delays nothing but itself.
func TestOnChange(t *testing.T) {
	for _, slow := range []time.Duration{0, time.Minute} {
		t.Run(slow.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
				d := &outageDialer{server: server}
				client, other := openThrough(t, server, d), openVirtual(t, server, server.Connect())
				h := &changesHeard{slow: slow}
				lease, err := client.Mutex("/change", locks.WithOnChange(h.hear), locks.WithGrace(time.Hour)).Lock(t.Context())
				require.NoError(t, err)
				time.Sleep(time.Minute)
				d.outage(time.Second)
				time.Sleep(time.Minute)
				require.True(t, lease.Valid())
				asked := time.Now()
				_, err = other.Revoke(t.Context(), "/change")
				require.NoError(t, err)
				time.Sleep(time.Minute)
				d.outage(time.Minute)
				require.False(t, lease.Valid(), "the listener does not hold up the session")
				time.Sleep(10 * time.Minute)
				require.Equal(t, []locks.ChangeKind{locks.Suspended, locks.Resumed, locks.RevokeRequested, locks.Suspended,
					locks.Lost}, h.kinds())
				for _, c := range h.all {
					require.Same(t, lease, c.Lease)
				}
				require.Positive(t, h.all[0].Left)
				require.LessOrEqual(t, h.all[0].Left, 5*time.Second)
				require.WithinDuration(t, asked.Add(time.Hour), h.all[2].Until, time.Minute)
				require.ErrorIs(t, h.all[4].Err, locks.ErrLost)
			})
		})
	}
}

// TestOnChangeSaysNothingOfAnOwnersRelease: it knows.
func TestOnChangeSaysNothingOfAnOwnersRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
		client := openVirtual(t, server, server.Connect())
		h := &changesHeard{}
		cycle(t, client.Mutex("/change", locks.WithOnChange(h.hear)))
		lease, err := client.Mutex("/change", locks.WithOnChange(h.hear), locks.WithMaxHold(time.Minute)).Lock(t.Context())
		require.NoError(t, err)
		<-lease.Context().Done()
		synctest.Wait()
		require.Equal(t, []locks.ChangeKind{locks.Lost}, h.kinds())
		require.ErrorIs(t, h.all[0].Err, locks.ErrMaxHold)
	})
}

// TestReady: a client is ready while a server answers and through a short outage, and not while nothing can be renewed.
func TestReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
		d := &outageDialer{server: server}
		client := openThrough(t, server, d)
		require.NoError(t, client.Ready())
		state := client.State()
		require.Equal(t, locks.PhaseConnected, state.Phase)
		require.Equal(t, uint64(1), state.Epoch)
		require.NotZero(t, state.ID)
		require.NotEmpty(t, state.Server)
		require.Equal(t, 10*time.Second, state.Timeout)
		require.NoError(t, state.Cause)

		over := make(chan struct{})
		go func() { defer close(over); d.outage(time.Minute) }()
		time.Sleep(1900 * time.Millisecond)
		require.Equal(t, locks.PhaseDisconnected, client.State().Phase)
		require.NoError(t, client.Ready(), "short so far")
		time.Sleep(200 * time.Millisecond)
		err := client.Ready()
		require.ErrorContains(t, err, "in an outage")
		require.NotContains(t, err.Error(), "\n")
		<-over
		time.Sleep(time.Minute) // the session has expired, and there is a new one
		require.NoError(t, client.Ready())
		require.Equal(t, uint64(2), client.State().Epoch)
	})
}

// TestReadyWhenNobodyAnswers: the connection stays up, and the heartbeats of a holder get no answer.
func TestReadyWhenNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
		client := openVirtual(t, server, server.Connect())
		lease, err := client.Mutex("/ready").Lock(t.Context())
		require.NoError(t, err)
		time.Sleep(time.Minute)
		server.Leader().HoldReplies()
		<-lease.Context().Done()
		require.Equal(t, locks.PhaseUnanswered, client.State().Phase)
		time.Sleep(time.Second)
		require.Error(t, client.Ready())
		server.Leader().ReleaseReplies()
		time.Sleep(time.Minute)
		require.NoError(t, client.Ready())
		require.NoError(t, client.Close(t.Context()))
		require.ErrorIs(t, client.Ready(), locks.ErrClosed)
	})
}

// openThrough is openVirtual with a dialer whose network has outages.
func openThrough(t *testing.T, server *embedded.Server, d *outageDialer) *locks.Client {
	t.Helper()
	client, err := locks.Open(t.Context(), server.Connect(), locks.WithDialer(d.dial), locks.WithSessionTimeout(10*time.Second))
	require.NoError(t, err)
	closeLater(t, client)
	return client
}

// TestOnChangeMayLock: what is told of a lease may be answered with locks of the same client, and with that lease.
func TestOnChangeMayLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
		client, other := openVirtual(t, server, server.Connect()), openVirtual(t, server, server.Connect())
		done := make(chan error, 1)
		lease, err := client.Mutex("/change", locks.WithOnChange(func(c locks.Change) {
			second, err := client.Mutex("/second").Lock(t.Context())
			if err == nil {
				err = errors.Join(second.Unlock(t.Context()), c.Lease.Unlock(t.Context()))
			}
			done <- err
		})).Lock(t.Context())
		require.NoError(t, err)
		_, err = other.Revoke(t.Context(), "/change")
		require.NoError(t, err)
		require.NoError(t, <-done)
		require.ErrorIs(t, lease.Unlock(t.Context()), locks.ErrNotHeld)
	})
}
