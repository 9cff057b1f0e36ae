package main

import (
	"crypto/rand"
	"strings"

	"github.com/turnstile-locks/turnstile/examples/saslflags"
	"github.com/turnstile-locks/turnstile/examples/tlsfiles"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// credentials makes the client's options of the flags.
func (f *flags) credentials(s *settings, env func(string) string) error {
	s.options = []locks.Option{locks.WithSessionTimeout(f.session)}
	if given := env(authVariable); len(f.auth) == 0 && given != "" {
		f.auth = []string{given}
	}
	for _, text := range f.auth {
		text, err := saslflags.Credential(text)
		if err != nil {
			return misuse("-auth: %v", err)
		}
		scheme, credential, found := strings.Cut(text, ":")
		if !found || scheme == "" || credential == "" {
			return misuse("-auth takes a scheme and a credential, like digest:user:password")
		}
		s.options = append(s.options, locks.WithAuth(scheme, []byte(credential)))
	}
	f.sasl.Typed = map[string]string{"keytab": f.keytab, "principal": f.principal}
	mechanism, err := f.sasl.Mechanism()
	if err != nil {
		return misuse("-sasl, -sasl-file: %v", err)
	}
	if mechanism != nil {
		s.options = append(s.options, locks.WithSASL(mechanism))
	}
	if f.tls == (tlsfiles.Files{}) {
		return nil
	}
	servers, err := zkconn.NewConfig(s.servers)
	if err != nil {
		return misuse("-zk: %v", err)
	}
	config, err := f.tls.Config(servers.Servers())
	if err != nil {
		return misuse("-%v", err)
	}
	s.options = append(s.options, locks.WithTLS(config))
	return nil
}

// demoToken makes a token for a demo.
func demoToken() string { return rand.Text() }
