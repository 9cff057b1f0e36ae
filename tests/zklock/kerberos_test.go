package zklock

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/rig/kdc"
	"github.com/turnstile-locks/turnstile/tests/scene"
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
	const gssapi = " --sasl gssapi"

	typed := gssapi + " --sasl-keytab " + keys + " --sasl-principal "
	stdout, _ := says(t, at, 0, "run"+typed+"app@"+kdc.Realm+" /job -- echo done")
	require.Equal(t, "done\n", stdout)
	says(t, at, 0, "doctor"+typed+"app@"+kdc.Realm)

	with := command(at, "queue /job"+gssapi)
	with.Env = append(with.Env, "ZKLOCK_SASL_KEYTAB="+keys, "ZKLOCK_SASL_PRINCIPAL=app")
	launch(t, with).ends(t, 0)

	with = command(at, "queue /job"+gssapi)
	with.Env = append(with.Env, "KRB5CCNAME=FILE:"+k.Cache(t, "app", time.Hour))
	launch(t, with).ends(t, 0)

	k.Delete(t, "gone")
	_, stderr := says(t, at, 70, "queue /job"+typed+"gone")
	require.Contains(t, stderr, "gone@"+kdc.Realm)
	require.Contains(t, stderr, "the KDC does not know the principal")

	k.Kill(t)
	for within, stderr := 3*time.Second, ""; !strings.Contains(stderr, "no KDC answers"); within *= 2 { // it takes time to ask
		require.Less(t, within, scene.Bound, stderr)
		_, stderr = says(t, at, 69, "queue /job --connect-timeout "+within.String()+typed+"app")
	}
}
