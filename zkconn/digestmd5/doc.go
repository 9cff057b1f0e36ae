// Package digestmd5 is the client's side of the SASL mechanism DIGEST-MD5 (RFC 2831), as ZooKeeper servers speak it.
//
//	mechanism, err := digestmd5.New("app", password)
//	opening, cancel := context.WithTimeout(ctx, 30*time.Second)
//	defer cancel()
//	client, err := locks.Open(opening, servers, locks.WithSASL(mechanism), locks.WithACL(zkconn.CreatorACL()...))
//
// The server has the user and the password in the section Server of its JAAS file:
//
//	Server {
//	  org.apache.zookeeper.server.auth.DigestLoginModule required
//	  user_app="the password";
//	};
//
// and is told of it by -Djava.security.auth.login.config=FILE, and by the line
// authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider of its configuration.
//
// The client proves that it knows the password without sending it, and verifies that the server
// knows it too. Nothing else is protected: what follows is neither encrypted nor signed, and RFC
// 6331 calls the mechanism obsolete, because anybody who records an exchange can try passwords on
// it. Choose a long random password, and TLS where others can listen.
//
// The password appears in no error, log or printed value.
package digestmd5
