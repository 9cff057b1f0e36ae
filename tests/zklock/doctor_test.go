package zklock

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// report has doctor's findings, as JSON.
type report struct {
	OK       bool
	Findings []struct{ Grade, What, Found, Do string }
}

func (r report) grade(t *testing.T, what string) (grade, found, do string) {
	t.Helper()
	for _, f := range r.Findings {
		if f.What == what {
			return f.Grade, f.Found, f.Do
		}
	}
	require.FailNow(t, "no finding", "%s in %+v", what, r)
	return "", "", ""
}

func TestDoctor(t *testing.T) {
	eachServer(t, func(t *testing.T, at place) {
		at.make(t)
		stdout, stderr := says(t, at, 0, patiently("doctor")...)
		require.Empty(t, stderr)
		for _, line := range []string{`server +127.0.0.1:\d+: ZooKeeper ` + regexp.QuoteMeta(at.version) + `, (standalone|leader|follower), `, `session +0x[0-9a-f]+ at \S+; timeout 30s granted`,
			`write +made /zklock-doctor/doctor-\d{10} in `, `read back +\d+ bytes, as written`,
			`reconnect +127.0.0.1:\d+ gave 0x[0-9a-f]+ back in `, `clock margin +a transaction takes .* a lease of 12s`, `clocks +the server's clock is within`,
			`weight +(the heaviest session is 0x[0-9a-f]+: \d+ ephemeral nodes?, \d+ bytes|no session has|not known: dump)`} {
			require.Regexp(t, `(?m)^(ok|warn) +`+line, stdout)
		}
		r := parsed[report](t, at, 0, patiently("doctor", "--json")...)
		require.True(t, r.OK)
		for _, what := range []string{"server", "session", "write", "read back", "delete"} {
			want := "ok"
			if what == "server" && at.version == "3.8.0" {
				want = "warn" // its members may come to differ
			}
			grade, found, _ := r.grade(t, what)
			require.Equal(t, want, grade, found)
		}
		// By itself it asks for ten seconds. On a slow machine it may find that this is too little.
		byItself, _ := command(at, "doctor", "--connect-timeout", patient.Bound.String()).Output()
		require.Contains(t, string(byItself), "timeout 10s granted")
		require.Contains(t, string(byItself), "a lease of 4s")
	})
}

// TestDoctorTimeout: the servers grant another session timeout than is asked for.
func TestDoctorTimeout(t *testing.T) {
	t.Parallel()
	server := embedded.Run(t, embedded.WithSessionTimeouts(time.Second, 5*time.Second))
	r := parsed[report](t, place{addr: server.Addr()}, 0, "doctor", "--json", "--session-timeout", "30s")
	grade, found, do := r.grade(t, "session")
	require.Equal(t, "warn", grade)
	require.Contains(t, found, "timeout 5s granted where 30s was asked for")
	require.Contains(t, do, "maxSessionTimeout")
}

// TestDoctorFindsWhatIsWrong: in words, with what to do.
func TestDoctorFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	nobody := listener.Addr().String()
	require.NoError(t, listener.Close())
	r := parsed[report](t, place{addr: nobody}, 69, "doctor", "--json", "--connect-timeout", "5s")
	require.False(t, r.OK)
	grade, found, do := r.grade(t, "server")
	require.Equal(t, "FAIL", grade)
	require.Contains(t, found, "connection refused")
	require.Contains(t, do, "nobody listens there")

	one, two := embedded.Run(t), embedded.Run(t)
	r = parsed[report](t, place{addr: one.Addr() + "," + two.Addr()}, 1, patiently("doctor", "--json")...)
	grade, _, do = r.grade(t, "servers")
	require.Equal(t, "FAIL", grade, "they are two ensembles")
	require.Contains(t, do, "one ensemble")
}

// TestDoctorOnAProxy: it takes connections, and no server behind it is up.
func TestDoctorOnAProxy(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	proxy := rig.NewProxy(t, listener.Addr().String())
	r := parsed[report](t, place{addr: proxy.Addr()}, 69, "doctor", "--json", "--connect-timeout", "5s")
	_, found, do := r.grade(t, "server")
	require.Contains(t, found, "closes them without an answer")
	require.Contains(t, do, "A proxy does this where no server behind it is up")
	_, found, _ = r.grade(t, "session")
	require.Contains(t, found, "the server hung up in place of an answer (it may have no quorum, or too many connections, or be a "+
		"proxy without a server behind it, or expect TLS)")
}

