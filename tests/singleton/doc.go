// Package singleton tests actors that exist once in a cluster: actors.NewSingleton on several
// sessions, in virtual time, with a witness that looks at all of them.
package singleton
