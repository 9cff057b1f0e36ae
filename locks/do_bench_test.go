package locks

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// BenchmarkDo: what Do costs with a server in the process, and what of that is Do's own: Lock and Unlock are the rest.
func BenchmarkDo(b *testing.B) {
	client, err := Open(b.Context(), embedded.Run(b).Addr())
	require.NoError(b, err)
	defer client.Close(context.Background())
	lock := client.Mutex("/bench")
	b.Run("Do", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			require.NoError(b, Do(b.Context(), lock, func(context.Context, Token) error { return nil }))
		}
	})
	b.Run("Lock and Unlock", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			lease, err := lock.Lock(b.Context())
			require.NoError(b, err)
			require.NoError(b, lease.Unlock(b.Context()))
		}
	})
}
