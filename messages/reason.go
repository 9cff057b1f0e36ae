package messages

// Reason says why a request went where it went: why it ended, or why it is about to.
type Reason string

// The reasons a request can have.
const (
	// ReasonBadInput: what was asked for is not well formed; nothing was sent.
	ReasonBadInput Reason = "bad input"
	// ReasonNone: nothing out of the ordinary.
	ReasonNone Reason = ""
	// ReasonReleased: the owner gave the lock back.
	ReasonReleased Reason = "released by its owner"
	// ReasonOwnerGone: the owner's actor has ended, which means Release.
	ReasonOwnerGone Reason = "the owner is gone"
	// ReasonStopped: the lock actor itself was stopped; the session deletes the node.
	ReasonStopped Reason = "the lock actor was stopped"
	// ReasonCancelled: the owner no longer wants it.
	ReasonCancelled Reason = "cancelled by its owner"
	// ReasonTimeout: Acquire.Timeout passed before the lock was held.
	ReasonTimeout Reason = "the acquire timeout passed"
	// ReasonNotAcquired: Acquire.Try was set and somebody else holds the lock or is before us.
	ReasonNotAcquired Reason = "somebody else is before us"
	// ReasonRevoked: the lock was asked back and the grace period ran out.
	ReasonRevoked Reason = "revoked: the grace period ran out"
	// ReasonSessionExpired: the server has ended the session, and the node with it.
	ReasonSessionExpired Reason = "the session has expired"
	// ReasonSessionClosed: this program closed the session.
	ReasonSessionClosed Reason = "the session was closed"
	// ReasonLeaseOver: no transaction was acknowledged in time, so that the server may have given the
	// lock away.
	ReasonLeaseOver Reason = "the lease ran out"
	// ReasonNodeDeleted: our node was deleted by somebody else.
	ReasonNodeDeleted Reason = "the contender node was deleted by somebody else"
	// ReasonNoAuth: the ACL does not let us do what the lock needs.
	ReasonNoAuth Reason = "not permitted by the ACL"
	// ReasonRefused: the server refused a request for good; the detail says which and why.
	ReasonRefused Reason = "refused by the server"
	// ReasonSequenceExhausted: the parent's counter is too near its end to be trusted (kazoo 730).
	ReasonSequenceExhausted Reason = "the sequence counter of the lock path is exhausted"
	// ReasonReentry: the owner has the lock already, or has asked for it, and did not say that it may
	// have it twice.
	ReasonReentry Reason = "the owner has asked for this lock already"
	// ReasonUpgrade: the owner has the read lock, and would wait for itself to release it.
	ReasonUpgrade Reason = "a read lock cannot become a write lock"
	// ReasonHoldGone: the hold that this request was to be part of is gone.
	ReasonHoldGone Reason = "the hold that it was to be part of is gone"
	// ReasonPermits: the contenders of a semaphore do not agree on the number of permits, or a weight is
	// more than all of them.
	ReasonPermits Reason = "the number of permits is another"
	// ReasonDeadlock: the request, and others, wait for each other in a circle.
	ReasonDeadlock Reason = "a deadlock"
	// ReasonUnreachable: no gateway has answered, so that nobody knows here what has become of the request. The gateway
	// gives the lock back by itself.
	ReasonUnreachable Reason = "no gateway answers"
	// ReasonGatewayFull: each gateway has as many requests as it takes. It may pass.
	ReasonGatewayFull Reason = "the gateway has as many requests as it takes"
	// ReasonZxidOutOfRange: the czxid does not fit a fencing token.
	ReasonZxidOutOfRange Reason = "the zxid does not fit a fencing token"
)
