package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/examples/saslflags"
	"github.com/turnstile-locks/turnstile/examples/tlsfiles"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn"
)

var (
	// errUse is wrapped by errors of the flags, which say what to type.
	errUse = errors.New("dashboard")
	// errHelp: help was asked for, and given.
	errHelp = errors.New("help was asked for")
)

// The environment variables that are read where the flag is missing.
const (
	serversVariable = "ZOOKEEPER_SERVERS"
	tokenVariable   = "TURNSTILE_REVOKE_TOKEN"
	authVariable    = "TURNSTILE_AUTH"
	saslVariable    = "TURNSTILE_SASL" // and what begins with it: see package saslflags
)

// shortestToken is the length below which a token could be guessed.
const shortestToken = 16

// settings are the settings of the command.
type settings struct {
	listen  string
	servers string
	root    string
	token   string
	hosts   []string
	every   time.Duration
	most    int
	demo    bool
	crowd   int
	options []locks.Option
	warned  []string // what a person should know before it starts
}

// flags are the flags as they are typed.
type flags struct {
	settings
	tokenFile, hosts string
	session          time.Duration
	auth             []string
	sasl             saslflags.Source
	keytab           string
	principal        string
	tls              tlsfiles.Files
}

// parse reads the flags and the environment.
func parse(args []string, env func(string) string, errs io.Writer) (settings, error) {
	var f flags
	set := flag.NewFlagSet("dashboard", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&f.listen, "listen", "127.0.0.1:8080", "the address at which the page is served")
	set.StringVar(&f.servers, "zk", "", "ZooKeeper's servers, like host:2181,host:2181/chroot; or $"+serversVariable)
	set.StringVar(&f.root, "root", "/", "the node below which locks are looked for")
	set.StringVar(&f.tokenFile, "revoke-token-file", "", "a file with the token that lets a person ask locks back; or $"+
		tokenVariable+"; without one nobody can")
	set.StringVar(&f.hosts, "host", "", "names under which the page is reached besides localhost and addresses, separated by commas")
	set.DurationVar(&f.every, "every", time.Second, "the pause between two looks at the tree of locks")
	set.IntVar(&f.most, "follow", 200, "how many queues are followed at a time; of other locks there are numbers only")
	set.DurationVar(&f.session, "session", 10*time.Second, "the ZooKeeper session timeout to ask for")
	set.Func("auth", "a credential, like digest:user:password, or @FILE for one in a file that only you "+
		"can read; may be given more than once; or $"+authVariable, func(text string) error {
		f.auth = append(f.auth, text)
		return nil
	})
	f.sasl.Prefix, f.sasl.Env = saslVariable, env
	set.StringVar(&f.sasl.Name, "sasl", "", "authenticate with a SASL mechanism, "+saslflags.Names()+"; or $"+saslVariable)
	set.StringVar(&f.sasl.File, "sasl-file", "", "a file that only you can read with what that takes, user=NAME and "+
		"password=PASSWORD, a line each; or $"+saslVariable+"_FILE, or $"+saslVariable+"_USER and $"+saslVariable+"_PASSWORD")
	set.StringVar(&f.keytab, "sasl-keytab", "", "a file with keys for -sasl gssapi, which takes tickets from the "+
		"credential cache without; or $"+saslVariable+"_KEYTAB")
	set.StringVar(&f.principal, "sasl-principal", "", "whose keys, NAME@REALM; or $"+saslVariable+"_PRINCIPAL")
	set.StringVar(&f.tls.CA, "tls-ca", "", "a PEM file with the authorities that ZooKeeper's certificates are from; turns TLS on")
	set.StringVar(&f.tls.Cert, "tls-cert", "", "a PEM file with our certificate; turns TLS on")
	set.StringVar(&f.tls.Key, "tls-key", "", "a PEM file with its key")
	set.BoolVar(&f.demo, "demo", false, "start a ZooKeeper in memory and workers that lock, to see what it looks like")
	set.IntVar(&f.crowd, "crowd", 0, "with -demo: how many contenders wait for one more lock")
	set.Usage = func() {}
	err := set.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		set.SetOutput(errs)
		fmt.Fprint(errs, "dashboard serves a page that shows locks as they move.\n\n"+
			"  dashboard -demo\n  dashboard -zk zk1:2181,zk2:2181 -root /app/locks\n\n")
		set.PrintDefaults()
		return settings{}, errHelp
	}
	if err != nil {
		return settings{}, misuse("%v; dashboard -help lists the flags", err)
	}
	if set.NArg() > 0 {
		return settings{}, misuse("%q is no flag; -zk names the servers, -help lists the flags", set.Arg(0))
	}
	return f.check(env)
}

