// Package access shows what locks do where servers let some people in and others not. Its subjects
// are credentials, ACLs of the contenders' nodes and of the lock paths, missing permissions, TLS,
// and chroots.
//
// A test is a list of stories. Each is told on every kind of server that enforces its subject: a
// real standalone server, and the embedded one, which has no TLS. The real one is skipped where it
// is not installed. Each story has a chroot of its own, and people: alice and bob have digest
// credentials, nobody else has any.
package access
