// Package kdc runs a real KDC for tests, MIT Kerberos's, and breaks it.
//
//	kdc := kdc.Start(t)
//	kdc.Add(t, "zookeeper/localhost", "alice")
//	server := rig.StartStandalone(t, kdc.ZooKeeper(t, "zookeeper/localhost")...)
//	// ... a client with kdc.Config() and kdc.Keytab(t, "alice") ...
//
// A KDC serves one realm on loopback, at a port that was free. Its database, keys, log and the files
// of its clients are in a temporary folder that Stop removes; nothing of the machine's own Kerberos
// is read or written. The process ends with the one that started it, however that ends.
//
// It needs Debian's krb5-kdc, krb5-admin-server and krb5-user: install.sh beside this file installs
// them. A test that calls [Require] is skipped where they are missing, unless
// TURNSTILE_REQUIRE_SERVERS=1 says that this is a failure.
package kdc
