// Package pinned names, in two files, what the tests run that Go does not bring: pom.xml the servers of ZooKeeper and
// Curator, requirements.txt kazoo. Each has its versions, exactly.
//
// Package fetch has Maven and pip bring what they name into folders of the user's cache, whose names have a hash of the
// file. So every clone of the repository finds what its own file names, and a second clone needs no network. Nothing
// here is Turnstile's: a user's program needs none of it.
package pinned
