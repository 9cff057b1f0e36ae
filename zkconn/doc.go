// Package zkconn is one ZooKeeper session: an epoch.
//
// [Dial] makes a [Conn] with a [Config] and an epoch number. It connects in the background, keeps
// its one session through losses of connection, and reports every change to a sink of [Event]
// values. When the session has expired, the Conn is over: its owner closes it and dials again with
// the next number.
//
// Everything here serves this rule. By itself, go-zookeeper carries requests that were queued while
// it was disconnected into its next session (measured 6 times of 6). A contender node made so
// belongs to a session that its request does not know of, and blocks a queue.
//
// The package stands on github.com/go-zookeeper/zk, with parts of it replaced. Each file uses only
// files above it here:
//
//   - codes.go, outcome.go, errors.go: the table of outcomes (package outcome has the words);
//   - wire.go, wanted.go, watches.go, replies.go, rewrite.go: the bytes of frames; what callers want
//     of a request beside its answer; watches at the server; the check of answers; requests that the
//     library makes wrong;
//   - config.go, options.go: how to reach an ensemble;
//   - verdict.go, lease.go: what an answer proves for package lease, and the requests that it sends;
//   - epoch.go: an epoch has one session, and no operation begins behind its end;
//   - socket.go, outbox.go, transport.go, transport_write.go, transport_read.go: the connection
//     underneath, with back-pressure, bounded frames, and a deadline for the handshake;
//   - sasl.go: SASL (the library's issues 40 and 46), before the first request;
//   - hosts.go, urgency.go, dial.go: the order of the servers, and pauses between rounds;
//   - session.go, observe.go: the library's states made into an ordered sequence of events;
//   - conn.go, open.go: the connection, from Dial to Close;
//   - operation.go, node.go, create.go, commit.go, fence.go, txn.go, parents.go: the operations.
//
// [CloseSession] (close_session.go) closes the session of another process; package sessionfile does
// so for one that crashed.
//
// # Outcomes
//
// Every operation returns an [*Error]; [OutcomeOf] says what it means for the state of the server.
// The caller resolves an [Unknown] outcome. Reads behind a committed transaction ([Conn.CatchUp])
// show what has been carried out so far. While the session lives, even after it has moved to
// another server, the request may be carried out yet: see [Conn.Fence].
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
// Lock has ErrFailed for ErrRefused and ErrNoChildrenForEphemerals. Only callers of this package
// see the errors of "repeats"; a lock's caller sees the error of ctx and the trouble. A throttled
// request is sent again here, too, for a twelfth of the session timeout.
//
// Only the embedded server and a fake one give NotReadOnly in our tests: a real read-only member
// (readonlymode.enabled) hangs up on our connect request, which does not ask for one.
//
// Containers are an exception. When the create of one is Unimplemented or BadArguments, or the
// server hangs up on it twice in a row, persistent nodes are made instead, with a warning.
//
// # Silences
//
// A connection that is lost in place of an answer is an unknown outcome, too: ErrHungUp or
// ErrNoAnswer. One loss says nothing of the request. Package actors counts a request's losses in a
// row; from the second on that request waits, up to seconds, and no other does.
//
// # The lease
//
// The session lives at the servers until the lease ends: package lease has the rule and its proof.
// verdict.go tells it which answers are evidence. SessionExpired, in a header or in a part of any
// answer, is the servers' word that the session is over. SessionMoved ends the connection.
//
// # Operations while disconnected
//
// An operation that is called while the connection is down waits for the session's next connection.
// It returns when served, when the session has expired, or when the Conn is closed. Operations take
// no context: an abandoned request may still be executed, so its caller owns it to the end.
package zkconn
