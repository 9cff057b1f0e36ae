package gssapi

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// addKey adds a key made of a password.
func addKey(t testing.TB, to *keytab.Keytab, who principal, password string, version uint8, enctype int32) {
	t.Helper()
	name, at := who.name.PrincipalNameString(), time.Unix(1e9, 0)
	require.NoError(t, to.AddEntry(name, who.realm, password, at, version, enctype))
}

func writeKeytab(t testing.TB, k *keytab.Keytab) (path string, content []byte) {
	t.Helper()
	content, err := k.Marshal()
	require.NoError(t, err)
	path = filepath.Join(t.TempDir(), "keytab")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path, content
}

// Both versions of a key are often added within one second.
func TestNewestKey(t *testing.T) {
	k := keytab.New()
	addKey(t, k, alice, "older", 0, anAES)
	addKey(t, k, alice, "new", 2, anAES)
	addKey(t, k, alice, "old", 1, anAES)
	addKey(t, k, alice, "new", 2, etypeID.RC4_HMAC)
	addKey(t, k, alice, "old", 1, etypeID.AES128_CTS_HMAC_SHA1_96)
	addKey(t, k, zookeeper, "other", 9, anAES)
	path, _ := writeKeytab(t, k)
	read, err := readKeys(path)
	require.NoError(t, err)
	key, version := read.newest(alice, anAES)
	require.Equal(t, 2, version)
	require.Equal(t, k.Entries[1].Key, key)
	require.Equal(t, []int32{anAES, etypeID.RC4_HMAC}, read.types(alice), "what the newest version has, ours first")
	_, err = read.only()
	require.Error(t, err)
}

// The library's words about a keytab quote its bytes.
func TestMalformedKeytab(t *testing.T) {
	k := keytab.New()
	addKey(t, k, alice, "the password", 1, anAES)
	_, content := writeKeytab(t, k)
	key := k.Entries[0].Key.KeyValue
	for cut := range len(content) {
		path := filepath.Join(t.TempDir(), "keytab")
		require.NoError(t, os.WriteFile(path, content[:cut], 0o600))
		_, err := New(WithConfig(writeFile(t, "krb5.conf", "[libdefaults]\n")), WithKeytab(path, alice.String()))
		require.ErrorIs(t, err, zkconn.ErrBadConfig, cut)
		require.ErrorContains(t, err, path)
		requireNo(t, err.Error(), key)
		requireNo(t, err.Error(), content[2:])
	}
}

// requireNo finds no secret in a text, nor the beginning of one, in any of the usual forms.
func requireNo(t testing.TB, text string, secret []byte) {
	t.Helper()
	secret = secret[:min(len(secret), 8)]
	base := base64.StdEncoding.EncodeToString(secret[:6])
	for _, form := range []string{string(secret), hex.EncodeToString(secret), base} {
		require.NotContains(t, text, form)
	}
	require.False(t, bytes.Contains([]byte(text), secret))
}

func TestOnlyPrincipalOfAKeytab(t *testing.T) {
	k := keytab.New()
	addKey(t, k, alice, "a", 1, anAES)
	addKey(t, k, alice, "b", 2, anAES)
	path, _ := writeKeytab(t, k)
	m, err := New(WithConfig(writeFile(t, "krb5.conf", "[libdefaults]\n")), WithKeytab(path, ""))
	require.NoError(t, err)
	require.Equal(t, "alice@EXAMPLE.COM", m.Principal())
	require.Equal(t, "GSSAPI as alice@EXAMPLE.COM by keytab "+path, m.String())
}
