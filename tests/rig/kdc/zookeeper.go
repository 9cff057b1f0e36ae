package kdc

import (
	"fmt"
	"testing"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// ZooKeeper gives the options of servers whose principal this is, which has to be there already.
// They know clients by their principals without the realm: alice, not alice@TURNSTILE.TEST.
func (k *KDC) ZooKeeper(t testing.TB, principal string) []rig.Option {
	t.Helper()
	return k.ZooKeeperWith(principal, k.Keytab(t, principal))
}

// ZooKeeperWith is ZooKeeper with a keytab that is there already.
func (k *KDC) ZooKeeperWith(principal, keytab string) []rig.Option {
	return []rig.Option{
		rig.WithJAAS(k.jaas("Server", principal, keytab)),
		rig.WithConfig("kerberos.removeHostFromPrincipal", "true"),
		rig.WithConfig("kerberos.removeRealmFromPrincipal", "true"),
		rig.WithSystemProperty("java.security.krb5.conf", k.Config()),
		// Nothing is written where other processes could meet it.
		rig.WithSystemProperty("java.io.tmpdir", k.dir),
	}
}

// Java gives the flags of a JVM whose ZooKeeper client is a principal.
func (k *KDC) Java(t testing.TB, principal string) []string {
	t.Helper()
	jaas := k.write(t, "jaas", k.jaas("Client", principal, k.Keytab(t, principal)))
	return []string{
		"-Djava.security.auth.login.config=" + jaas,
		"-Djava.security.krb5.conf=" + k.Config(),
		"-Djava.io.tmpdir=" + k.dir,
	}
}

// jaas is a JAAS file with one section, by which a JVM logs in with a keytab.
func (k *KDC) jaas(section, principal, keytab string) string {
	return fmt.Sprintf(`%s {
  com.sun.security.auth.module.Krb5LoginModule required
  useKeyTab=true
  keyTab="%s"
  storeKey=true
  useTicketCache=false
  principal="%s@%s";
};
`, section, keytab, principal, k.realm)
}
