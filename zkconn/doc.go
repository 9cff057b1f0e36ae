// Package zkconn is one ZooKeeper session: an epoch.
//
// A [Conn] is made by [Dial] with a [Config] and an epoch number. It connects in the background, keeps its one
// session through losses of connection, and reports what happens to a sink of [Event] values. When the session has
// expired the Conn is over: it never gets another session. Its owner closes it and dials again with the next
// number. That is the rule everything here serves, for go-zookeeper by itself carries requests that were queued
// while it was disconnected into its next session (measured 6 times of 6), and a contender node made under a
// session that its asker knows nothing of blocks a queue.
//
// The package stands on github.com/go-zookeeper/zk, with these parts replaced, each in its own file:
//
//   - transport.go: the connection underneath: buffered reads, bounded frames, a clamped handshake, failed writes
//     that do not wedge the library (its PR 163);
//   - epoch.go: the guard that lets an epoch have one session;
//   - watch.go: watches without the library's watch table;
//   - create_before.go: a request right behind a create, in this order;
//   - container.go: container nodes (its issue 165);
//   - hosts.go: the order of the servers, with jittered backoff between rounds;
//   - hurry.go, race.go: reconnecting while something is held: short pauses, and attempts to dial that overlap;
//   - session.go, auth.go: the library's states made into an ordered sequence of events.
//
// [CloseSession] (close_session.go) closes the session of somebody who is dead; package sessionfile keeps what it needs.
//
// # Outcomes
//
// Every operation returns an [*Error]; [OutcomeOf] says what it means for the state of the server. An [Unknown]
// outcome is never retried here: the caller resolves it (sync, list, look for the GUID).
//
// # Operations while disconnected
//
// An operation that is called while the connection is down waits for the next connection of the same session. It
// returns when that connection has served it, when the session has turned out to be expired, or when the Conn is
// closed, whichever is first. Operations take no context: an abandoned request may still be executed, so whoever
// asked for it owns it to the end.
package zkconn
