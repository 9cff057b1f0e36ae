package zklock

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/rig/kdc"
)

// TestRealKerberos: with a keytab that is typed or named in the environment, and with a credential cache.
func TestRealKerberos(t *testing.T) {
	rig.Require(t)
	k := kdc.Start(t)
	k.Add(t, "zookeeper/localhost", "app", "gone")
	server := rig.StartStandalone(t, append(k.ZooKeeper(t, "zookeeper/localhost"),
		rig.WithConfig("sessionRequireClientSASLAuth", "true"))...)
	at := place{addr: server.Addr()}
	keys := k.Keytab(t, "app", "gone")
	t.Setenv("KRB5_CONFIG", k.Config())
	patiently := []string{"--session-timeout", patient.Session.String(), "--connect-timeout", patient.Bound.String(),
		"--sasl", "gssapi"}

	t.Run("typed", func(t *testing.T) {
		typed := append(patiently, "--sasl-keytab", keys, "--sasl-principal", "app@"+kdc.Realm)
		stdout, _ := says(t, at, 0, append(append([]string{"run"}, typed...), "/job", "--", "echo", "done")...)
		require.Equal(t, "done\n", stdout)
		says(t, at, 0, append([]string{"doctor"}, typed...)...)
	})
	t.Run("environment", func(t *testing.T) {
		with := command(at, append(patiently, "queue", "/job")...)
		with.Env = append(with.Env, "ZKLOCK_SASL_KEYTAB="+keys, "ZKLOCK_SASL_PRINCIPAL=app")
		launch(t, with).ends(t, 0)
	})
	t.Run("credential cache", func(t *testing.T) {
		t.Setenv("KRB5CCNAME", "FILE:"+k.Cache(t, "app", time.Hour))
		says(t, at, 0, append(patiently, "queue", "/job")...)
	})
	t.Run("refused", func(t *testing.T) {
		k.Delete(t, "gone")
		_, stderr := says(t, at, 70, append(patiently, "--sasl-keytab", keys, "--sasl-principal", "gone", "queue", "/job")...)
		require.Contains(t, stderr, "gone@"+kdc.Realm)
		require.Contains(t, stderr, "the KDC does not know the principal")
	})
	t.Run("no KDC", func(t *testing.T) {
		k.Kill(t)
		for within, stderr := 3*time.Second, ""; !contains(stderr, "no KDC answers"); within *= 2 { // it takes time to ask
			require.Less(t, within, patient.Bound, stderr)
			_, stderr = says(t, at, 69, "--connect-timeout", within.String(), "--sasl", "gssapi", "--sasl-keytab", keys,
				"--sasl-principal", "app", "queue", "/job")
		}
	})
}
