// # Ensembles with Kerberos or DIGEST-MD5
//
// An ensemble with SASL knows its clients by a user (DIGEST-MD5) or a principal (Kerberos).
// WithSASL takes the mechanism; each connection authenticates before anything else is sent, also
// after it was lost, and in each new session:
//
//	mechanism, err := digestmd5.New("app", password)
//	opening, cancel := context.WithTimeout(ctx, 30*time.Second)
//	defer cancel()
//	client, err := locks.Open(opening, servers, locks.WithSASL(mechanism), locks.WithACL(zkconn.CreatorACL()...))
//
// # What to set where
//
// DIGEST-MD5, in each server:
//
//	zoo.cfg                authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider
//	SERVER_JVMFLAGS        -Djava.security.auth.login.config=/etc/zookeeper/jaas.conf
//	jaas.conf (mode 0600)  Server {
//	                         org.apache.zookeeper.server.auth.DigestLoginModule required
//	                         user_app="a long random password"
//	                         user_super="another, which nobody needs";
//	                       };
//	to keep others out     sessionRequireClientSASLAuth=true in zoo.cfg
//
// and in each client:
//
//	Go                     locks.WithSASL(digestmd5.New("app", password))
//	zklock, the dashboard  --sasl digest-md5 --sasl-file FILE (mode 0600: user=app, password=…, a line each);
//	                       or ZKLOCK_SASL, ZKLOCK_SASL_USER, ZKLOCK_SASL_PASSWORD (TURNSTILE_SASL… for the dashboard)
//	Curator, zkCli         a section Client with DigestLoginModule, username and password in a JAAS file;
//	                       with ZooKeeper's client 3.9 also -Dzookeeper.fips-mode=false
//	kazoo                  sasl_options={"mechanism": "DIGEST-MD5", "username": "app", "password": …}
//
// All of them lock side by side (tests/sasl). requireClientAuthScheme=sasl, which many pages name,
// is read by nothing; sessionRequireClientSASLAuth, and enforce.auth.enabled with
// enforce.auth.schemes=sasl, are. Give the user "super" an entry, as above. 3.8, up to 3.8.6, lets
// in a user whom its JAAS file does not name, with the password of the user who came last. And
// "super" passes every access list of the scheme sasl. 3.9.5 refuses such a user.
//
// DIGEST-MD5 protects the password, and nothing else: who can listen sees all else, and can try
// passwords on a recorded exchange. Use TLS where others can (WithTLS goes with WithSASL).
//
// Kerberos, in each server:
//
//	the KDC                addprinc -randkey zookeeper/zk1.example.com, and its key in a keytab (ktadd)
//	zoo.cfg                authProvider.1 as above; kerberos.removeHostFromPrincipal=true and
//	                       kerberos.removeRealmFromPrincipal=true, if ACLs are to say app for app/host1@EXAMPLE.COM
//	SERVER_JVMFLAGS        java.security.auth.login.config as above; -Djava.security.krb5.conf where it is not /etc's
//	jaas.conf              Server {
//	                         com.sun.security.auth.module.Krb5LoginModule required
//	                         useKeyTab=true keyTab="/etc/zookeeper/zookeeper.keytab"
//	                         storeKey=true useTicketCache=false
//	                         principal="zookeeper/zk1.example.com@EXAMPLE.COM";
//	                       };
//	to keep others out     sessionRequireClientSASLAuth=true in zoo.cfg
//
// and in each client:
//
//	Go                     gssapi.New(gssapi.WithKeytab("/etc/app.keytab", "app/host1@EXAMPLE.COM")), for WithSASL;
//	                       without a keytab, tickets are those of the credential cache (KRB5CCNAME)
//	zklock, the dashboard  --sasl gssapi --sasl-keytab FILE --sasl-principal app/host1@EXAMPLE.COM, or the variables
//	                       ZKLOCK_SASL_KEYTAB and …_PRINCIPAL; further settings, which go into --sasl-file or variables
//	                       likewise: ccache, krb5conf, service, server, canonicalize
//	Curator, zkCli         a section Client with Krb5LoginModule in a JAAS file
//
// They lock side by side, too (tests/kerberos). A Go client reads /etc/krb5.conf, or the file
// that KRB5_CONFIG names: the KDCs of the realm, the default realm, domain_realm. It asks for a ticket
// for zookeeper/HOST, where HOST is the name that the DNS gives for the server's address. So the
// principal in the KDC, the one in jaas.conf and that name have to agree. Where they do not,
// gssapi.WithServerPrincipal, WithService and WithoutCanonicalHost do what Java's
// zookeeper.server.principal, zookeeper.sasl.client.username and
// zookeeper.sasl.client.canonicalize.hostname=false do.
//
// A keytab is read again at each login, and a credential cache whenever it has changed. Keep the
// cache fresh by k5start or sssd: an expired one ends the session at the next connection. A ticket
// lasts for hours, is replaced before it expires, and is kept between connections: while no KDC
// answers, clients that have one go on. Kerberos protects no more of the traffic than DIGEST-MD5
// does.
//
// # Who may do what
//
// zkconn.CreatorACL, Curator's CREATOR_ALL_ACL, gives a node to its creator: the servers
// write sasl and the user, or principal, in its place. Who shares lock paths has to be the same
// user, or to be named:
//
//	locks.WithACL(zkconn.SASLACL(zk.PermAll, "app"), zkconn.SASLACL(zk.PermAll, "batch"))
//
// Nodes that exist keep their lists. Parents of lock paths that others made need CREATE for this
// user.
//
// With Kerberos, servers name clients by their whole principals: app/host1@EXAMPLE.COM and
// app/host2@EXAMPLE.COM are two users, whose lock paths are closed to each other. With the two
// settings of zoo.cfg above both are app. All servers need the same settings.
//
// # Turning it on, and changing a password
//
// Servers first, one after the other: with a JAAS file and without sessionRequireClientSASLAuth
// they let everybody in, with SASL and without. Then clients. Then sessionRequireClientSASLAuth,
// one server after the other. A client with WithSASL is refused by a server without SASL, so
// clients do not come first.
//
// A user has one password, which the servers read when they start. Clients that run keep their
// connections when it has been changed, and are refused at the next: their sessions end, and so do
// their locks. So change users in place of passwords: add one, name both in the ACLs, move the
// clients, remove the first.
//
// The keys of a client's principal may be changed at any time, if its keytab is changed with them:
// a client that runs reads it at its next login. The servers' keytab has to keep the old key, as
// ktadd does, until tickets for it have expired. Without the old key, a server refuses those
// tickets once, and the client fetches another.
//
// # What is final, and what passes
//
// A refusal ends the session: leases are lost, Lock returns ErrClosed together with
// zkconn.ErrAuthFailed, and Open returns zkconn.ErrAuthFailed. A server has to refuse twice in a
// row, for 3.8.0 mixes up two users who come at the same moment. Other failures may pass, and are
// tried again with pauses. A connection may be lost in the exchange; a server, a KDC or a DNS may
// not answer. Meanwhile leases end in time, as they do when no server can be reached
// (zkconn.WithSASL).
//
// # The five errors that people meet
//
// Each is one line, which names the server, the mechanism and the user. zklock doctor shows the
// same.
//
//	credential refused: SASL DIGEST-MD5 as "app": the server said so (error -115, AuthFailed)
//
// The password is wrong, or the server's JAAS file has no user_app; it does not say which. Its log
// does: "User 'app' not found", or "Mismatched response". Servers read the file when they start.
// With -124 in place of -115 it is the same, on a server that requires SASL.
//
//	credential refused: SASL DIGEST-MD5 as "app": the server has no SASL: it answers with nothing
//
// This server was started without java.security.auth.login.config, or the file has no section
// Server. Often it is one server of three, or the variable is set for the shell and not for the
// service.
//
//	credential refused: the server requires SASL authentication, or another that it enforces, and none is configured
//	(error -124, SessionClosedRequireSaslAuth)
//
// There is no WithSASL, or no --sasl. It comes with the first request, not with Open: a server says
// it then.
//
//	refused by the server: … zk: invalid ACL specified
//
// The ACL says "auth" or "sasl", and the server does not know the scheme: authProvider.1 is
// missing. Authentication works without it, access lists do not.
//
//	not permitted by the ACL: … zk: not authenticated
//
// The client is somebody, but not whom the node's list names: another user has made the lock path.
// zkCli's getAcl shows the list, and whoami who one is.
//
// # Five more with Kerberos
//
// The first four are the KDC's or come before it is asked: no server has seen the client. kinit
// with the same keytab fails likewise, and kvno with the server's principal.
//
//	SASL GSSAPI as "app@EXAMPLE.COM": for server zookeeper/10.0.0.5@EXAMPLE.COM: the KDC does not know the server's
//	principal
//
// The name is not the one that the server was given. An address in place of a host means that the
// DNS has no name for it; a short name, or an alias, that it has another. WithServerPrincipal, or
// put the DNS right. With "the DNS does not say the server's name" in place of that, the DNS did
// not answer: that passes, and is tried again.
//
//	SASL GSSAPI as "app@EXAMPLE.COM": …: the keytab does not have the principal's present key
//
// The key was changed after the keytab was made, often by making another keytab: ktadd changes the
// key each time, unless told -norandkey. Copy the newest keytab everywhere. "the KDC does not know
// the principal", its sister, has a wrong name or realm, or an entry that is locked or has expired.
//
//	SASL GSSAPI as "app@EXAMPLE.COM": …: the clocks differ too much: it is … here and … at the KDC
//
// More than five minutes, or clockskew of krb5.conf. Where the KDC agrees with us and the server
// does not, the server refuses with -115 or -124, and has "Clock skew too great (37)" in its log.
//
//	SASL GSSAPI as "app@EXAMPLE.COM": …: the ticket has expired: that of credential cache … at …: run kinit
//
// Nobody keeps the credential cache fresh. Services want a keytab. "no KDC answers" is another
// thing: that passes, and is tried again.
//
//	credential refused: SASL GSSAPI as "app@EXAMPLE.COM": the server said so (error -115, AuthFailed)
//
// The server could not read the ticket, and says so in its log alone: "Checksum failed". Its keytab
// has no key of the principal that we asked for, or an older one. Or it has another key of the same
// version, from a KDC that was set up anew. klist -k shows what a keytab has, and kvno which
// version the KDC gives out.
package guides
