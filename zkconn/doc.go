// Package zkconn is one ZooKeeper session: an epoch.
//
// A [Conn] is made by [Dial] with a [Config] and an epoch number. It connects in the background,
// keeps its one session through losses of connection, and reports every change to a sink of [Event]
// values. When the session has expired, the Conn is over: it never gets another session. Its owner
// closes it and dials again with the next number.
//
// This is the rule that everything here serves. By itself, go-zookeeper carries requests that were
// queued while it was disconnected into its next session (measured 6 times of 6). A contender node
// that was made like that belongs to a session that its request does not know of, and blocks a
// queue.
//
// The package stands on github.com/go-zookeeper/zk, with parts of it replaced. Each file is one
// idea, and uses only files above it here:
//
//   - codes.go, outcome.go, errors.go: the table of outcomes, which has the answers of servers with
//     their meaning for the nodes, for the session and for people (package outcome has the words);
//   - wire.go, wanted.go, watches.go, replies.go: the bytes of frames; what callers want of a request beside its answer, as
//     pipelining behind a create, and the czxid of a new node; the watches that stand at the server, and the removal of
//     those that nobody wants; the requests without an answer, and the check of those that servers send;
//   - rewrite.go: the transport's changes of requests, for watches without the library's watch
//     table and for container nodes (its issue 165);
//   - config.go, options.go: how to reach an ensemble;
//   - internal/evidence, verdict.go, lease_clock.go, lease_keeper.go: until when the session lives
//     for certain, see below;
//   - keepalive.go: the requests that keep that evidence coming;
//   - silence.go: for how long no server has answered, and a new connection on which none does;
//   - epoch.go: an epoch has one session, and no operation begins behind its end;
//   - socket.go, outbox.go, transport.go, transport_write.go, transport_read.go: the connection
//     underneath. Writes are coalesced, with back-pressure; reads are buffered; frames are bounded.
//     The handshake has a deadline, and failed writes do not wedge the library (its PR 163);
//   - sasl.go: SASL (its issues 40 and 46), between the connect reply and the first request;
//   - hosts.go, urgency.go, dial.go: the order of the servers, with jittered backoff between rounds.
//     While something is held, pauses are short and attempts to dial overlap;
//   - session.go, observe.go: the library's states made into an ordered sequence of events;
//   - conn.go, open.go: the connection, from Dial to Close;
//   - operation.go, node.go, create.go, commit.go, fence.go, txn.go, parents.go: the
//     operations.
//
// [CloseSession] (close_session.go) closes the session of another process; package sessionfile does
// so for one that crashed.
//
// # Outcomes
//
// Every operation returns an [*Error]; [OutcomeOf] says what it means for the state of the server.
// An [Unknown] outcome is never retried here: the caller resolves it. Reads behind a committed transaction
// ([Conn.CatchUp]) show what has been carried out so far. A server may carry the request out even
// later, while the session lives, also when that has moved to another server: see [Conn.Fence].
//
// # Codes
//
// This table has each code of KeeperException.Code in ZooKeeper 3.9.5. The second column says
// whether the request was executed. The third says what the answer proves: that the leader has
// decided on our living session (yes; in part: only as a part of a transaction), or what has become
// of the session. The fourth says what a lock does about it:
//
//   - fails: Lock returns this error.
//   - own: it is an ordinary answer, on which the recipe decides.
//   - resolves: it searches for the node, and asks again after pauses, until ctx ends. The error
//     is that of ctx, and its Detail names the trouble ([Trouble]).
//   - repeats: it asks again after pauses, until ctx ends. Nothing was executed.
//
// The last column is locks.MayPass of the error that the caller sees.
//
//	code                               executed  evidence  a lock    caller sees                 may pass
//	-1 SystemError                     perhaps   no        resolves  ctx, Detail                 yes
//	-2 RuntimeInconsistency            perhaps   no        resolves  ctx, Detail                 yes
//	-3 DataInconsistency               perhaps   no        resolves  ctx, Detail                 yes
//	-4 ConnectionLoss                  perhaps   no        resolves  ctx, Detail                 yes
//	-5 MarshallingError                perhaps   no        resolves  ctx, Detail                 yes
//	-6 Unimplemented                   no        no        fails     ErrRefused                  no
//	-7 OperationTimeout                perhaps   no        resolves  ctx, Detail                 yes
//	-8 BadArguments                    no        no        fails     ErrRefused                  no
//	-12 UnknownSession                 perhaps   no        resolves  ctx, Detail                 yes
//	-13 NewConfigNoQuorum              no        no        fails     ErrRefused                  no
//	-14 ReconfigInProgress             no        no        fails     ErrRefused                  no
//	-100 APIError                      perhaps   no        resolves  ctx, Detail                 yes
//	-101 NoNode                        no        yes       own       ErrNoNode                   no
//	-102 NoAuth                        no        in part   fails     ErrNoAuth                   no
//	-103 BadVersion                    no        yes       own       ErrBadVersion               no
//	-108 NoChildrenForEphemerals       no        yes       fails     ErrNoChildrenForEphemerals  no
//	-110 NodeExists                    no        yes       own       ErrNodeExists               no
//	-111 NotEmpty                      no        yes       own       ErrNotEmpty                 no
//	-112 SessionExpired                perhaps   ended     resolves  ctx, Detail                 yes
//	-113 InvalidCallback               perhaps   no        resolves  ctx, Detail                 yes
//	-114 InvalidACL                    no        no        fails     ErrRefused                  no
//	-115 AuthFailed                    no        no        fails     ErrAuthFailed               no
//	-118 SessionMoved                  no        moved     repeats   ErrSessionMoved             yes
//	-119 NotReadOnly                   no        no        repeats   ErrReadOnly                 yes
//	-120 EphemeralOnLocalSession       no        no        fails     ErrLocalSession             no
//	-121 NoWatcher                     no        no        fails     ErrRefused                  no
//	-122 RequestTimeout                perhaps   no        resolves  ctx, Detail                 yes
//	-123 ReconfigDisabled              no        no        fails     ErrRefused                  no
//	-124 SessionClosedRequireSaslAuth  no        no        fails     ErrAuthFailed               no
//	-125 QuotaExceeded                 no        no        fails     ErrQuota                    yes
//	-127 ThrottledOp                   no        no        repeats   ErrThrottled                yes
//
// Lock has ErrFailed for ErrRefused and ErrNoChildrenForEphemerals. Only callers of this package see
// the errors of "repeats"; a lock's caller sees the error of ctx and the trouble. A throttled
// request is sent again here, too, for a twelfth of the session timeout.
//
// Only the embedded server and a fake one give NotReadOnly in our tests. A real member that is
// read-only (readonlymode.enabled) hangs up on our connect request, which does not ask for one.
//
// Containers are an exception. When the create of one is Unimplemented or BadArguments, or the
// server hangs up on it twice in a row, persistent nodes are made instead, with a warning. The
// server is taken not to know containers.
//
// # Silences
//
// A connection that is lost in place of an answer is an unknown outcome as well: ErrHungUp or
// ErrNoAnswer. One such loss says nothing of the request. Package actors counts those of one
// request in a row; from the second on that request waits, up to seconds, and no other does.
//
// # The lease
//
// The lease prevents a split brain: the session lives at the servers until the lease ends. Its
// nodes exist until then, unless somebody deletes them.
//
//	deadline = x(Y) + T − T/10
//
// T is the shortest timeout that was granted to this session so far. Y is an answered request, and
// x(Y) the time at which the packet before it was sent. Both are chosen by the rule below, at each
// answer to a committed transaction.
//
//   - Who decides: the leader of the ensemble ends a session that it has not heard of for T. This
//     process decides only how long it relies on the session.
//   - Which clock: a [LeaseClock], which is the process's monotonic clock plus the time for which
//     the machine was suspended. No time of a server is used.
//   - Renewal (keepalive): only the answer to a committed transaction extends the lease; that to a
//     ping or a sync does not.
//   - Shorter timeouts: a server that grants less than the others shortens the lease, from the
//     connect request on.
//   - Loss: a hold that was lost stays lost ([LeaseClock.Unbroken]). Once the chain of evidence is
//     broken, no lease rests on the session any more (Lapsed).
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
// So the chain is broken for good, and the event Lapsed says so. Its owner begins another session
// once it wants a lease.
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
//   - Without a connection for T the session is given up: [Expired], with the cause in Err. So a
//     client comes back to servers whose data were wiped or restored, which refuse the old session
//     for ever. A server that hands out another session in place of ours ends it at once.
//
// # Evidence
//
// An answer is evidence if every part of it was decided on our living session. A multi that is
// refused because its session is over says so in a part; its header says that all is well. Taken
// for evidence, such answers kept a lease for ever (issue 35). SessionExpired, in a header or a
// part of any answer, is the servers' word that the session is over. SessionMoved ends the
// connection.
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
// With any of them the real code has a valid lease beside a removed session
// (zkconn/internal/leasewalk, seeded_test.go).
//
// A round trip is an answered request that went by way of the leader: a transaction or a sync. s(R)
// is when R was sent, a(R) when its answer came. Let Y and A be round trips on one connection, and
// B a committed transaction on it:
//
//	s(A) ≥ a(Y) + tick/2      tick/2 ≤ T/4, since servers grant two ticks or more; WithServerTick says where it is less
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
//     ([LeaseClock]).
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
//	deadline = s(B) − T/2 + T − T/10 = s(B) + 0.4 T      [SteadyLease]
//
// Right after a connection was made it is 0.9 T from the connect request. With a known short tick,
// Y is nearer (WithServerTick): for a tick of T/50 the deadline is s(B) + 0.56 T. A sync between
// two B makes it longer by up to 0.1 T.
//
// With r for a round trip, a proof is answered 3 r + T/3 after its Y, the first of a connection 4 r
// + T/3. Where r is longer than T/24, requests of our own go out more often (keepalive.go), so the
// chain lasts up to about r = T/8. Above T/7 nothing keeps it: such sessions lapse, and locks are
// hardly granted.
//
// Package zkconn/internal/evidence is the rule, lease_keeper.go, verdict.go and keepalive.go feed
// it, and package leasewalk runs it against a model of the servers. Package tests/touches shows
// each of the facts on real servers, and tests/stalls attacks the rule.
//
// # Operations while disconnected
//
// An operation that is called while the connection is down waits for the next connection of the
// same session. It returns when that has served it, when the session has expired, or when the Conn
// is closed. Operations take no context: an abandoned request may still be executed, so its caller
// owns it to the end.
package zkconn
