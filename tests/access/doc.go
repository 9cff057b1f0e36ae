// Package access shows what locks do where servers let some people in and others not. Its subjects
// are credentials (of the scheme digest, and SASL's DIGEST-MD5), ACLs of the contenders' nodes and of
// the lock paths, missing permissions, TLS, and chroots.
//
// A test is a list of stories. Each is told on every kind of server that enforces its subject: real
// ones, alone or as an ensemble of three, and the embedded one, which has no TLS. Real ones are
// skipped where they are not installed. Each story has a chroot of its own, and people: alice, bob and
// carol have passwords, eve has none.
package access
