package bubble

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Client opens a client of a server. It is closed before the bubble ends.
func Client(t *testing.T, server *embedded.Server, opts ...locks.Option) *locks.Client {
	t.Helper()
	return OpenClient(t, server, server.Connect(), opts...)
}

// OpenClient is Client with a connect string. The client needs no network.
func OpenClient(t *testing.T, server *embedded.Server, connect string, opts ...locks.Option) *locks.Client {
	t.Helper()
	client, err := locks.Open(t.Context(), connect, append([]locks.Option{locks.WithDialer(server.DialContext),
		locks.WithSessionTimeout(10 * time.Second)}, opts...)...)
	require.NoError(t, err)
	CloseLater(t, client)
	return client
}

// OpenThrough is Client by a network that has outages.
func OpenThrough(t *testing.T, server *embedded.Server, d *Network, opts ...locks.Option) *locks.Client {
	t.Helper()
	return Client(t, server, append([]locks.Option{locks.WithDialer(d.Dial)}, opts...)...)
}

// Through opens a client of a server of its own, by a network that has outages.
func Through(t *testing.T, opts ...locks.Option) (*Network, *locks.Client) {
	t.Helper()
	d := &Network{Server: Server(t)}
	return d, OpenThrough(t, d.Server, d, opts...)
}

// CloseLater closes a client before the bubble ends.
func CloseLater(t *testing.T, client *locks.Client) {
	t.Helper()
	relists.Count(t, client.Session())
	patient.Cleanup(t, func() {
		patient.Closed(t, client.Close(context.WithoutCancel(t.Context())))
		time.Sleep(time.Minute) // the actor system's throttle sleeps on for a while
	})
}

// Cycle locks and unlocks once.
func Cycle(t *testing.T, client *locks.Client, path string) {
	t.Helper()
	GiveBack(t, Locked(t, client.Mutex(path).Lock))
}

// Place is a node that holders write under a lock.
const Place = "/value"

// WritePlace makes the node under a lock of another name.
func WritePlace(t *testing.T, client *locks.Client) {
	t.Helper()
	lease := Locked(t, client.Mutex("/setup").Lock)
	_, err := lease.Txn(t.Context(), locks.Create(Place, []byte("first")))
	require.NoError(t, err)
	GiveBack(t, lease)
}

// Swap writes the place at a version.
func Swap(ctx context.Context, lease *locks.Lease, to string, version int32) error {
	_, err := lease.Txn(ctx, locks.Set(Place, []byte(to), version))
	return err
}

// RequireAt finds the version of the place, and so how often it was written.
func RequireAt(t *testing.T, client *locks.Client, version int32) {
	t.Helper()
	lease := Locked(t, client.Mutex("/setup").Lock)
	_, err := lease.Txn(t.Context(), locks.Check(Place, version))
	require.NoError(t, err)
	GiveBack(t, lease)
}

// Locked gives the lease of a Lock that must succeed.
func Locked(t *testing.T, lock func(context.Context) (*locks.Lease, error)) *locks.Lease {
	t.Helper()
	lease, err := lock(t.Context())
	require.NoError(t, err)
	return lease
}

// GiveBack gives leases back, each of which must be valid yet.
func GiveBack(t *testing.T, leases ...*locks.Lease) {
	t.Helper()
	for _, l := range leases {
		require.NoError(t, l.Unlock(t.Context()))
	}
}
