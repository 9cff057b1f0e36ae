package gssapi

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/stretchr/testify/require"
)

func TestConfigWithIncludes(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write("conf.d/one.conf", "[realms]\n A.COM = {\n  kdc = kdc.a.com\n  kdc = tcp/other.a.com:89\n }\n")
	write("conf.d/two", "[libdefaults]\n clockskew = 60\n")
	write("conf.d/.hidden.conf", "[libdefaults]\n clockskew = 1\n")
	write("conf.d/old.rpmsave", "[libdefaults]\n clockskew = 2\n")
	more := write("more", "[domain_realm]\n .b.com = B.COM\n")
	path := write("krb5.conf", "# first\nincludedir "+folder+"/conf.d\ninclude "+more+"\n"+
		"[libdefaults]\n default_realm = A.COM\n ticket_lifetime = 10m\n[realms]\n B.COM = {\n  kdc = kdc.b.com:88\n }\n")

	cfg, err := readConfig(path)
	require.NoError(t, err)
	require.Equal(t, "A.COM", cfg.LibDefaults.DefaultRealm)
	require.Equal(t, time.Minute, cfg.LibDefaults.Clockskew)
	require.Equal(t, 10*time.Minute, cfg.LibDefaults.TicketLifetime)
	require.Equal(t, "B.COM", cfg.ResolveRealm("zk1.b.com"))
	require.Len(t, cfg.Realms, 2)

	k := newKDCs(cfg, time.Now)
	ways, err := k.ways(t.Context(), "A.COM", 100)
	require.NoError(t, err)
	require.Equal(t, []way{{"tcp", "kdc.a.com:88"}, {"tcp", "other.a.com:89"}, {"udp", "kdc.a.com:88"}}, ways)
	k.answered["A.COM"] = "other.a.com:89"
	ways, err = k.ways(t.Context(), "A.COM", 10_000)
	require.NoError(t, err)
	require.Equal(t, []way{{"tcp", "other.a.com:89"}, {"tcp", "kdc.a.com:88"}}, ways)
	_, err = k.ways(t.Context(), "C.COM", 100)
	require.ErrorIs(t, err, ErrNoKDC)
}

func TestConfigOfSeveralFiles(t *testing.T) {
	first := writeFile(t, "a", "[libdefaults]\n default_realm = A.COM\n")
	second := writeFile(t, "b", "[realms]\n A.COM = {\n  kdc = kdc.a.com\n }\n")
	t.Setenv("KRB5_CONFIG", "/nowhere"+string(os.PathListSeparator)+first+string(os.PathListSeparator)+second)
	cfg, err := readConfig("")
	require.NoError(t, err)
	require.Equal(t, "A.COM", cfg.LibDefaults.DefaultRealm)
	require.Len(t, cfg.Realms, 1)
	t.Setenv("KRB5_CONFIG", "/nowhere"+string(os.PathListSeparator)+"/nowhere/else")
	_, err = readConfig("")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestConfigThatIncludesItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), "krb5.conf")
	require.NoError(t, os.WriteFile(path, []byte("include "+path+"\n"), 0o600))
	_, err := readConfig(path)
	require.ErrorContains(t, err, "include each other")
}

func TestEncryptionTypesToAskFor(t *testing.T) {
	for lines, want := range map[string][]int32{
		"": supportedTypes,
		" permitted_enctypes = aes128-cts arcfour-hmac\n": {etypeID.AES128_CTS_HMAC_SHA1_96},
		" default_tgs_enctypes = aes256-sha2 aes128-cts\n": {
			etypeID.AES256_CTS_HMAC_SHA384_192, etypeID.AES128_CTS_HMAC_SHA1_96,
		},
		" default_tgs_enctypes = arcfour-hmac\n permitted_enctypes = aes128-cts": {},
	} {
		cfg, err := readConfig(writeFile(t, "krb5.conf", "[libdefaults]\n default_realm = A.COM\n"+lines))
		require.NoError(t, err)
		require.Equal(t, want, cfg.LibDefaults.DefaultTGSEnctypeIDs, lines)
	}
}
