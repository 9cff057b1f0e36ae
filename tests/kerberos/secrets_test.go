package kerberos

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig/kdc"
	"github.com/turnstile-locks/turnstile/zkconn/gssapi"
)

// Neither what is logged nor what fails shows a key.
func TestNothingThatIsLoggedShowsAKey(t *testing.T) {
	k := newRealm(t)
	server := demandingServer.Get(t)
	path := k.Keytab(t, "alice")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	keys := keytab.New()
	require.NoError(t, keys.Unmarshal(content))
	var text tail
	logger := locks.WithLogger(slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug})))
	m := mechanism(t, k, gssapi.WithKeytab(path, "alice"))
	use(t, open(t, server.Addr(), m, logger), fresh("/lock"))
	k.ChangeKey(t, "alice")
	err = refusedOpen(t, server.Addr(), mechanism(t, k, gssapi.WithKeytab(path, "alice")))
	fmt.Fprintf(&text, "%v %+v %#v", err, err, m)

	require.Contains(t, text.String(), "alice@"+kdc.Realm)
	require.NotEmpty(t, keys.Entries)
	for _, entry := range keys.Entries {
		key := entry.Key.KeyValue[:8]
		for _, form := range []string{string(key), hex.EncodeToString(key), base64.StdEncoding.EncodeToString(key[:6]),
			strings.Trim(fmt.Sprint(key), "[]")} {
			require.NotContains(t, text.String(), form)
		}
	}
}

// tail keeps the log of several goroutines.
type tail struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *tail) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
