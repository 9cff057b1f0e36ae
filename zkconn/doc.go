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
//   - awaited_creates.go: a request right behind a create, in this order;
//   - container.go: container nodes (its issue 165);
//   - hosts.go: the order of the servers, with jittered backoff between rounds;
//   - evidence.go, round_trips.go, lease_clock.go: until when the session lives for certain, see below;
//   - hurry.go, haste.go, race.go: reconnecting while something is held: short pauses, and attempts to dial that
//     overlap;
//   - sasl.go, sasl_exchange.go, sasl_transport.go: SASL (its issues 40 and 46), behind the connect reply and before the
//     library's first request;
//   - session.go, session_changes.go, auth.go: the library's states made into an ordered sequence of events.
//
// [CloseSession] (close_session.go) closes the session of another process; package sessionfile does so for one that
// crashed.
//
// # Outcomes
//
// Every operation returns an [*Error]; [OutcomeOf] says what it means for the state of the server. An [Unknown]
// outcome is never retried here: the caller resolves it (sync, list, look for the GUID).
//
// # The lease
//
// A leader gives a session's locks away when it has not been touched for its timeout T. Servers touch it rarely (the names
// are those of ZooKeeper's classes, read in 3.8.0):
//
//   - A follower notes the sessions that it has heard from (ZooKeeperServer.submitRequestNow, before it forwards anything;
//     LearnerSessionTracker.touchSession). It tells the leader when it answers a ping (Learner.ping), and when a
//     connection is renewed (Learner.validateSession). That is when the leader touches them (LearnerHandler.run: PING and
//     REVALIDATE). A request that is forwarded touches nothing (REQUEST; LeaderZooKeeperServer.submitLearnerRequest).
//   - The leader pings each follower every half tick (Leader.lead). Pings, commits and the answers to syncs go down one
//     stream in order (LearnerHandler.queuePacket), ping answers and requests up another (Learner.writePacket).
//   - A touch lets the session live for the timeout of the connection from then, rounded up to a tick
//     (ExpiryQueue.update), also where it would have lived for longer. A new leader begins with the timeout that the
//     session was created with (SessionTrackerImpl's constructor).
//
// So neither a ping's answer nor a committed transaction says when the leader last heard of a session. Three requests do. Call
// a round trip an answered request that went by way of the leader: a transaction or a sync. Let Y and A be round trips on
// one connection, A sent at least half a tick after Y's answer, and B a committed transaction, sent after A's answer. In
// between the leader has sent a ping, behind Y's answer and before A's. The follower had heard from us since Y was sent,
// had told the leader of that no later than in its answer to this ping, and gave that answer before it forwarded B. So the
// leader, when it handled B, had touched the session at some time after s(Y), at which Y was sent. It was still the leader
// then: with another one the session begins anew, and later. Hence
//
//	the session lives until  s(Y) + T       T the shortest timeout granted to this session
//
// and the lease ends T/10 before that: for clocks that do not go equally fast, and for the time that it takes to act. A new
// connection is a touch by itself: with a transaction sent behind the connect reply, the lease runs from the connect
// request. What could break the proof, and does not:
//
//   - A touch is lost when the follower swaps its table between the reading and the writing of a put (snapshot). Each
//     packet touches: we count from X, the packet before Y, and send a ping in front of Y when X is old. Two of two would
//     have to be lost, to two swaps.
//   - A leader's ping may be late while its other threads go on. A is sent T/24 later than half a tick, and B T/24 after
//     A's answer. Half a tick is T/4 at most, since servers grant two ticks or more; WithServerTick says where it is less.
//   - A leader takes all sessions that are due at one time off its queue, and then marks and closes them one by one
//     (SessionTrackerImpl.run). A session that is touched in between, by a connect request, looks alive, has
//     transactions committed, and is closed all the same. With thousands of them that takes a tenth of a second. So a
//     session that connects again when its lease is over, and may be among them, waits T/24 for its B.
//   - A connect request whose answer is lost may still reach the leader, with the timeout of its server: the shortest that
//     any server of the list has granted counts from when it was sent, and for the session from then on.
//   - The machine is suspended, and the servers' clocks go on: the lease clock counts that time ([LeaseClock]).
//   - Local sessions become global before they own an ephemeral node (QuorumZooKeeperServer.checkUpgradeSession).
//
// Round trips that take longer than T/24 make the chain of Y, A and B longer than the steady rate of one B every T/6 allows
// for: the lease still ends in time, and is shorter then; those that take longer than about T/8 leave moments without one.
//
// It does not hold behind an observer that follows an observer master, whose answers take one more ping: do not name such
// servers in the list.
//
// A client that holds or waits sends a B every T/6, which gives s(B) + [SteadyLease]·T. An idle one sends a sync behind each
// of the library's pings, every T/3, so that its first transaction finds Y and A. evidence.go is the rule, round_trips.go
// what it is fed with. Package tests/touches shows each of the facts on real servers, and tests/stalls attacks the rule.
//
// # Operations while disconnected
//
// An operation that is called while the connection is down waits for the next connection of the same session. It
// returns when that connection has served it, when the session has turned out to be expired, or when the Conn is
// closed, whichever is first. Operations take no context: an abandoned request may still be executed, so whoever
// asked for it owns it to the end.
package zkconn
