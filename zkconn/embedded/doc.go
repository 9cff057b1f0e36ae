// Package embedded is a ZooKeeper server inside the process: for trying Turnstile, and for testing
// programs that are built on it, with nothing but Go installed. It speaks the wire protocol of
// ZooKeeper 3.9, over TCP and over connections in memory, so that go-zookeeper, Curator and kazoo
// connect to it as they are.
//
//	server, err := embedded.Start()          // or, in a test: server := embedded.Run(t)
//	opening, cancel := context.WithTimeout(ctx, time.Minute)
//	defer cancel()
//	client, err := locks.Open(opening, server.Addr())
//
// It keeps everything in memory: its data are gone when it is closed. Production uses a real
// ensemble.
//
// # What it does
//
// It has
//
//   - sessions with negotiated timeouts that move between connections and expire at ticks;
//   - ephemeral, sequential and container nodes, and nodes with a time to live, with every field of
//     Stat;
//   - version and permission checks (schemes world, ip, digest and sasl);
//   - multis that are done as a whole or not at all, with their errors part by part;
//   - watches that fire once, persistent and recursive ones, and the events that a client missed
//     while it was away;
//   - the four-letter words ruok, srvr, stat, mntr, envi and isro.
//
// [Op] has the operations; any other is answered with Unimplemented.
//
// It behaves as a 3.9.5: the tests in tests/conformance compare its answers with those of a real
// server, reply by reply, event by event and zxid by zxid.
//
// # Control
//
// A server can be given a clock that a test moves ([WithClock], [ManualClock]), several replicas
// ([WithReplicas]), and faults:
//
//   - [Server.Inject] closes connections before or after a request is carried out, drops or holds
//     replies, and refuses requests with any error code.
//   - [Server.Expire] ends a session. [Server.EndElsewhere] ends one and leaves its connection open.
//   - A [Replica] can lag, be cut off from the others, be paused, stop and start again. Each may
//     allow other session timeouts.
//   - Each direction of a link between two replicas can stall or be slow ([Replica.StallTo],
//     [Replica.DelayTo]).
//
// In a synctest bubble, start it with [WithoutNetwork] and connect through [Server.Dialer]: time
// then is the bubble's.
//
// # How it works
//
// A request that changes something becomes a transaction at the leader: preparation checks it
// against the leader's tree in ZooKeeper's order, and every replica applies the result. All of it
// happens under one lock, on the goroutine that has read the request; nobody waits for the network
// under it. Refused writes are transactions too, and take a zxid, as in ZooKeeper.
//
// The leader keeps a session alive by touching it, as in ZooKeeper (LearnerHandler, Learner.ping,
// LearnerSessionTracker). It does so
//
//   - with each packet of a client of its own;
//   - when the session is opened or moves;
//   - when a follower answers a ping, which comes each half tick, with the sessions that it has
//     heard of since the last.
//
// Pings and transactions go to a follower in one order, requests and answers to pings to the leader
// in another. A request that is forwarded touches nothing.
//
// The files are layers. Each uses those before it in this list, and none after it (TestLayers):
//
//	data        protocol, set, acl, watches, tree, codec
//	settings    clock, output, fault, options, digest_md5
//	state       state
//	ensemble    conn, replica, replication, preparation, session, election
//	requests    prepare, answer_watches, answer, authenticate, request
//	clients     fourletter, network
//	control     replica_control, server
//
// # Where it differs from 3.9.5
//
//   - Nothing is written to disk. A replica that stops keeps its data, but only in memory.
//   - Children, ephemeral nodes and identities are listed in an order that follows from the
//     requests before; 3.9.5 lists them in the order of a hash table. So are the events of several
//     nodes that end with one session.
//   - A createTTL whose flags ask for no time to live is refused with BadArguments. 3.9.5 accepts it and then
//     answers nobody any more.
//   - A write that cannot be read is refused, and takes no transaction id. A 3.9.5 alone does the same; an
//     ensemble of them commits the refusal under an id that it has used, and answers no write any more.
//   - Nodes with a time to live are always allowed; 3.9.5 wants zookeeper.extendedTypesEnabled for them.
//   - A request is carried out before the next of its connection is looked at. 3.9.5 checks a
//     request against others that are not carried out yet, which shows with pipelined requests.
//     There a sequence counter that passes 2147483647 goes on with negative numbers, and here only
//     inside one multi. A container that was created with the flags of an ephemeral node is taken
//     for one there. A write is judged there by the access list that a setACL right before it
//     replaces. The changes of a multi that failed with MarshallingError may count there for the
//     requests behind it. And an auth request overtakes others there.
//   - There is no limit of connections: 3.9.5 takes 60 of one address by default (maxClientCnxns).
//   - There are no quotas: /zookeeper/quota is a node like others.
//   - SASL is DIGEST-MD5 alone ([WithSASL]), without the setting letAnySaslUserDoX.
//   - There are no schemes of authentication but world, ip, digest and sasl.
//   - How long a connection may be without a session is not a setting (nio.sessionlessCnxnTimeout).
//   - No TLS, no super user, no read-only mode and no reconfiguration; /zookeeper/config is empty in an
//     ensemble too. No local sessions, no throttling and no restoring of snapshots; a test can have
//     requests refused as by them ([Refuse]).
//   - envi says nothing of Java and of the user. The other four-letter words are refused, as 3.9.5 refuses what
//     its administrator has not allowed.
//   - A secret for the scheme digest is taken as UTF-8; 3.9.5 takes the platform's character set.
//   - A client that does not read while more than 64 MiB wait for it is cut off. 3.9.5 keeps them.
//   - A session is never closed by a connection that a new one overtakes: it takes [Server.EndElsewhere] to end
//     one so that its connection stays.
//   - A new leader is there at once. A replica that is cut off notices only when it is told to
//     rejoin. One that has not heard of the leader for the sync limit looks for a leader; so does a
//     leader that has not heard of it. They find one at the next half tick at which the links carry
//     everything.
//   - A transaction is committed when the leader makes it, where a majority is within reach, however slow
//     its links are.
package embedded
