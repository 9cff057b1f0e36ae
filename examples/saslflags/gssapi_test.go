package saslflags

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/stretchr/testify/require"
)

// kerberosFiles are a krb5.conf and a keytab with one principal.
func kerberosFiles(t *testing.T) (config, keys string) {
	t.Helper()
	folder := t.TempDir()
	config, keys = filepath.Join(folder, "krb5.conf"), filepath.Join(folder, "keytab")
	require.NoError(t, os.WriteFile(config, []byte("[libdefaults]\n default_realm = EXAMPLE.COM\n"), 0o600))
	k := keytab.New()
	at := time.Unix(1e9, 0)
	require.NoError(t, k.AddEntry("app/host", "EXAMPLE.COM", "secret", at, 1, etypeID.AES256_CTS_HMAC_SHA1_96))
	content, err := k.Marshal()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(keys, content, 0o600))
	return config, keys
}

func TestKerberosSettings(t *testing.T) {
	config, keys := kerberosFiles(t)
	t.Setenv("KRB5_CONFIG", config)
	for what, s := range map[string]Source{
		"a file": source(t, "gssapi", "keytab="+keys+"\nprincipal=app/host\nservice=zk\ncanonicalize=false\n", nil),
		"the environment": source(t, "GSSAPI", "",
			map[string]string{"P_SASL_KEYTAB": keys, "P_SASL_SERVER": "zookeeper/all"}),
		"what is typed": {Name: "gssapi", Typed: map[string]string{"keytab": keys, "principal": "app/host@EXAMPLE.COM"},
			Prefix: "P_SASL", Env: func(name string) string { return map[string]string{"P_SASL_KEYTAB": "/nowhere"}[name] }},
	} {
		t.Run(what, func(t *testing.T) {
			m, err := s.Mechanism()
			require.NoError(t, err)
			require.Equal(t, "GSSAPI", m.Name())
			require.Equal(t, "app/host@EXAMPLE.COM", m.Principal())
		})
	}
	m, err := source(t, "gssapi", "ccache=FILE:/some/cache", nil).Mechanism()
	require.NoError(t, err)
	require.Contains(t, m.Principal(), "/some/cache")
}

func TestWhatIsWrongWithKerberosIsSaid(t *testing.T) {
	config, keys := kerberosFiles(t)
	t.Setenv("KRB5_CONFIG", config)
	typed := map[string]string{"keytab": keys}
	for reason, s := range map[string]Source{
		"/nowhere":                  source(t, "gssapi", "keytab=/nowhere", nil),
		"has no key of else":        source(t, "gssapi", "keytab="+keys+"\nprincipal=else", nil),
		"without a keytab":          source(t, "gssapi", "principal=app/host", nil),
		"both a keytab":             source(t, "gssapi", "keytab="+keys+"\nccache=/some/cache", nil),
		"must be true or false":     source(t, "gssapi", "canonicalize=maybe", nil),
		"no such file":              source(t, "gssapi", "krb5conf=/nowhere", nil),
		"sets none of keytab":       source(t, "gssapi", "password=secret", nil),
		"P_SASL_KEYTAB":             source(t, "gssapi", "principal=app/host", nil),
		"a keytab is not for":       {Name: "digest-md5", Typed: typed, Env: func(string) string { return "" }},
		"no mechanism is named: --": {Typed: typed, Env: func(string) string { return "" }},
	} {
		_, err := s.Mechanism()
		require.ErrorContains(t, err, reason)
	}
}
