package main

import (
	"cmp"
	"crypto/tls"
	"os"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/turnstile-locks/turnstile/examples/saslflags"
	"github.com/turnstile-locks/turnstile/examples/tlsfiles"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// The environment variables that stand in for flags.
const (
	serversVariable = "ZOOKEEPER_SERVERS"
	authVariable    = "ZKLOCK_AUTH"
	saslVariable    = "ZKLOCK_SASL" // and what begins with it: see package saslflags
)

// connection has the flags for the connection: the servers, and how to talk to them.
type connection struct {
	servers        string
	auth           []string
	sasl, saslFile string
	saslKeytab     string
	saslPrincipal  string
	secure         bool
	ca, cert, key  string
	serverName     string
	sessionTimeout time.Duration
	connectTimeout time.Duration
	access         access
}

func (c *connection) addFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&c.servers, "zk", "", "`servers` and chroot, zk1:2181,zk2:2181/app\n(default $"+serversVariable+")")
	f.StringArrayVar(&c.auth, "auth", nil, "a `credential`, digest:user:password, or @FILE\nfor one in a file that only you can read\n(default $"+authVariable+")")
	f.StringVar(&c.sasl, "sasl", "", "authenticate with a SASL `mechanism`,\n"+saslflags.Names()+
		" (default $"+saslVariable+")")
	f.StringVar(&c.saslFile, "sasl-file", "", "a `file` that only you can read, with\n"+
		"user=NAME and password=PASSWORD, a line each\n(default $"+saslVariable+"_FILE, or\n"+
		"$"+saslVariable+"_USER and $"+saslVariable+"_PASSWORD)")
	f.StringVar(&c.saslKeytab, "sasl-keytab", "", "`file` with keys for --sasl gssapi; without,\n"+
		"tickets are those of the credential cache\n(default $"+saslVariable+"_KEYTAB)")
	f.StringVar(&c.saslPrincipal, "sasl-principal", "", "whose keys, `name`@REALM\n(default $"+saslVariable+"_PRINCIPAL)")
	f.BoolVar(&c.secure, "tls", false, "connect with TLS")
	f.StringVar(&c.ca, "tls-ca", "", "`file` (PEM) with the authorities to be trusted\ninstead of the system's")
	f.StringVar(&c.cert, "tls-cert", "", "`file` (PEM) with the client's certificate")
	f.StringVar(&c.key, "tls-key", "", "`file` (PEM) with the client's key")
	f.StringVar(&c.serverName, "tls-server-name", "", "the `name` that the servers' certificates have")
	f.DurationVar(&c.sessionTimeout, "session-timeout", 10*time.Second, "the session timeout to ask for")
	f.DurationVar(&c.connectTimeout, "connect-timeout", 10*time.Second, "how long to try to connect, and to\nwait for a first answer")
	c.access.addFlags(f)
}

// where is the connect string. There is no default: a lock at the wrong servers excludes nobody.
func (c *connection) where(cmd *cobra.Command) (string, error) {
	servers := cmp.Or(c.servers, os.Getenv(serversVariable))
	if servers == "" {
		return "", badUse(withFlag(cmd, "--zk HOST:2181"), "no servers are named, neither by --zk nor by %s",
			serversVariable)
	}
	return servers, nil
}

// credentials are the schemes and secrets to be presented.
func (c *connection) credentials(cmd *cobra.Command) ([][2]string, error) {
	given := c.auth
	if value := os.Getenv(authVariable); len(given) == 0 && value != "" {
		given = []string{value}
	}
	var pairs [][2]string
	for _, g := range given {
		g, err := saslflags.Credential(g)
		if err != nil {
			return nil, badUse(withFlag(cmd, "--auth @FILE"), "--auth: %v", err)
		}
		scheme, secret, ok := strings.Cut(g, ":")
		if !ok || scheme == "" || secret == "" || scheme == "digest" && !strings.Contains(secret, ":") {
			// The value is a secret, and is not shown.
			return nil, badUse(withFlag(cmd, "--auth digest:USER:PASSWORD"),
				"the credential is not of the form SCHEME:SECRET, digest:USER:PASSWORD for digest")
		}
		pairs = append(pairs, [2]string{scheme, secret})
	}
	return pairs, nil
}

// mechanism gives the source of the SASL mechanism.
func (c *connection) mechanism() saslflags.Source {
	return saslflags.Source{
		Name: c.sasl, File: c.saslFile, Typed: map[string]string{"keytab": c.saslKeytab, "principal": c.saslPrincipal},
		Prefix: saslVariable, Env: os.Getenv,
	}
}

// tls is the configuration for TLS, nil for connections without.
func (c *connection) tls(cmd *cobra.Command, servers []string) (*tls.Config, error) {
	files := tlsfiles.Files{CA: c.ca, Cert: c.cert, Key: c.key, ServerName: c.serverName}
	if !c.secure && files == (tlsfiles.Files{}) {
		return nil, nil
	}
	cfg, err := files.Config(servers)
	if err != nil {
		typed := "--tls-cert FILE --tls-key FILE"
		if strings.HasPrefix(err.Error(), "tls-ca") {
			typed = "--tls-ca FILE"
		}
		return nil, badUse(withFlag(cmd, typed), "--%v", err)
	}
	return cfg, nil
}

