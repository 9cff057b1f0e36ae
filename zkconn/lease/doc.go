// Package lease knows until when one ZooKeeper session is certain to live at the servers. This
// prevents a split brain: the session's nodes exist until then, unless somebody deletes them.
//
//	transport ──Connecting, Sending, Replied──▶ Connection ─▶ Keeper ─▶ Chain   the rule, pure
//	          ◀──Send, GiveUp────────────────── (timers)        └─────▶ Clock   read by whoever holds
//
// [Chain] is the evidence so far: trips.go has the rule of three round trips, pace.go how often they
// are needed. [Keeper] feeds it and extends the [Clock] by what it proves. [Connection] has requests
// of our own sent where the evidence needs more (keepalive), and gives a mute connection up. That a
// lease is wanted, and which answer the leader has decided, is for the caller to say.
//
// # The lease
//
//	deadline = x(Y) + T − T/10
//
// T is the shortest timeout that was granted to this session so far. Y is an answered request, and
// x(Y) the time at which the packet before it was sent. Both are chosen by the rule below, at each
// answer to a committed transaction.
//
//   - Who decides: the leader of the ensemble ends a session that it has not heard of for T. This
//     process decides only how long it relies on the session.
//   - Which clock: a [Clock], the process's monotonic clock plus the time for which the machine was
//     suspended. No time of a server is used.
//   - Renewal (keepalive): only the answer to a committed transaction extends the lease, not that to
//     a ping or a sync.
//   - Shorter timeouts: a server that grants less than the others shortens the lease, from the
//     connect request on.
//   - Loss: a hold that was lost stays lost ([Clock.Unbroken]). Once the chain of evidence is
//     broken, no lease rests on the session any more (zkconn.Lapsed).
//
// # Evidence is a chain
//
// A proof says that the session is not due before x(Y) + T. The next proof counts only if its
// answer comes before that, less the margin: it then moved a session that was not due.
//
// A later one proves nothing. A leader takes all sessions that are due at one time off its queue,
// then ends them one by one, each with a line in its log (SessionTrackerImpl.run), and nothing
// bounds how long that takes. A session that is touched meanwhile looks alive, has transactions
// committed, and is ended all the same. With 1 000 sessions and a slow log, 37 of 80 locks were
// held twice (issue 35).
//
// So the chain is broken for good, and zkconn.Lapsed says so. Its owner begins another session once
// it wants a lease.
//
//   - A session's first connection begins the chain: a transaction has created the session.
//   - On one connection a sync closes a proof as a transaction does. It goes up the same stream
//     after the follower's answer to the ping. A transaction that is committed later shows that the
//     leader was still the leader. A server that leaves its leader closes its clients' connections
//     (Learner.shutdown, Leader.shutdown).
//   - A reconnect is a proof if the connect reply comes in time, because its touch lies before it.
//     Across connections only a transaction's proof counts.
//   - An idle session commits nothing. It sends a sync every sixth of T, so its chain lasts for as
//     long as its connection. A session that has a request, or that made ephemeral nodes with Txn,
//     commits a transaction every T/6 and survives a reconnect. Where its owner sends no
//     heartbeats, the keepalive commits them.
//   - Without a connection for T the session is given up (zkconn.Expired, with the cause in Err). So a
//     client comes back to servers whose data were wiped or restored, which refuse the old session
//     for ever. A server that hands out another session in place of ours ends it at once.
//
// # Evidence
//
// An answer is evidence if every part of it was decided on our living session. A multi that is
// refused because its session is over says so in a part; its header says that all is well. Taken
// for evidence, such answers kept a lease for ever (issue 35).
//
// # What the servers do
//
// A leader gives a session's locks away when it has not been touched for its timeout T. Servers
// touch it rarely. The names below are ZooKeeper's classes, read in 3.8.0. The methods are equal in
// 3.8.6, 3.9.5 and the main branch, but for CommitProcessor's check, which moved into its lock:
//
//   - A follower notes the sessions that it has heard from (ZooKeeperServer.submitRequestNow,
//     before it forwards anything; LearnerSessionTracker.touchSession). It tells the leader when it
//     answers a ping (Learner.ping), and when a connection is renewed (Learner.validateSession).
//     That is when the leader touches them (LearnerHandler.run: PING and REVALIDATE). A forwarded
//     request touches nothing (REQUEST; LeaderZooKeeperServer.submitLearnerRequest).
//   - The leader pings each follower every half tick (Leader.lead). Pings, commits and the answers
//     to syncs go down one stream in order (LearnerHandler.queuePacket). Ping answers and requests
//     go up another (Learner.writePacket).
//   - A touch lets the session live for the timeout of the connection from then, rounded up to a
//     tick (ExpiryQueue.update), even if it would have lived longer. A new leader begins with the
//     timeout that the session was created with (SessionTrackerImpl's constructor).
//
// So neither a ping's answer nor a committed transaction says when the leader last heard of a
// session.
//
// # The rule, and its proof
//
// Each step here and in the next section names, in quotes, the seeded mistakes that leave it out.
// With any of them the real code has a valid lease beside a removed session (seeded_test.go).
//
// A round trip is an answered request that went by way of the leader: a transaction or a sync. s(R)
// is when R was sent, a(R) when its answer came. Let Y and A be round trips on one connection, and
// B a committed transaction on it:
//
//	s(A) ≥ a(Y) + tick/2      tick/2 ≤ T/4, since servers grant two ticks or more; zkconn.WithServerTick says where it is less
//	s(B) ≥ a(A)
//	the session lives until s(Y) + T
//
// It takes the gap before A ("no half-tick gap"), and a B after A's answer ("no lateness before a
// transaction"). And Y's time counts, not B's ("the rule of two rounds ago").
//
// Between a(Y) and s(A) the leader has sent a ping: after Y's answer, and before A's. The follower
// had heard from us since s(Y). It told the leader so in its answer to this ping, or earlier, and
// gave that answer before it forwarded B. So the leader, when it handled B, had touched the session
// at some time after s(Y). It was still the leader then, for it has committed B; a sync in B's
// place does not show that ("a sync is as good as a transaction"). With another leader the session
// begins anew, and later. B must be decided on the living session, in every part ("a header of 0 is
// taken for a living session").
//
// That touch moved a session that was not due, because the proof before it still held ("no chain").
//
// The lease ends T/10 before that, because clocks do not go equally fast ("no margin for a clock
// that is slow"), and to act takes time. The servers' clocks may go up to 1/0.9 as fast as this
// process's, if to act took no time; beyond that the proof does not hold ("a clock that falls
// behind by more than the margin"). NTP slews a clock by 500 ppm at most. A virtual machine that
// its hypervisor stops, without telling it, falls behind by the whole pause.
//
// A new connection is a touch by itself. With a transaction that is sent after the connect reply,
// the lease runs from the connect request. Nothing else is carried from one connection to the next
// but the proof by a transaction ("proofs by sync survive the connection"). All answers on one
// connection come from one leader, because a server that leaves its leader closes the connection
// ("a connection survives its leader").
//
// # What could break the proof, and does not
//
//   - A touch is lost when the follower swaps its table between the reading and the writing of a
//     put (snapshot). Each packet touches. So we count from x(Y), the packet before Y ("Y one
//     packet later"), and send a ping in front of Y when that packet is older than T/32 ("no ping
//     after a silence"). Only two swaps could lose both touches ("a swap loses both touches" breaks
//     the rule).
//   - A leader's ping may be late while its other threads go on. So A is sent T/24 later than half
//     a tick ("no lateness in the gap"). B is sent T/24 after A's answer, too, though the proof
//     needs only that it is sent after that: the model finds "no lateness before a transaction"
//     only by a B of the same instant. The rest of this T/24 is a reserve.
//   - A connect request whose answer is lost may still reach the leader, with the timeout of its
//     server. So the shortest timeout that any server of the list has granted counts from when the
//     request was sent ("a connect request shortens nothing"), and for the session from then on ("a
//     delayed connect request is forgotten", "the longer of two timeouts").
//   - The machine is suspended, and the servers' clocks go on: the lease clock counts that time
//     ([Clock]).
//   - Local sessions become global before they own an ephemeral node
//     (QuorumZooKeeperServer.checkUpgradeSession).
//
// The rule does not hold behind an observer that follows an observer master, because its answers
// take one more ping. Do not name such servers in the list.
//
// # How long a lease is
//
// A client that holds or waits sends a B every T/6. Each is the A of a later one and the Y of
// another. Y is then at worst the third before B:
//
//	deadline = s(B) − T/2 + T − T/10 = s(B) + 0.4 T      [Steady]
//
// Right after a connection was made it is 0.9 T from the connect request. With a known short tick,
// Y is nearer (zkconn.WithServerTick): for a tick of T/50 the deadline is s(B) + 0.56 T. A sync between
// two B makes it longer by up to 0.1 T.
//
// With r for a round trip, a proof is answered 3 r + T/3 after its Y, the first of a connection 4 r
// + T/3. Where r is longer than T/24, requests of our own go out more often (pace.go), so the
// chain lasts up to about r = T/8. Above T/7 nothing keeps it: such sessions lapse, and locks are
// hardly granted.
//
// The checker (checker_test.go) runs the chain against a model of the servers. Package tests/touches
// shows each of the facts on real servers, and tests/stalls attacks the rule.
package lease
