// # Ensembles with Kerberos or DIGEST-MD5
//
// An ensemble with SASL knows its clients by a user (DIGEST-MD5) or a principal (Kerberos). WithSASL takes the
// mechanism; each connection authenticates before anything else is sent, also after it was lost, and in each new
// session:
//
//	mechanism, err := digestmd5.New("app", password)
//	client, err := locks.Open(ctx, servers, locks.WithSASL(mechanism), locks.WithACL(zkconn.CreatorACL()...))
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
//	Curator, zkCli         a section Client with DigestLoginModule, username and password in a JAAS file
//	kazoo                  sasl_options={"mechanism": "DIGEST-MD5", "username": "app", "password": …}
//
// All of them lock side by side (tests/sasl). requireClientAuthScheme=sasl, which many pages name, is read by
// nothing in 3.8.0; sessionRequireClientSASLAuth, and enforce.auth.enabled with enforce.auth.schemes=sasl, are.
// Give the user "super" an entry, as above: 3.8.0 lets somebody whom its JAAS file does not name in with the
// password of the user who came last, and "super" passes every access list of the scheme sasl.
//
// DIGEST-MD5 protects the password, and nothing else: who can listen sees all else, and can try passwords on what was
// recorded. Use TLS where others can (WithTLS goes with WithSASL).
//
// # Who may do what
//
// zkconn.CreatorACL, Curator's CREATOR_ALL_ACL, gives a node to whoever creates it: the servers write sasl and the
// user, or principal, in its place. Who shares lock paths has to be the same user, or to be named:
//
//	locks.WithACL(zkconn.SASLACL(zk.PermAll, "app"), zkconn.SASLACL(zk.PermAll, "batch"))
//
// Nodes that exist keep their lists. Parents of lock paths that others made need CREATE for this user.
//
// # Turning it on, and changing a password
//
// Servers first, one after the other: with a JAAS file and without sessionRequireClientSASLAuth they let everybody
// in, with SASL and without. Then clients. Then sessionRequireClientSASLAuth, one server after the other. A client
// with WithSASL is refused by a server without SASL, so clients do not come first.
//
// A user has one password, which the servers read when they start. Clients that run keep their connections when it
// has been changed, and are refused at the next: their sessions end, and so do their locks. So change users in
// place of passwords: add one, name both in the ACLs, move the clients, remove the first.
//
// # What is final, and what passes
//
// A refusal ends the session: leases are lost, Lock returns ErrClosed together with zkconn.ErrAuthFailed, and Open
// returns zkconn.ErrAuthFailed. A server has to refuse twice in a row, for 3.8.0 mixes up two users who come at the
// same moment. A connection that is lost in the exchange, a server that says nothing, a KDC that cannot be reached:
// these pass, and are tried again with pauses; leases end in time meanwhile, as they do when no server can be
// reached (zkconn.WithSASL).
//
// # The five errors that people meet
//
// Each is one line, which names the server, the mechanism and the user. zklock doctor shows the same.
//
//	credential refused: SASL DIGEST-MD5 as "app": the server said so (error -115, AuthFailed)
//
// The password is wrong, or the server's JAAS file has no user_app; it does not say which. Its log does: "User
// 'app' not found", or "Mismatched response". Servers read the file when they start. With -124 in place of -115 it
// is the same, on a server that requires SASL.
//
//	credential refused: SASL DIGEST-MD5 as "app": the server has no SASL: it answers with nothing
//
// This server was started without java.security.auth.login.config, or the file has no section Server. Often it is one
// server of three, or the variable is set for the shell and not for the service.
//
//	credential refused: the server requires SASL authentication, or another that it enforces, and none is configured
//	(error -124, SessionClosedRequireSaslAuth)
//
// There is no WithSASL, or no --sasl. It comes with the first request, not with Open: a server says it then.
//
//	refused by the server: … zk: invalid ACL specified
//
// The ACL says "auth" or "sasl", and the server does not know the scheme: authProvider.1 is missing. Authentication
// works without it, access lists do not.
//
//	not permitted by the ACL: … zk: not authenticated
//
// The client is somebody, but not whom the node's list names: another user has made the lock path. zkCli's getAcl
// shows the list, and whoami who one is.
package guides
