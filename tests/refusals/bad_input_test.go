package refusals

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Bad options are refused before anything is sent. It needs no server.
func TestBadOptions(t *testing.T) {
	for name, try := range map[string]func() (*locks.Client, error){
		"no servers":        func() (*locks.Client, error) { return locks.Open(context.Background(), "") },
		"empty host":        func() (*locks.Client, error) { return locks.Open(context.Background(), "a:1,,b:2") },
		"bad port":          func() (*locks.Client, error) { return locks.Open(context.Background(), "a:port") },
		"bad chroot":        func() (*locks.Client, error) { return locks.Open(context.Background(), "a:1/x//y") },
		"zero timeout":      openWith(locks.WithSessionTimeout(0)),
		"negative timeout":  openWith(locks.WithSessionTimeout(-time.Second)),
		"empty auth scheme": openWith(locks.WithAuth("", []byte("x"))),
		"sasl":              openWith(locks.WithAuth("sasl", []byte("x"))),
		"bad digest":        openWith(locks.WithAuth("digest", []byte("nobody"))),
		"empty ACL":         openWith(locks.WithACL()),
		"server tick":       openWith(locks.WithServerTick(0)),
		"suspended time":    openWith(locks.WithSuspendedTime(nil)),
	} {
		client, err := try()
		require.ErrorIs(t, err, zkconn.ErrBadConfig, name)
		require.Nil(t, client, name)
	}
}

func openWith(opt locks.Option) func() (*locks.Client, error) {
	return func() (*locks.Client, error) { return locks.Open(context.Background(), "127.0.0.1:1", opt) }
}

// An auth scheme that the server does not know: a clear error, and nothing left running.
func TestUnknownAuthScheme(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client, err := locks.Open(patient.Deadline(t), zk.Connect(), locks.WithAuth("nosuch", []byte("me")))
		require.ErrorIs(t, err, zkconn.ErrAuthFailed)
		require.ErrorContains(t, err, "nosuch")
		require.Nil(t, client)
	})
}

// A lock path that the ACL keeps from us: a clear error, and nothing left behind. With the credential
// it works, also when the connection was cut and the credential had to be sent again.
func TestDeniedByACL(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, s *stories.Servers) {
		raw := s.Raw(t)
		require.NoError(t, raw.AddAuth("digest", []byte("me:secret")))
		_, err := raw.Create(s.Root()+"/mine", nil, 0, zk.AuthACL(zk.PermAll))
		require.NoError(t, err)

		_, err = s.Open(t).Mutex("/mine").Lock(patient.Deadline(t))
		require.ErrorIs(t, err, zkconn.ErrNoAuth)
		require.ErrorContains(t, err, "/mine")
		_, err = s.Open(t).Mutex("/mine/below").Lock(patient.Deadline(t))
		require.ErrorIs(t, err, zkconn.ErrNoAuth)
		require.Empty(t, s.Children(t, raw, "/mine"))

		proxy := s.Proxy(t)
		mutex, rec := patient.Recorded(t, patient.Open(t, proxy.Addr()+s.Root(),
			locks.WithAuth("digest", []byte("me:secret"))), "/mine")
		lease := patient.Locked(t, mutex.Lock)
		proxy.Cut()
		_, err = rec.AwaitNth(patient.Deadline(t), messages.StateHeld, 2)
		require.NoError(t, err)
		patient.GiveBack(t, lease)
		require.Empty(t, s.Children(t, raw, "/mine"))
	})
}

// We may create and delete in the lock path but not write it: the answer to the create says less then,
// and the lock works all the same.
func TestLockPathThatMayNotBeWritten(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, s *stories.Servers) {
		raw := s.Raw(t)
		_, err := raw.Create(s.Root()+"/read-only", nil, 0, zk.WorldACL(zk.PermRead|zk.PermCreate|zk.PermDelete))
		require.NoError(t, err)
		one, two := s.Open(t), s.Open(t)
		first := patient.Locked(t, one.Mutex("/read-only").Lock)
		got := patient.Elsewhere(patient.Deadline(t), two.Mutex("/read-only").Lock)
		stories.AwaitCount(t, s, "/read-only", 2)
		patient.GiveBack(t, first)
		second := patient.Receive(t, got)
		require.NoError(t, second.Err)
		require.Greater(t, second.Lease.Token(), first.Token())
	})
}

// We may create in the lock path but not delete: Unlock says so, and the session is ended for it, for
// nothing else removes the node. The client goes on with the next session.
func TestLockPathThatNothingMayBeDeletedFrom(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, s *stories.Servers) {
		raw := s.Raw(t)
		_, err := raw.Create(s.Root()+"/keeps", nil, 0, zk.WorldACL(zk.PermRead|zk.PermWrite|zk.PermCreate))
		require.NoError(t, err)
		client := s.Open(t)
		session := client.Session().ID()
		lease := patient.Locked(t, client.Mutex("/keeps").Lock)
		err = lease.Unlock(patient.Deadline(t))
		require.ErrorIs(t, err, zkconn.ErrNoAuth)
		require.ErrorContains(t, err, "/keeps")
		stories.AwaitNone(t, s, "/keeps")
		other := patient.Locked(t, client.Mutex("/other").Lock)
		patient.GiveBack(t, other)
		require.NotEqual(t, session, client.Session().ID())
	})
}
