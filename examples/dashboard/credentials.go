package main

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"os"
	"strings"

	"github.com/turnstile-locks/turnstile/examples/saslflags"
	"github.com/turnstile-locks/turnstile/locks"
)

// tlsFiles are the files that TLS takes.
type tlsFiles struct{ ca, cert, key string }

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
	config, err := f.tls.config()
	if err != nil {
		return err
	}
	if config != nil {
		s.options = append(s.options, locks.WithTLS(config))
	}
	return nil
}

// config reads the files; nil without files.
func (t tlsFiles) config() (*tls.Config, error) {
	if t == (tlsFiles{}) {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.ca != "" {
		text, err := os.ReadFile(t.ca)
		if err != nil {
			return nil, misuse("-tls-ca: %v", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, misuse("-tls-ca: there is no certificate in %s; it has to be PEM", t.ca)
		}
	}
	if (t.cert == "") != (t.key == "") {
		return nil, misuse("-tls-cert and -tls-key go together: type both")
	}
	if t.cert != "" {
		pair, err := tls.LoadX509KeyPair(t.cert, t.key)
		if err != nil {
			return nil, misuse("-tls-cert, -tls-key: %v", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// demoToken makes a token for a demo.
func demoToken() string { return rand.Text() }
