package kerberos

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig/kdc"
	"github.com/turnstile-locks/turnstile/tests/scene"
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
	log, logs := scene.NewLog()
	m := mechanism(t, k, gssapi.WithKeytab(path, "alice"))
	use(t, open(t, server.Addr(), m, logs), fresh("/lock"))
	k.ChangeKey(t, "alice")
	err = refusedOpen(t, server.Addr(), mechanism(t, k, gssapi.WithKeytab(path, "alice")))
	text := fmt.Sprintf("%v %+v %#v", err, err, m)
	require.Contains(t, text, "alice@"+kdc.Realm)
	require.NotEmpty(t, keys.Entries)
	for _, entry := range keys.Entries {
		key := entry.Key.KeyValue[:8]
		for _, form := range []string{string(key), hex.EncodeToString(key), base64.StdEncoding.EncodeToString(key[:6]),
			strings.Trim(fmt.Sprint(key), "[]")} {
			require.NotContains(t, text, form)
			require.False(t, log.Has(form))
		}
	}
}