// misuse is an error that says what is wrong and what to type.
func misuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errUse}, args...)...)
}

// check completes what was typed, and refuses what makes no sense.
func (f *flags) check(env func(string) string) (settings, error) {
	s := f.settings
	given := s.servers
	s.servers = cmp.Or(s.servers, env(serversVariable))
	switch {
	case s.demo && given != "":
		return s, misuse("-demo brings its own server; leave one of -demo and -zk out")
	case s.crowd < 0 || s.crowd > 0 && !s.demo:
		return s, misuse("-crowd is how many contenders -demo adds: a number from 0, with -demo")
	case !s.demo && s.servers == "":
		return s, misuse("no servers: type -zk host:2181, or set $%s; or -demo to see what it looks like", serversVariable)
	case s.root != "/" && zkconn.CheckPath(s.root) != nil:
		return s, misuse("-root: %v; type a path like /app/locks", zkconn.CheckPath(s.root))
	case s.every < 10*time.Millisecond:
		return s, misuse("-every %v: type a pause of 10ms or more", s.every)
	case s.most < 1:
		return s, misuse("-follow %d: type a number from 1", s.most)
	}
	for _, name := range strings.Split(f.hosts, ",") {
		if name = strings.TrimSpace(name); name != "" {
			s.hosts = append(s.hosts, name)
		}
	}
	host, _, err := net.SplitHostPort(s.listen)
	if err != nil {
		return s, misuse("-listen %s: %v; type an address like 127.0.0.1:8080", s.listen, err)
	}
	if !loopback(host) {
		s.warned = append(s.warned, "warning: "+s.listen+" is not loopback: everybody who can reach it sees the locks, and tokens are sent in "+
			"the clear. Put a proxy with TLS and passwords before it.")
	}
	if host != "" && !loopback(host) {
		s.hosts = append(s.hosts, host)
	}
	if err := f.credentials(&s, env); err != nil {
		return s, err
	}
	if err := f.readToken(&s, env); err != nil {
		return s, err
	}
	if s.demo {
		s.token = cmp.Or(s.token, demoToken())
	}
	return s, nil
}

// loopback reports whether only this machine reaches an address.
func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// readToken reads the token from its file or the environment: on the command line everybody could see it.
func (f *flags) readToken(s *settings, env func(string) string) error {
	s.token = env(tokenVariable)
	from := "$" + tokenVariable
	if f.tokenFile != "" {
		from = f.tokenFile
		text, err := os.ReadFile(f.tokenFile)
		if err != nil {
			return misuse("-revoke-token-file: %v; make one with: (umask 077; openssl rand -hex 16 > token)", err)
		}
		s.token = strings.TrimSpace(string(text))
		if info, err := os.Stat(f.tokenFile); err == nil && info.Mode().Perm()&0o077 != 0 {
			s.warned = append(s.warned, "warning: others can read "+f.tokenFile+": chmod 600 "+f.tokenFile)
		}
		if s.token == "" {
			return misuse("%s is empty; make a token with: (umask 077; openssl rand -hex 16 > %[1]s)", f.tokenFile)
		}
	}
	if s.token != "" && len(s.token) < shortestToken {
		return misuse("the token in %s is short: take %d characters or more, such as those of openssl rand -hex 16", from, shortestToken)
	}
	if strings.ContainsFunc(s.token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return misuse("the token in %s has blanks, or letters beyond ASCII; take that of openssl rand -hex 16", from)
	}
	return nil
}

// announce says where the page is, and what is to be known of it.
func (s settings) announce(out io.Writer, at net.Addr) {
	for _, w := range s.warned {
		fmt.Fprintln(out, w)
	}
	if s.token == "" {
		fmt.Fprintln(out, "nobody can ask locks back: there is no -revoke-token-file")
	} else if s.demo {
		fmt.Fprintln(out, "the token to ask locks back with:", s.token)
	}
	fmt.Fprintf(out, "dashboard: http://%s/\n", at)
}
