package sasl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/secrets"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// text gathers what is logged.
type text struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *text) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *text) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// No log line at any level, no printed value and no error has the password in it, under any fault
// of the connection.
func TestPasswordsAreKept(t *testing.T) {
	tell(t, []story{
		{"when all goes well", passwordIsKept},
		{"when it is refused", refusedPasswordIsKept},
	})
}

func passwordIsKept(t *testing.T, at *place) {
	var logged text
	proxy := at.Proxy(t)
	mechanism := digest(t, "bob", passwords["bob"])
	log := slog.New(slog.NewJSONHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	client := open(t, proxy.Addr()+at.Root(), locks.WithSASL(mechanism), locks.WithLogger(log))
	lease := lock(t, client, "/mine")
	before := proxy.Requests(rig.OpSASL)
	proxy.Cut()
	eventually(t, func() bool { return proxy.Requests(rig.OpSASL) > before }, "it never authenticated again")
	unlock(t, lease)
	eventually(t, func() bool { return strings.Contains(logged.String(), "session connected") }, "it logs no session")
	hides(t, passwords["bob"], logged.String(), fmt.Sprintf("%v %+v %#v", mechanism, mechanism, mechanism))

	// Below the locks, where values are small enough to be walked when all is over.
	cfg, err := zkconn.NewConfig(at.Connect(), zkconn.WithSASL(mechanism), zkconn.WithLogger(log))
	require.NoError(t, err)
	events := make(chan zkconn.Event, 100)
	conn, err := zkconn.Dial(cfg, 1, func(e zkconn.Event) { events <- e })
	require.NoError(t, err)
	e := next(t, events)
	require.Equal(t, zkconn.Connected, e.Kind)
	require.NoError(t, conn.Close())
	cfg, err = zkconn.NewConfig(at.Connect(), zkconn.WithSASL(mechanism)) // what is logged is still being told by the other
	require.NoError(t, err)
	found := secrets.Find([]any{&cfg, e, mechanism}, passwords["bob"])
	require.Empty(t, found)
	asJSON, err := json.Marshal([]any{cfg, e, mechanism})
	require.NoError(t, err)
	hides(t, passwords["bob"], logged.String(), string(asJSON), fmt.Sprintf("%v %+v %#v", cfg, conn, e))
}

func refusedPasswordIsKept(t *testing.T, at *place) {
	const guess = "xyzzy-plugh"
	var logged text
	log := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	_, err := locks.Open(deadline(t), at.Connect(), locks.WithSASL(digest(t, "bob", guess)), locks.WithLogger(log))
	require.ErrorIs(t, err, zkconn.ErrAuthFailed)
	eventually(t, func() bool { return strings.Contains(logged.String(), "refused") }, "it does not log that it was refused")
	require.Empty(t, secrets.Find(err, guess))
	hides(t, guess, logged.String(), err.Error(), fmt.Sprintf("%+v %#v", err, err))
}

// hides checks that none of the texts has a password, as text or as printed bytes.
func hides(t *testing.T, password string, texts ...string) {
	t.Helper()
	for _, printed := range []string{
		password, fmt.Sprintf("%q", password), fmt.Sprintf("%x", password), fmt.Sprint([]byte(password)),
	} {
		for _, text := range texts {
			require.NotContains(t, text, printed)
		}
	}
}
