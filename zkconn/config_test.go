package zkconn

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"math"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestConnectStrings(t *testing.T) {
	for _, test := range []struct {
		in      string
		servers []string
		chroot  string
	}{
		{"h1", []string{"h1:2181"}, ""},
		{"h1:1,h2:65535", []string{"h1:1", "h2:65535"}, ""},
		{"h1 , h2:2182", []string{"h1:2181", "h2:2182"}, ""},
		{"[::1]:2183/a/b", []string{"[::1]:2183"}, "/a/b"},
		{"[fe80::1]", []string{"[fe80::1]:2181"}, ""},
		{"h1:02181/", []string{"h1:2181"}, ""},
		{"h1,h2/locks", []string{"h1:2181", "h2:2181"}, "/locks"},
		{"h1/a/", []string{"h1:2181"}, "/a"},
		{"h1/a/b/", []string{"h1:2181"}, "/a/b"},
	} {
		c, err := NewConfig(test.in)
		require.NoError(t, err, test.in)
		require.Equal(t, test.servers, c.Servers(), test.in)
		require.Equal(t, test.chroot, c.Chroot(), test.in)
	}
	for in, value := range map[string]string{
		"": `""`, "   ": `"   "`, "/a": `"/a"`, "h1,,h2": `""`, "h1,": `""`, ":2181": `":2181"`, "h1:": `""`,
		"h1:0": `"0"`, "h1:65536": `"65536"`, "h1:x": `"x"`, "h1:-1": `"-1"`, "::1": `"::1"`, "[::1]x": `"[::1]x"`,
		"[h1]": `"[h1]"`, "[]:1": `"[]:1"`, "h 1": `"h 1"`, "h1/a//": `"/a/"`, "h1//": `"/"`, "h1//a": `"//a"`, "h1/a/../b": `"/a/../b"`,
		"h1/zookeeper/x": `"/zookeeper/x"`, "h1/a,h2/a": `"/a,h2/a"`, "h1\x00": `"h1\x00"`,
	} {
		_, err := NewConfig(in)
		require.ErrorIs(t, err, ErrBadConfig, in)
		require.ErrorContains(t, err, value, in)
	}
	for _, in := range []string{"h1:2181;h2:2181", "h1;h2", "h1:2181 h2:2181", "h1 h2/locks", "h1:2181,h2:2181 h3:2181"} {
		_, err := NewConfig(in)
		require.ErrorIs(t, err, ErrBadConfig, in)
		require.ErrorContains(t, err, "separated by commas", in)
		require.NotContains(t, err.Error(), "IPv6", in)
	}
	for _, in := range []string{"zk://h1:2181/app", "zookeeper://h1,h2", "://h1", "http://"} {
		_, err := NewConfig(in)
		require.ErrorIs(t, err, ErrBadConfig, in)
		require.ErrorContains(t, err, "no scheme belongs there", in)
	}
	_, err := NewConfig("h1/a//")
	require.ErrorIs(t, err, ErrBadPath, "a bad chroot is a bad path too")
}

func TestDefaults(t *testing.T) {
	c, err := NewConfig("h")
	require.NoError(t, err)
	require.Equal(t, 10*time.Second, c.SessionTimeout())
	require.NotNil(t, c.Logger())
	require.Equal(t, []ACL{{Perms: 31, Scheme: "world", ID: "anyone"}}, c.acl)
}

func TestOptionsRefused(t *testing.T) {
	for name, opt := range map[string]Option{
		"nil option":          nil,
		"timeout zero":        WithSessionTimeout(0),
		"timeout negative":    WithSessionTimeout(-time.Second),
		"timeout below a ms":  WithSessionTimeout(time.Millisecond - 1),
		"timeout too long":    WithSessionTimeout(math.MaxInt32*time.Millisecond + 1),
		"no scheme":           WithAuth("", []byte("x")),
		"world":               WithAuth("world", []byte("anyone")),
		"auth":                WithAuth("auth", nil),
		"sasl":                WithAuth("sasl", nil),
		"digest without user": WithAuth("digest", []byte(":p")),
		"digest bare":         WithAuth("digest", []byte("u")),
		"digest no password":  WithAuth("digest", []byte("u:")),
		"no ACL":              WithACL(),
		"no TLS":              WithTLS(nil),
		"no logger":           WithLogger(nil),
		"no dialer":           WithDialer(nil),
		"backoff zero":        WithReconnectBackoff(0, time.Second),
		"backoff decreasing":  WithReconnectBackoff(time.Second, time.Millisecond),
	} {
		_, err := NewConfig("h", opt)
		require.ErrorIs(t, err, ErrBadConfig, name)
	}
}

func TestConfigIsACopyWithoutVisibleSecrets(t *testing.T) {
	secret := []byte("user:hunter2")
	acl := []ACL{{Perms: 1, Scheme: "world", ID: "anyone"}}
	c, err := NewConfig("h", WithAuth("digest", secret), WithACL(acl...), WithTLS(&tls.Config{MinVersion: tls.VersionTLS13}),
		WithSessionTimeout(math.MaxInt32*time.Millisecond),
		WithDialer(func(context.Context, string, string) (net.Conn, error) { return nil, nil }))
	require.NoError(t, err)
	secret[0], acl[0].Perms = 'X', 0
	c.Servers()[0] = "x"
	require.Equal(t, "user:hunter2", string(c.credentials[0].secret))
	require.EqualValues(t, 1, c.acl[0].Perms)
	require.Equal(t, "h:2181", c.Servers()[0])

	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "config", c)
	for _, printed := range []string{fmt.Sprintf("%v %+v %#v %s", c, c, c, c), logged.String()} {
		require.NotContains(t, printed, "hunter2")
		require.NotContains(t, printed, fmt.Sprint([]byte("hunter2")))
	}
}

func TestDialRefusesWhatNewConfigDidNotMake(t *testing.T) {
	_, err := Dial(Config{}, 1, func(Event) {})
	require.ErrorIs(t, err, ErrBadConfig)
	c, err := NewConfig("h")
	require.NoError(t, err)
	_, err = Dial(c, 1, nil)
	require.ErrorIs(t, err, ErrBadConfig)
}

func TestTimeoutsFollowTheSessionTimeout(t *testing.T) {
	for _, test := range []struct {
		servers                  string
		session, dial, handshake time.Duration
	}{
		{"a", 12 * time.Second, 2 * time.Second, 4 * time.Second},
		{"a,b,c", 18 * time.Second, 2 * time.Second, 2 * time.Second},
		{"a,b,c", 1500 * time.Millisecond, 500 * time.Millisecond, time.Second},
		{"a,b", 150 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond},
		{"a", time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond},
	} {
		c, err := NewConfig(test.servers, WithSessionTimeout(test.session))
		require.NoError(t, err)
		require.Equal(t, test.dial, c.dialTimeout())
		require.Equal(t, test.handshake, c.handshakeTimeout())
	}
}
