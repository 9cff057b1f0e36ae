package gssapi

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/snapshot"
	"github.com/turnstile-locks/turnstile/zkconn"
)

func TestBadConfig(t *testing.T) {
	config := WithConfig(writeFile(t, "krb5.conf", "[libdefaults]\n"))
	malformed := writeFile(t, "krb5.conf", "[libdefaults]\n clockskew = soon\n")
	k := keytab.New()
	addKey(t, k, alice, "a", 1, anAES)
	path, _ := writeKeytab(t, k)
	for name, c := range map[string]struct {
		opts []Option
		says string
	}{
		"no krb5.conf":           {[]Option{WithConfig("/nowhere/krb5.conf")}, "/nowhere/krb5.conf"},
		"no keytab":              {[]Option{config, WithKeytab("/nowhere/keytab", "alice@A.COM")}, "/nowhere/keytab"},
		"an empty path":          {[]Option{config, WithKeytab("", "alice@A.COM")}, "must not be empty"},
		"no key of hers":         {[]Option{config, WithKeytab(path, "bob@EXAMPLE.COM")}, "has no key of bob@EXAMPLE.COM"},
		"no realm":               {[]Option{config, WithKeytab(path, "alice")}, "no default realm"},
		"no name":                {[]Option{config, WithKeytab(path, "alice/@A.COM")}, "must be name"},
		"both":                   {[]Option{config, WithKeytab(path, ""), WithCredentialCache("x")}, "both"},
		"a cache of the kernel":  {[]Option{config, WithCredentialCache("KEYRING:persistent:0")}, "type KEYRING"},
		"a service with a host":  {[]Option{config, WithService("zookeeper/zk1")}, "zookeeper/zk1"},
		"a server without name":  {[]Option{config, WithServerPrincipal("@A.COM")}, "@A.COM"},
		"a server without host":  {[]Option{config, WithServerPrincipal("zookeeper/@A.COM")}, "must be name/host"},
		"no option":              {[]Option{config, nil}, "must not be nil"},
		"no clock":               {[]Option{config, WithClock(nil)}, "clock"},
		"a krb5.conf of nothing": {[]Option{WithConfig(malformed)}, "clockskew"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(c.opts...)
			require.ErrorIs(t, err, zkconn.ErrBadConfig)
			require.ErrorContains(t, err, c.says)
		})
	}
}

// A pipe that nobody writes to makes nobody wait: neither in New, nor in Start beyond its ctx.
func TestPipeInPlaceOfAFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	config := WithConfig(writeFile(t, "krb5.conf", "[libdefaults]\n"))
	for name, opts := range map[string][]Option{
		"krb5.conf":          {WithConfig(pipe)},
		"an included file":   {WithConfig(writeFile(t, "krb5.conf", "include "+pipe+"\n"))},
		"a keytab":           {config, WithKeytab(pipe, "alice@EXAMPLE.COM")},
		"a credential cache": {config, WithCredentialCache("FILE:" + pipe)},
	} {
		t.Run(name, func(t *testing.T) {
			told := make(chan error, 1)
			go func() {
				m, err := New(opts...)
				if err == nil {
					ctx, cancel := context.WithCancel(context.Background())
					cancel()
					_, err = m.Start(ctx, zkconn.SASLServer{Host: "zk1", Address: "127.0.0.1:2181"})
				}
				told <- err
			}()
			select {
			case err := <-told:
				require.ErrorContains(t, err, pipe+": must be a regular file")
			case <-time.After(30 * time.Second):
				t.Fatal("it waits for the pipe")
			}
		})
	}
}

func TestZeroMechanism(t *testing.T) {
	var m Mechanism
	_, err := m.Start(t.Context(), zkconn.SASLServer{})
	require.ErrorIs(t, err, zkconn.ErrBadConfig)
	require.Equal(t, "GSSAPI", m.String())
	require.Empty(t, m.Principal())
}

func TestServicePrincipals(t *testing.T) {
	config := WithConfig(writeFile(t, "krb5.conf",
		"[libdefaults]\n default_realm = A.COM\n[domain_realm]\n .b.com = B.COM\n b.com = B.COM\n"))
	loopback := zkconn.SASLServer{Host: "127.0.0.1", Address: "127.0.0.1:2181"}
	for _, c := range []struct {
		opts   []Option
		server zkconn.SASLServer
		want   string
	}{
		{nil, loopback, "zookeeper/localhost@"},
		{nil, zkconn.SASLServer{Host: "ZK1.b.com.", Address: "pipe"}, "zookeeper/zk1.b.com@B.COM"},
		{[]Option{WithoutCanonicalHost()}, loopback, "zookeeper/127.0.0.1@"},
		{[]Option{WithoutCanonicalHost(), WithService("zk")}, zkconn.SASLServer{Host: "Zk1"}, "zk/zk1@"},
		{[]Option{WithServerPrincipal("zookeeper/cluster@C.COM")}, zkconn.SASLServer{Host: "zk1"}, "zookeeper/cluster@C.COM"},
		{[]Option{WithServerPrincipal("zookeeper/any.b.com")}, zkconn.SASLServer{Host: "zk1"}, "zookeeper/any.b.com@B.COM"},
		{[]Option{WithServerPrincipal("zookeeper")}, zkconn.SASLServer{Host: "zk1"}, "zookeeper@"},
	} {
		m, err := New(append(c.opts, config)...)
		require.NoError(t, err)
		service, doubt := m.state().services.of(t.Context(), c.server)
		require.Equal(t, c.want, service.String())
		require.NoError(t, doubt)
	}
}

