package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// environment is a look-up in a map.
func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func file(t *testing.T, content string, mode os.FileMode) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(name, []byte(content), mode))
	return name
}

func TestSettings(t *testing.T) {
	token := file(t, "0123456789abcdef0123456789abcdef\n", 0o600)
	s, err := parse([]string{"-root", "/app", "-revoke-token-file", token, "-auth", "digest:reader:secret", "-host", "locks.example, other.example"},
		environment(map[string]string{serversVariable: "zk1:2181,zk2:2181", tokenVariable: "of the environment"}), os.Stderr)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:8080", s.listen)
	require.Equal(t, "zk1:2181,zk2:2181", s.servers)
	require.Equal(t, "/app", s.root)
	require.Equal(t, "0123456789abcdef0123456789abcdef", s.token, "that of the file")
	require.Equal(t, []string{"locks.example", "other.example"}, s.hosts)
	require.Empty(t, s.warned)

	s, err = parse([]string{"-zk", "mine:2181", "-listen", "0.0.0.0:9000"}, environment(map[string]string{
		serversVariable: "others:2181", tokenVariable: "0123456789abcdef"}), os.Stderr)
	require.NoError(t, err)
	require.Equal(t, "mine:2181", s.servers)
	require.Equal(t, "0123456789abcdef", s.token)
	require.Len(t, s.warned, 1)
	require.Contains(t, s.warned[0], "is not loopback")

	s, err = parse([]string{"-zk", "zk:2181", "-revoke-token-file", file(t, "0123456789abcdef", 0o644)}, environment(nil), os.Stderr)
	require.NoError(t, err)
	require.Len(t, s.warned, 1)
	require.Contains(t, s.warned[0], "chmod 600")

	s, err = parse([]string{"-zk", "zk:2181", "-sasl", "digest-md5", "-sasl-file", file(t, "user=reader\npassword=secret", 0o600)},
		environment(nil), os.Stderr)
	require.NoError(t, err)
	require.Len(t, s.options, 2, "the session timeout, and SASL")

	s, err = parse([]string{"-zk", "zk:2181", "-auth", "@" + file(t, "digest:reader:secret\n", 0o600), "-auth", "digest:a:b"},
		environment(nil), os.Stderr)
	require.NoError(t, err)
	require.Len(t, s.options, 3, "the session timeout, and the credentials")
	s, err = parse([]string{"-zk", "zk:2181"}, environment(map[string]string{authVariable: "digest:reader:secret"}), os.Stderr)
	require.NoError(t, err)
	require.Len(t, s.options, 2, "the session timeout, and the credential of the environment")

	s, err = parse([]string{"-demo"}, environment(map[string]string{serversVariable: "zk:2181"}), os.Stderr)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(s.token), shortestToken, "a demo has a token of its own")
}

// TestCertificatesAreReadAnew: files that are replaced while the dashboard runs are those of its next connection.
func TestCertificatesAreReadAnew(t *testing.T) {
	front := rig.NewRotating(t, embedded.Run(t).Addr(), "old")
	s, err := parse([]string{"-zk", front.Addr(), "-tls-ca", front.CA, "-tls-cert", front.Cert, "-tls-key", front.Key,
		"-session", scene.Session.String()}, environment(nil), os.Stderr)
	require.NoError(t, err)
	ctx := scene.Deadline(t)
	client, err := locks.Open(ctx, s.servers, s.options...)
	require.NoError(t, err)
	front.Rotate(t, "new")
	front.Cut()
	_, err = client.Locks(ctx, "/")
	require.NoError(t, err)
	require.NoError(t, client.Close(ctx))
	require.Equal(t, []string{"old", "new"}, []string{<-front.Shaken, <-front.Shaken})
}

// TestBadUse: each mistake is answered by what is wrong and what to type.
func TestBadUse(t *testing.T) {
	t.Setenv("KRB5_CONFIG", file(t, "[libdefaults]\ndefault_realm = EXAMPLE.ORG\n", 0o600))
	for args, says := range map[string]string{
		"":                            "type -zk host:2181, or set $ZOOKEEPER_SERVERS; or -demo",
		"-demo -zk zk:2181":           "leave one of -demo and -zk out",
		"-zk zk:2181 -crowd 5":        "with -demo",
		"-zk zk:2181 more":            `"more" is no flag`,
		"-nonsense":                   "-help lists the flags",
		"-zk zk:2181 -root app":       "type a path like /app/locks",
		"-zk zk:2181 -every 1ms":      "type a pause of 10ms or more",
		"-zk zk:2181 -follow 0":       "type a number from 1",
		"-zk zk:2181 -listen 8080":    "type an address like 127.0.0.1:8080",
		"-zk zk:2181 -auth digest":    "like digest:user:password",
		"-zk zk:2181 -auth @/nowhere": "/nowhere",
		"-zk zk:2181 -auth @" + file(t, "digest:a:b", 0o644): "chmod 600",
		"-zk zk:2181 -tls-ca /nowhere":                       "/nowhere",
		"-zk zk:2181 -sasl plain":                            "digest-md5",
		"-zk zk:2181 -sasl digest-md5":                       "TURNSTILE_SASL_PASSWORD",
		"-zk zk:2181 -sasl-keytab /a":                        "-sasl gssapi",
		"-zk zk:2181 -sasl gssapi -sasl-keytab /nowhere":     "/nowhere",
		"-zk zk:2181 -sasl digest-md5 -sasl-file " + file(t, "user=reader\npassword=secret", 0o644): "chmod 600",
		"-zk zk:2181 -tls-ca " + file(t, "no certificate", 0o600):                                   "it has to be PEM",
		"-zk zk:2181 -tls-cert /a":                                                     "type both",
		"-zk zk:2181 -revoke-token-file /nowhere":                                      "openssl rand -hex 16",
		"-zk zk:2181 -revoke-token-file " + file(t, "\n", 0o600):                       "is empty",
		"-zk zk:2181 -revoke-token-file " + file(t, "short", 0o600):                    "is short",
		"-zk zk:2181 -revoke-token-file " + file(t, "two words of it, so many", 0o600): "has blanks",
	} {
		_, err := parse(strings.Fields(args), environment(nil), os.Stderr)
		require.ErrorIs(t, err, errUse, args)
		require.Contains(t, err.Error(), says, args)
	}
	var help bytes.Buffer
	_, err := parse([]string{"-help"}, environment(nil), &help)
	require.ErrorIs(t, err, errHelp)
	require.Contains(t, help.String(), "-revoke-token-file")
}

func TestAnnouncement(t *testing.T) {
	var out bytes.Buffer
	settings{warned: []string{"warning: this"}, token: "secret"}.announce(&out, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80})
	require.Equal(t, "warning: this\ndashboard: http://127.0.0.1:80/\n", out.String())
	require.NotContains(t, out.String(), "secret")
}
