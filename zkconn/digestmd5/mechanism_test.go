package digestmd5

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/snapshot"
	"github.com/turnstile-locks/turnstile/zkconn"
)

func TestNewRefuses(t *testing.T) {
	for name, make := range map[string]func() (*Mechanism, error){
		"no user":     func() (*Mechanism, error) { return New("", "top secret") },
		"no password": func() (*Mechanism, error) { return New("u", "") },
		"no realm":    func() (*Mechanism, error) { return New("u", "top secret", WithRealm("")) },
		"no service":  func() (*Mechanism, error) { return New("u", "top secret", WithService("", "h")) },
		"no host":     func() (*Mechanism, error) { return New("u", "top secret", WithService("s", "")) },
		"no option":   func() (*Mechanism, error) { return New("u", "top secret", nil) },
	} {
		m, err := make()
		require.Nil(t, m, name)
		require.ErrorIs(t, err, zkconn.ErrBadConfig, name)
		require.NotContains(t, err.Error(), "top secret", name)
	}
}

func TestPasswordIsNotPrinted(t *testing.T) {
	const password = "tr0ub4dor&3"
	m, err := New("bob", password)
	require.NoError(t, err)
	require.Equal(t, `DIGEST-MD5 as "bob"`, m.String())
	require.Equal(t, "DIGEST-MD5", m.Name())
	require.Equal(t, "bob", m.Principal())
	e := begin(t, m, "c")
	_, err = e.Step([]byte(plain))
	require.NoError(t, err)
	cfg, err := zkconn.NewConfig("h", zkconn.WithSASL(m))
	require.NoError(t, err)
	for _, value := range []any{m, *m, e, []any{m, e}, cfg, &cfg} {
		for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			require.NotContains(t, fmt.Sprintf(format, value), password, format)
			require.NotContains(t, fmt.Sprintf(format, value), fmt.Sprintf("%x", password), format)
		}
		text, err := json.Marshal(value)
		require.NoError(t, err)
		require.NotContains(t, string(text), password)
		require.Empty(t, snapshot.FindText(value, password))
	}
}
