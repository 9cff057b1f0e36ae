package access

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/tests/snapshot"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// No log line at any level, no printed value and no error has the password in it.
func TestPasswordsAreKept(t *testing.T) {
	tellSASL(t, []story{
		{"when all goes well", passwordIsKept},
		{"when it is refused", refusedPasswordIsKept},
	})
}

func passwordIsKept(t *testing.T, at *place) {
	log, logs := scene.NewLog()
	proxy := at.Proxy(t)
	m := mechanism(t, bob, passwords[bob])
	client := scene.Open(t, proxy.Addr()+at.Root(), locks.WithSASL(m), logs)
	lease := scene.LockAt(t, client, "/mine")
	before := proxy.Requests(rig.OpSASL)
	proxy.Cut()
	scene.Eventually(t, func() bool { return proxy.Requests(rig.OpSASL) > before }, "it never authenticated again")
	scene.GiveBack(t, lease)
	log.Await(t, "session connected")

	// Below the locks, where values are small enough to be walked when all is over.
	conn, events := dial(t, at.Connect(), zkconn.WithSASL(m), zkconn.WithLogger(slog.New(log)))
	e := scene.Receive(t, events)
	require.Equal(t, zkconn.Connected, e.Kind)
	require.NoError(t, conn.Close())
	cfg, err := zkconn.NewConfig(at.Connect(), zkconn.WithSASL(m))
	require.NoError(t, err)
	require.Empty(t, snapshot.FindText([]any{&cfg, e, m}, passwords[bob]))
	asJSON, err := json.Marshal([]any{cfg, e, m})
	require.NoError(t, err)
	hides(t, log, passwords[bob], fmt.Sprintf("%s %v %+v %#v %v %+v %#v", asJSON, m, m, m, cfg, conn, e))
}

func refusedPasswordIsKept(t *testing.T, at *place) {
	const guess = "xyzzy-plugh"
	log, logs := scene.NewLog()
	_, err := locks.Open(scene.Deadline(t), at.Connect(), locks.WithSASL(mechanism(t, bob, guess)), logs)
	require.ErrorIs(t, err, zkconn.ErrAuthFailed)
	log.Await(t, "refused")
	require.Empty(t, snapshot.FindText(err, guess))
	hides(t, log, guess, fmt.Sprintf("%v %+v %#v", err, err, err))
}

// hides checks that neither what was logged nor a text has a password, as text or as printed bytes.
func hides(t *testing.T, log *scene.Log, password, text string) {
	t.Helper()
	for _, printed := range []string{password, fmt.Sprintf("%q", password), fmt.Sprintf("%x", password), fmt.Sprint([]byte(password))} {
		require.False(t, log.Has(printed))
		require.NotContains(t, text, printed)
	}
}

// dial makes a connection below the locks, and gives its events.
func dial(t *testing.T, connect string, opts ...zkconn.Option) (*zkconn.Conn, <-chan zkconn.Event) {
	t.Helper()
	cfg, err := zkconn.NewConfig(connect, append([]zkconn.Option{zkconn.WithSessionTimeout(scene.Session)}, opts...)...)
	require.NoError(t, err)
	events := make(chan zkconn.Event, 1000)
	conn, err := zkconn.Dial(cfg, 1, func(e zkconn.Event) { events <- e })
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn, events
}
