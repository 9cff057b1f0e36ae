package zklock

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// withSASL is a server that lets in nobody without, and a file of settings for a user with a password.
func withSASL(t *testing.T, user, password string) (place, string) {
	t.Helper()
	server := embedded.Run(t, embedded.WithSASL(map[string]string{"app": "top secret"}), embedded.WithSASLRequired())
	file := filepath.Join(t.TempDir(), "sasl")
	require.NoError(t, os.WriteFile(file, []byte("user="+user+"\npassword="+password+"\n"), 0o600))
	return place{addr: server.Addr()}, file
}

// TestSASL: from a file and from the environment, for each command that connects, and for a zklock below another.
func TestSASL(t *testing.T) {
	t.Parallel()
	at, file := withSASL(t, "app", "top secret")
	flags := " --sasl digest-md5 --sasl-file " + file
	stdout, _ := says(t, at, 0, "run"+flags+" /job -- echo done")
	require.Equal(t, "done\n", stdout)
	says(t, at, 0, "queue /job"+flags)
	says(t, at, 0, "doctor"+flags)

	with := command(at, "run /job -- sh -c", `echo "$ZKLOCK_SASL_USER" "$ZKLOCK_PATH"`)
	with.Env = append(with.Env, "ZKLOCK_SASL=digest-md5", "ZKLOCK_SASL_USER=app", "ZKLOCK_SASL_PASSWORD=top secret")
	p := launch(t, with)
	p.ends(t, 0)
	require.Equal(t, "app /job\n", p.stdout(t), "a zklock below this one authenticates likewise")
}

// TestSASLIsRefused: in words, without the password, at once.
func TestSASLIsRefused(t *testing.T) {
	t.Parallel()
	at, file := withSASL(t, "app", "a guess")
	for _, flags := range []string{" --sasl digest-md5 --sasl-file " + file, ""} {
		_, stderr := says(t, at, 70, "run"+flags+" /job -- echo done")
		require.Contains(t, stderr, "refuse")
		require.Contains(t, stderr, "SASL")
		require.NotContains(t, stderr, "a guess")
		require.False(t, parsed[report](t, at, 1, "doctor --json"+flags).OK)
	}
}