// settings are the settings of a connection, checked.
type settings struct {
	servers     string
	credentials [][2]string          // scheme and secret
	sasl        zkconn.SASLMechanism // nil for none
	tls         *tls.Config          // nil for connections without
	timeout     time.Duration
	acls        acls
}

func (c *connection) settings(cmd *cobra.Command) (s settings, err error) {
	if s.servers, err = c.where(cmd); err != nil {
		return s, err
	}
	if c.sessionTimeout < time.Second {
		return s, badUse(withFlag(cmd, "--session-timeout 10s"), "--session-timeout %v is less than a second",
			c.sessionTimeout)
	}
	if c.connectTimeout <= 0 {
		return s, badUse(withFlag(cmd, "--connect-timeout 10s"), "--connect-timeout %v is not above zero",
			c.connectTimeout)
	}
	s.timeout = c.sessionTimeout
	if s.credentials, err = c.credentials(cmd); err != nil {
		return s, err
	}
	if s.sasl, err = c.mechanism().Mechanism(); err != nil {
		return s, badUse(withFlag(cmd, "--sasl digest-md5 --sasl-file FILE"), "%v", err)
	}
	if s.acls, err = c.access.read(cmd); err != nil {
		return s, err
	}
	cfg, err := s.config()
	if err != nil {
		return s, badUse(withFlag(cmd, "--zk HOST:2181,HOST:2181/CHROOT"), "%v", err)
	}
	s.tls, err = c.tls(cmd, cfg.Servers())
	return s, err
}

// config makes the Config of package zkconn, with more options.
func (s settings) config(more ...zkconn.Option) (zkconn.Config, error) {
	opts := append(s.acls.connection(), zkconn.WithSessionTimeout(s.timeout))
	opts = append(opts, more...)
	for _, c := range s.credentials {
		opts = append(opts, zkconn.WithAuth(c[0], []byte(c[1])))
	}
	if s.sasl != nil {
		opts = append(opts, zkconn.WithSASL(s.sasl))
	}
	if s.tls != nil {
		opts = append(opts, zkconn.WithTLS(s.tls))
	}
	return zkconn.NewConfig(s.servers, opts...)
}

// access has the flags for the ACLs of new nodes.
type access struct {
	nodes, parents []string
}

func (a *access) addFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&a.nodes, "acl", nil,
		"an entry of the `ACL` of what is made,\nSCHEME:ID:PERMISSIONS, of cdrwa\n(default world:anyone:cdrwa)")
	f.StringArrayVar(&a.parents, "parent-acl", nil,
		"an entry of the `ACL` of lock paths and what\nis above them (default: that of --acl)")
}

// permissions are the letters that ZooKeeper's own tools have for them.
var permissions = map[rune]int32{'c': zk.PermCreate, 'd': zk.PermDelete, 'r': zk.PermRead, 'w': zk.PermWrite,
	'a': zk.PermAdmin}

// acls are the lists that the flags have named; nil for zkconn's default.
type acls struct{ nodes, parents []zkconn.ACL }

func (a *access) read(cmd *cobra.Command) (all acls, err error) {
	if all.nodes, err = parseACL(cmd, "acl", a.nodes); err != nil {
		return all, err
	}
	all.parents, err = parseACL(cmd, "parent-acl", a.parents)
	return all, err
}

// connection gives the options of a connection.
func (a acls) connection() (opts []zkconn.Option) {
	if len(a.nodes) > 0 {
		opts = append(opts, zkconn.WithACL(a.nodes...))
	}
	if len(a.parents) > 0 {
		opts = append(opts, zkconn.WithParentACL(a.parents...))
	}
	return opts
}

// client gives the same for a client.
func (a acls) client() (opts []locks.Option) {
	if len(a.nodes) > 0 {
		opts = append(opts, locks.WithACL(a.nodes...))
	}
	if len(a.parents) > 0 {
		opts = append(opts, locks.WithParentACL(a.parents...))
	}
	return opts
}

// parseACL reads the entries of an ACL. An id may have colons in it, and an entry a secret: it is not shown.
func parseACL(cmd *cobra.Command, flag string, entries []string) (acl []zkconn.ACL, err error) {
	for _, text := range entries {
		scheme, rest, ok := strings.Cut(text, ":")
		last := strings.LastIndexByte(rest, ':')
		entry := zkconn.ACL{Scheme: scheme}
		if last >= 0 {
			entry.ID = rest[:last]
			for _, letter := range rest[last+1:] {
				if permissions[letter] == 0 {
					ok = false
				}
				entry.Perms |= permissions[letter]
			}
		}
		if !ok || last < 0 || scheme == "" || entry.Perms == 0 {
			return nil, badUse(withFlag(cmd, "--"+flag+" world:anyone:r --"+flag+" auth::cdrwa"),
				"--%s is not of the form SCHEME:ID:PERMISSIONS, with some of the letters cdrwa", flag)
		}
		acl = append(acl, entry)
	}
	return acl, nil
}
