// Package gssapi authenticates by Kerberos, as the SASL mechanism of [zkconn.WithSASL].
//
//	mechanism, err := gssapi.New(gssapi.WithKeytab("/etc/lock.keytab", "lock/app1@EXAMPLE.COM"))
//	cfg, err := zkconn.NewConfig(servers, zkconn.WithSASL(mechanism))
//
// It is a package of its own so that only programs that import it link github.com/jcmturner/gokrb5,
// from which come the messages, the encryption, and the files of Kerberos. The context bounds all
// traffic with a KDC, and no goroutine lives longer than a call.
//
// # Credentials
//
// A keytab ([WithKeytab]) or a credential cache ([WithCredentialCache]; it is the default). From a
// keytab, tickets are fetched anew before they expire, at the connection that needs one. A
// credential cache is kept fresh by somebody else (kinit, k5start, sssd), and is read again whenever
// the file has changed. Where it has no valid ticket it is read again for a second, for it may be in
// the midst of being written. Each of these files must be a regular one, and the default cache, in
// /tmp, must belong to the user that runs.
//
// Tickets are kept between connections, so a client with valid tickets goes on without a KDC, and
// an outage of the ensemble puts no load on one. A ticket is replaced in the last tenth of its
// life, five minutes at most. Each connection spends an eighth of its time on that, and uses the
// old one where none comes. A ticket that a server has refused is fetched anew, for the server's
// key may have changed.
//
// # The server's principal
//
// It is zookeeper/host@REALM, and each part can be changed as with Java's client:
//
//	zookeeper.sasl.client.username                  WithService
//	zookeeper.sasl.client.canonicalize.hostname     WithoutCanonicalHost
//	zookeeper.server.principal                      WithServerPrincipal
//	java.security.krb5.conf                         WithConfig, KRB5_CONFIG
//
// The host is the name that the DNS has for the server's address. The configured name takes its
// place where the DNS says that there is no name, or that the name has other addresses. The name is
// kept for ten minutes. It is looked up again when a server has refused it, because servers change
// places. A DNS that does not answer leaves a guess: the name that it gave last, or the configured
// one. If the KDC does not know the principal of a guess, nobody has refused anything:
// [ErrNameInDoubt].
//
// # The exchange
//
// RFC 4752 over RFC 4121: mutual authentication is demanded and verified, no security layer is
// asked for (use TLS), and the authorization identity is the client's principal. Session keys are
// AES; RC4 and DES are refused, for their tokens are of another format (RFC 1964) and are weak.
//
// # Errors
//
// Every failure is an *[Error] that wraps one of the errors of this package. [Error.Temporary] is
// true for those that may pass: no KDC answers, or no DNS whose answer is needed. No error, log
// line or formatted value contains a key, a ticket or a token.
package gssapi
