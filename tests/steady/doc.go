// Package steady shows that nothing grows: what an exported operation leaves behind does not depend on how often it was
// done, and a session at rest does not depend on how long it rests. Its tests count in virtual time, on the embedded
// server, when everything is at rest: live heap objects, goroutines, actors, watchers of actors, entries of the maps and
// lists of actors, and the watches, nodes, sessions and connections at the server.
//
// The operations are listed from the source. A new one has to enter a row, or the list of those that keep nothing.
package steady