// TestAuth: nodes for one user only. Without the credential everything says why it does not work.
func TestAuth(t *testing.T) {
	eachServer(t, func(t *testing.T, at place) {
		conn := at.raw(t)
		for path, acl := range map[string][]zk.ACL{at.chroot: zk.WorldACL(zk.PermAll)} {
			_, err := conn.Create(path, nil, 0, acl)
			require.NoError(t, err)
		}
		_, err := conn.Create(at.chroot+"/private", nil, 0, zk.DigestACL(zk.PermAll, "ann", "secret"))
		require.NoError(t, err)

		_, stderr := says(t, at, 70, patiently("run", "/private", "--", "true")...)
		require.Contains(t, stderr, "ACL")
		require.Contains(t, stderr, "--auth")
		says(t, at, 0, patiently("run", "--auth", "digest:ann:secret", "/private", "--", "true")...)
		with := command(at, patiently("run", "/private", "--", "true")...)
		with.Env = append(with.Env, "ZKLOCK_AUTH=digest:ann:secret")
		launch(t, with).ends(t, 0)
		file := filepath.Join(t.TempDir(), "credential")
		require.NoError(t, os.WriteFile(file, []byte("digest:ann:secret\n"), 0o600))
		says(t, at, 0, patiently("run", "--auth", "@"+file, "/private", "--", "true")...)
		require.NoError(t, os.Chmod(file, 0o644))
		_, stderr = says(t, at, 64, patiently("run", "--auth", "@"+file, "/private", "--", "true")...)
		require.Contains(t, stderr, "chmod 600")
		r := parsed[report](t, at, 1, patiently("doctor", "--json", "--path", "/private")...)
		grade, _, do := r.grade(t, "write")
		require.Equal(t, "FAIL", grade)
		require.Contains(t, do, "--auth")
		says(t, at, 0, patiently("doctor", "--path", "/private", "--auth", "digest:ann:secret")...)
	})
}

// TestRealTLS: a server that demands certificates of its clients.
func TestRealTLS(t *testing.T) {
	t.Parallel()
	rig.Require(t)
	authority, err := rig.NewAuthority("the authority")
	require.NoError(t, err)
	const name = "zk.turnstile.example"
	certificate, err := authority.Server(name)
	require.NoError(t, err)
	server := rig.StartStandalone(t, rig.WithTLS(rig.TLS{Certificate: certificate, Clients: authority, Demand: true}))
	client, err := authority.Client("zklock")
	require.NoError(t, err)
	folder := t.TempDir()
	ca, cert, key := filepath.Join(folder, "ca"), filepath.Join(folder, "cert"), filepath.Join(folder, "key")
	writePEM(t, ca, "CERTIFICATE", certificate.Certificate[0]) // the rig keeps its authority's own; this one is trusted by itself
	writePEM(t, cert, "CERTIFICATE", client.Certificate[0])
	private, err := x509.MarshalECPrivateKey(client.PrivateKey.(*ecdsa.PrivateKey))
	require.NoError(t, err)
	writePEM(t, key, "EC PRIVATE KEY", private)

	at := place{addr: server.SecureAddr()}
	trusting := []string{"--tls-ca", ca, "--tls-server-name", name}
	flags := append([]string{"--tls-cert", cert, "--tls-key", key}, trusting...)
	says(t, at, 0, patiently("run", append(flags, "/tls", "--", "true")...)...)
	says(t, at, 0, patiently("doctor", flags...)...)
	r := parsed[report](t, at, 69, "doctor", "--json", "--tls-ca", ca, "--connect-timeout", "5s")
	_, found, do := r.grade(t, "server")
	require.Contains(t, do, "--tls-server-name", found)
	// With TLS 1.3 it has shaken hands when it hears that the server wants a certificate of it.
	r = parsed[report](t, at, 69, append([]string{"doctor", "--json", "--connect-timeout", "5s"}, trusting...)...)
	_, found, do = r.grade(t, "server")
	require.Contains(t, found, "tls: bad certificate")
	require.Contains(t, do, "--tls-cert", found)
	r = parsed[report](t, place{addr: server.Addr()}, 69, append([]string{"doctor", "--json", "--connect-timeout", "5s"}, flags...)...)
	_, found, do = r.grade(t, "server")
	require.Contains(t, do, "does not speak TLS", found)
	says(t, at, 69, "queue", "--connect-timeout", "5s", "/tls")
}

// TestCertificatesAreReadAnew: files that are replaced while zklock runs are those of its next connection.
func TestCertificatesAreReadAnew(t *testing.T) {
	t.Parallel()
	front := rig.NewRotating(t, here(t).addr, "old")
	flags := []string{"--tls-ca", front.CA, "--tls-cert", front.Cert, "--tls-key", front.Key}
	p, _ := runs(t, place{addr: front.Addr()}, patiently("run", append(flags, "/rotated", "--", "sh", "-c", holding)...)...)
	require.Equal(t, "old", <-front.Shaken)
	front.Rotate(t, "new")
	front.Cut()
	require.Equal(t, "new", <-front.Shaken)
	p.letGo()
	p.ends(t, 0)
}

func writePEM(t *testing.T, name, kind string, der []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}
