// Package access shows what locks do where servers let some people in and others not: credentials, ACLs of the
// contenders' nodes and of the lock paths, missing permissions, TLS, and chroots.
//
// A test is a list of stories, each told on every kind of server that enforces what it is about: a real standalone
// server, which is skipped where it is not installed, and the embedded one, which has no TLS. Each story has a chroot
// of its own, and people: alice and bob have digest credentials, anybody else has none.
package access
