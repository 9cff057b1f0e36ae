package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// WithJAAS makes a server speak SASL: text is its JAAS file, whose section Server says which mechanism, and how. It
// adds the provider for the scheme "sasl". Other settings of a mechanism go by WithSystemProperty
// (java.security.krb5.conf) and WithConfig (sessionRequireClientSASLAuth, enforce.auth.schemes,
// kerberos.removeHostFromPrincipal).
func WithJAAS(text string) Option {
	return func(s *settings) {
		s.jaas = text
		s.config["authProvider.1"] = "org.apache.zookeeper.server.auth.SASLAuthenticationProvider"
	}
}

// DigestJAAS is the text for WithJAAS of a server that speaks DIGEST-MD5, with the passwords by user.
func DigestJAAS(passwords map[string]string) string {
	var text strings.Builder
	text.WriteString("Server {\n  org.apache.zookeeper.server.auth.DigestLoginModule required")
	for user, password := range passwords {
		fmt.Fprintf(&text, "\n  \"user_%s\"=\"%s\"", user, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(password))
	}
	text.WriteString(";\n};\n")
	return text.String()
}

const jaasFile = "jaas.conf"

// prepareJAAS writes the file that jaasFlags names.
func (s *Server) prepareJAAS() error {
	if s.settings.jaas == "" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(s.dir, jaasFile), []byte(s.settings.jaas), 0o600); err != nil {
		return fmt.Errorf("rig: %s: %w", jaasFile, err)
	}
	return nil
}

func (s *Server) jaasFlags() []string {
	if s.settings.jaas == "" {
		return nil
	}
	return []string{"-Djava.security.auth.login.config=" + filepath.Join(s.dir, jaasFile)}
}
