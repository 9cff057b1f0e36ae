package tlsfiles_test

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/turnstile-locks/turnstile/examples/tlsfiles"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// demanding is a server's configuration: its certificate for those hosts, and certificates of its clients.
func demanding(t *testing.T, authority *rig.Authority, hosts ...string) *tls.Config {
	t.Helper()
	certificate, err := authority.Server(hosts...)
	require.NoError(t, err)
	return &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authority.Pool()}
}

// written gives an authority, and a folder with its certificate and one of ours.
func written(t *testing.T, folder, ours string) *rig.Authority {
	t.Helper()
	authority, err := rig.NewAuthority("authority of " + ours)
	require.NoError(t, err)
	certificate, err := authority.Client(ours)
	require.NoError(t, err)
	require.NoError(t, authority.Write(folder, certificate))
	return authority
}

// open is what the guide on production shows.
func open(ctx context.Context, servers, ca, cert, key string) (*locks.Client, error) {
	cfg, err := zkconn.NewConfig(servers)
	if err != nil {
		return nil, err
	}
	config, err := tlsfiles.Files{CA: ca, Cert: cert, Key: key}.Config(cfg.Servers())
	if err != nil {
		return nil, err
	}
	opening, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return locks.Open(opening, servers, locks.WithTLS(config), locks.WithSessionTimeout(30*time.Second))
}

// TestRotation: everything is replaced, authorities included, while a lock is held. The connection that is cut then is
// followed by one with the new files, in the same session.
func TestRotation(t *testing.T) {
	front := rig.NewRotating(t, embedded.Run(t).Addr(), "old")
	ctx := scene.Deadline(t)
	client, err := open(ctx, front.Addr(), front.CA, front.Cert, front.Key)
	require.NoError(t, err)
	defer func() { require.NoError(t, client.Close(ctx)) }()

	lease, err := client.Mutex("/rotation").Lock(ctx)
	require.NoError(t, err)
	session := client.Session().ID()
	front.Rotate(t, "new")
	front.Cut()
	require.NoError(t, lease.Unlock(ctx))
	require.Equal(t, session, client.Session().ID())
	require.Equal(t, []string{"old", "new"}, []string{<-front.Shaken, <-front.Shaken})
}

// TestNames: a server's certificate must name it, also where it is dialled by its address and TLS sends no name.
func TestNames(t *testing.T) {
	for name, c := range map[string]struct {
		certificate []string // the hosts that it is for
		dialled     string
		servers     []string
		expected    string // of ServerName
		fails       string
	}{
		"an address":                          {[]string{"127.0.0.1"}, "127.0.0.1", []string{"127.0.0.1:1"}, "", ""},
		"another of the servers' addresses":   {[]string{"10.0.0.2"}, "127.0.0.1", []string{"127.0.0.1:1", "zk:1", "10.0.0.2:1"}, "", ""},
		"a stranger's address":                {[]string{"10.0.0.9"}, "127.0.0.1", []string{"127.0.0.1:1", "10.0.0.2:1"}, "", "10.0.0.9"},
		"a name where there are addresses":    {[]string{"zk.example"}, "127.0.0.1", []string{"127.0.0.1:1"}, "", "127.0.0.1"},
		"addresses where there are names":     {[]string{"127.0.0.1"}, "127.0.0.1", []string{"zk.example:1"}, "", "by its address"},
		"the name":                            {[]string{"zk.example"}, "zk.example", []string{"zk.example:1"}, "", ""},
		"another of the servers' names":       {[]string{"zk2.example"}, "zk.example", []string{"zk.example:1", "zk2.example:1"}, "", "zk2.example"},
		"the name that all servers have":      {[]string{"all.example"}, "", []string{"127.0.0.1:1"}, "all.example", ""},
		"another than that":                   {[]string{"127.0.0.1"}, "", []string{"127.0.0.1:1"}, "all.example", "all.example"},
		"the address that all servers have":   {[]string{"10.0.0.3"}, "", []string{"127.0.0.1:1"}, "10.0.0.3", ""},
		"of an authority that is not trusted": {[]string{"127.0.0.1"}, "127.0.0.1", nil, "", "unknown authority"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			server := demanding(t, written(t, folder, "client"), c.certificate...)
			if c.servers == nil {
				written(t, folder, "stranger")
			}
			config, err := tlsfiles.Files{CA: filepath.Join(folder, "ca.pem"), ServerName: c.expected}.Config(c.servers)
			require.NoError(t, err)
			if c.dialled != "" { // as zkconn.WithTLS does
				config.ServerName = c.dialled
			}
			err = shake(t, config, server)
			if c.fails == "" {
				require.NoError(t, err)
				return
			}
			var wrong *tls.CertificateVerificationError
			require.ErrorAs(t, err, &wrong)
			require.ErrorContains(t, err, c.fails)
		})
	}
}

// shake gives the client's error of a handshake with a server that asks for nothing of it.
func shake(t *testing.T, client, server *tls.Config) error {
	t.Helper()
	server = server.Clone()
	server.ClientAuth = tls.NoClientCert
	listener, err := tls.Listen("tcp", "127.0.0.1:0", server)
	require.NoError(t, err)
	shaken := make(chan struct{})
	go func() {
		defer close(shaken)
		if conn, err := listener.Accept(); err == nil {
			_ = conn.(*tls.Conn).HandshakeContext(scene.Deadline(t))
			conn.Close()
		}
	}()
	defer func() { listener.Close(); <-shaken }()
	conn, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	return tls.Client(conn, client).HandshakeContext(scene.Deadline(t))
}

// TestFilesThatBreak: at the start they are mistakes, which are told with the flag's name; later they fail a handshake.
func TestFilesThatBreak(t *testing.T) {
	folder := t.TempDir()
	authority := written(t, folder, "client")
	ca, cert, key := filepath.Join(folder, "ca.pem"), filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	for says, files := range map[string]tlsfiles.Files{
		"tls-cert, tls-key: they go together": {Cert: cert},
		"tls-cert: open /nowhere":             {Cert: cert, Key: "/nowhere"},
		"tls-ca: open /nowhere":               {CA: "/nowhere"},
	} {
		_, err := files.Config(nil)
		require.ErrorContains(t, err, says)
	}
	config, err := tlsfiles.Files{CA: ca, Cert: cert, Key: key}.Config([]string{"127.0.0.1:1"})
	require.NoError(t, err)
	config.ServerName = "127.0.0.1"
	require.NoError(t, shake(t, config, demanding(t, authority, "127.0.0.1")))
	require.NoError(t, os.WriteFile(ca, []byte("half of"), 0o600))
	require.ErrorContains(t, shake(t, config, demanding(t, authority, "127.0.0.1")), "no certificate; it has to be PEM")
}
