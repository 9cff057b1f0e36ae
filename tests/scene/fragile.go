package scene

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// Fragile is a stage behind a proxy, whose session a test can end.
type Fragile struct {
	*Stage
	Proxy *rig.Proxy
	at    *Servers
}

// NewFragile makes one.
func NewFragile(t *testing.T, at *Servers) *Fragile {
	t.Helper()
	proxy := at.Proxy(t)
	return &Fragile{NewStage(t, proxy.Addr()+at.Root()), proxy, at}
}

// Expire ends the session while its client cannot connect, and then lets it.
func (f *Fragile) Expire(t *testing.T) {
	t.Helper()
	id, password, ok := f.Proxy.Session()
	require.True(t, ok)
	f.Proxy.Refuse(true)
	f.Proxy.Cut()
	require.NoError(t, rig.ExpireSession(Deadline(t), f.at.Members[0].Addr(), id, password))
	f.Proxy.Refuse(false)
}