// A DNS that does not answer any more changes nobody's principal, and casts a doubt on it.
func TestCanonicalHostIsRemembered(t *testing.T) {
	s := &services{names: map[string]knownName{}}
	server := zkconn.SASLServer{Host: "alias", Address: "192.0.2.1:2181"}
	asked := 0
	says := func(host string, err error) {
		s.lookUp = func(_ context.Context, address string) (string, error) {
			asked++
			require.Equal(t, "192.0.2.1", address)
			return host, err
		}
	}
	requireHost := func(want string, doubt error, words ...any) {
		t.Helper()
		host, got := s.canonicalHost(t.Context(), server)
		require.Equal(t, want, host, words...)
		require.Equal(t, doubt, got, words...)
	}
	silent := context.DeadlineExceeded
	says("", silent)
	requireHost("alias", silent)
	says("", errNoName)
	requireHost("alias", nil, "it has answered")
	says("zk1.", nil)
	requireHost("zk1.", nil)
	says("zk2.", nil)
	requireHost("zk1.", errNotAsked, "it is not asked so soon")
	require.Equal(t, 3, asked)
	s.names["192.0.2.1"] = knownName{"zk1.", time.Now()}
	says("", silent)
	requireHost("zk1.", silent)
	requireHost("zk1.", errNotAsked, "not each connection pays for the silence")
	require.Equal(t, 4, asked)
	s.names["192.0.2.1"] = knownName{"zk1.", time.Now()}
	says("zk2.", nil)
	requireHost("zk2.", nil)
	require.Equal(t, 5, asked)
}

// Formatted, logged or marshalled values contain no key.
func TestNothingShowsKeys(t *testing.T) {
	x, server := newPair(t, anAES)
	server.begin(x)
	k := keytab.New()
	addKey(t, k, alice, "the password", 1, anAES)
	path, content := writeKeytab(t, k)
	m, err := New(WithConfig(writeFile(t, "krb5.conf", "[libdefaults]\n")), WithKeytab(path, ""))
	require.NoError(t, err)
	m.state().tickets.granting = x.ticket.credential
	m.state().tickets.held[zookeeper.String()] = x.ticket

	shown := opaque{func() *exchange { return x }}

	var text strings.Builder
	for _, value := range []any{m, *m, shown, &shown, struct{ M any }{m}, struct{ m *Mechanism }{m}, []any{shown, m}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&text, verb+"\n", value)
		}
		if b, err := json.Marshal(value); err == nil {
			text.Write(b)
		}
		for _, h := range []slog.Handler{slog.NewTextHandler(&text, nil), slog.NewJSONHandler(&text, nil)} {
			slog.New(h).Info("said", "value", value)
		}
	}
	require.Contains(t, text.String(), "alice@EXAMPLE.COM")
	for _, secret := range [][]byte{x.ticket.key.KeyValue, x.sent.SubKey.KeyValue, k.Entries[0].Key.KeyValue, content[20:],
		x.ticket.ticket.EncPart.Cipher} {
		requireNo(t, text.String(), secret)
		require.Empty(t, snapshot.FindText([]any{m, shown}, string(secret)))
		requireNo(t, text.String(), []byte(fmt.Sprint(secret[:4])))
	}
}

func TestCredentialCacheByDefault(t *testing.T) {
	config := WithConfig(writeFile(t, "krb5.conf", "[libdefaults]\n"))
	t.Setenv("KRB5CCNAME", "FILE:"+filepath.Join(t.TempDir(), "none"))
	m, err := New(config)
	require.NoError(t, err)
	_, err = m.Start(t.Context(), zkconn.SASLServer{Host: "zk1", Address: "127.0.0.1:2181"})
	require.ErrorIs(t, err, ErrNoCredentials)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "kinit")
	t.Setenv("KRB5CCNAME", "KCM:0")
	_, err = New(config)
	require.ErrorContains(t, err, "KCM")
	t.Setenv("KRB5CCNAME", "")
	path, err := cachePath("")
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid()), path)
	require.Equal(t, os.Getuid(), ownerOfCache(path))
	require.Equal(t, anybody, ownerOfCache("/tmp/of somebody's"))
	_, err = readFile(writeFile(t, "cache", ""), os.Getuid())
	require.NoError(t, err)
	_, err = readFile(writeFile(t, "cache", ""), os.Getuid()+1)
	require.ErrorContains(t, err, "must belong to user")
}

// Authenticators of one time are taken for a replay.
func TestStampsDiffer(t *testing.T) {
	now := time.Date(2026, 11, 23, 5, 0, 0, 999_999_000, time.UTC)
	k := newKDCs(nil, func() time.Time { return now })
	first, second := k.stamp(), k.stamp()
	require.Equal(t, now, first)
	require.Equal(t, now.Add(time.Microsecond), second)
	now = now.Add(-time.Hour) // the clock is set back, which must not leave the stamps in the future
	require.Equal(t, now, k.stamp())
}

func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
