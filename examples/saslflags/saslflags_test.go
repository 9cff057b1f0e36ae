package saslflags

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// source makes a Source whose environment the test sets, and whose file has this text.
func source(t *testing.T, name, text string, env map[string]string) Source {
	s := Source{Name: name, Prefix: "P_SASL", Env: func(name string) string { return env[name] }}
	if text != "" {
		s.File = filepath.Join(t.TempDir(), "sasl")
		require.NoError(t, os.WriteFile(s.File, []byte(text), 0o600))
	}
	return s
}

func TestNothingIsAskedFor(t *testing.T) {
	m, err := source(t, "", "", map[string]string{"P_SASL_USER": "app", "P_SASL_PASSWORD": "top secret"}).Mechanism()
	require.NoError(t, err)
	require.Nil(t, m)
}

func TestSettings(t *testing.T) {
	for what, c := range map[string]struct {
		name, text string
		env        map[string]string
		principal  string
	}{
		"a file": {name: "digest-md5", text: "# whom\n\n user=app\r\npassword= top=secret \n", principal: "app"},
		"the environment": {name: "Digest-MD5",
			env: map[string]string{"P_SASL_USER": "app", "P_SASL_PASSWORD": "p"}, principal: "app"},
		"the environment alone": {
			env: map[string]string{"P_SASL": "digest-md5", "P_SASL_USER": "app", "P_SASL_PASSWORD": "p"}, principal: "app"},
		"both": {name: "digest-md5", text: "user=app", principal: "app",
			env: map[string]string{"P_SASL_USER": "another", "P_SASL_PASSWORD": "p"}},
	} {
		t.Run(what, func(t *testing.T) {
			m, err := source(t, c.name, c.text, c.env).Mechanism()
			require.NoError(t, err)
			require.Equal(t, "DIGEST-MD5", m.Name())
			require.Equal(t, c.principal, m.Principal())
		})
	}
	s := source(t, "", "", nil)
	with := source(t, "", "user=app\npassword=p", nil).File
	s.Env = func(name string) string { return map[string]string{"P_SASL": "digest-md5", "P_SASL_FILE": with}[name] }
	m, err := s.Mechanism()
	require.NoError(t, err)
	require.Equal(t, "app", m.Principal())
}

func TestValuesAreKeptAsTheyAre(t *testing.T) {
	values, err := parse("user= a \npassword=b=c#d\t\r\n", []string{"user", "password"})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"user": " a ", "password": "b=c#d\t"}, values)
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	for reason, s := range map[string]Source{
		"no mechanism is named":      source(t, "", "user=app", nil),
		`no SASL mechanism "plain"`:  source(t, "plain", "", nil),
		"there is no user":           source(t, "digest-md5", "password=top secret", nil),
		"there is no password":       source(t, "digest-md5", "user=app", nil),
		"P_SASL_PASSWORD":            source(t, "digest-md5", "user=app", nil),
		"line 2 is not name=value":   source(t, "digest-md5", "user=app\ntop secret", nil),
		"line 1 sets none of user":   source(t, "digest-md5", "passwort=top secret", nil),
		"line 2 sets user once more": source(t, "digest-md5", "user=a\nuser=top secret", nil),
		"no such file":               {Name: "digest-md5", File: "/nowhere/at/all", Env: func(string) string { return "" }},
		"is no file":                 {Name: "digest-md5", File: t.TempDir(), Env: func(string) string { return "" }},
	} {
		_, err := s.Mechanism()
		require.ErrorContains(t, err, reason)
		require.NotContains(t, err.Error(), "top secret")
	}
}

func TestFilesThatOthersCanReadAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mode says nothing there")
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o660, 0o644, 0o601} {
		s := source(t, "digest-md5", "user=app\npassword=top secret", nil)
		require.NoError(t, os.Chmod(s.File, mode))
		_, err := s.Mechanism()
		require.ErrorContains(t, err, "chmod 600 "+s.File, mode)
		require.NotContains(t, err.Error(), "top secret")
		require.NoError(t, os.Chmod(s.File, 0o400))
		_, err = s.Mechanism()
		require.NoError(t, err)
	}
}
