package messages

import (
	"maps"
	"slices"
)

// Reason says why a request has ended, or is about to.
type Reason string

// The reasons a request can have.
const (
	// ReasonBadInput: what was asked for is not well formed; nothing was sent.
	ReasonBadInput Reason = "bad input"
	// ReasonNone: nothing out of the ordinary.
	ReasonNone Reason = ""
	// ReasonReleased: the owner released it.
	ReasonReleased Reason = "released by its owner"
	// ReasonOwnerGone: the actor that owns the request has ended, so the lock is released.
	ReasonOwnerGone Reason = "the owner is gone"
	// ReasonStopped: the lock actor itself was stopped; the session deletes the node.
	ReasonStopped Reason = "the lock actor was stopped"
	// ReasonCancelled: the owner no longer wants it.
	ReasonCancelled Reason = "cancelled by its owner"
	// ReasonTimeout: Acquire.Timeout passed before the lock was held.
	ReasonTimeout Reason = "the acquire timeout passed"
	// ReasonNotAcquired: Acquire.Try was set and another contender holds the lock or is before this one.
	ReasonNotAcquired Reason = "another contender is first"
	// ReasonRevoked: somebody asked for the lock and the grace period ran out.
	ReasonRevoked Reason = "revoked: the grace period ran out"
	// ReasonSessionExpired: the server has ended the session, and the node with it.
	ReasonSessionExpired Reason = "the session has expired"
	// ReasonSessionClosed: this program closed the session.
	ReasonSessionClosed Reason = "the session was closed"
	// ReasonLeaseOver: no transaction was acknowledged in time, so the servers may have given the lock
	// away.
	ReasonLeaseOver Reason = "the lease ran out"
	// ReasonNodeDeleted: our node was deleted by somebody else.
	ReasonNodeDeleted Reason = "the contender node was deleted by somebody else"
	// ReasonNoAuth: the ACL does not permit what the lock needs.
	ReasonNoAuth Reason = "not permitted by the ACL"
	// ReasonQuota: a quota of the lock path does not allow another node.
	ReasonQuota Reason = "a quota of the lock path is reached"
	// ReasonLocalSession: the session is local to its server, and cannot have a node.
	ReasonLocalSession Reason = "the session is local to its server"
	// ReasonRefused: the server refused a request for good; the detail says which and why.
	ReasonRefused Reason = "refused by the server"
	// ReasonSequenceExhausted: the parent's counter is too near its end (kazoo 730).
	ReasonSequenceExhausted Reason = "the sequence counter of the lock path is exhausted"
	// ReasonReentry: a call within a lease of the same lock would wait for itself.
	ReasonReentry Reason = "the owner already holds this lock or waits for it"
	// ReasonUpgrade: a call to write within a lease for reading would wait for itself.
	ReasonUpgrade Reason = "a read lock cannot become a write lock"
	// ReasonHoldGone: the writer of Acquire.Beside holds no more.
	ReasonHoldGone Reason = "the shared hold has ended"
	// ReasonPermits: the contenders of a semaphore disagree on its permits, or a weight exceeds
	// them.
	ReasonPermits Reason = "the semaphore has another number of permits"
	// ReasonDeadlock: the request, and others, wait for each other in a circle.
	ReasonDeadlock Reason = "deadlock"
	// ReasonUnreachable: no gateway has answered, so the outcome is unknown here. The gateway gives
	// the lock back by itself.
	ReasonUnreachable Reason = "no gateway answers"
	// ReasonGatewayFull: each gateway has as many requests as it takes.
	ReasonGatewayFull Reason = "the gateway is full"
	// ReasonSessionFull: the session has as many ephemeral nodes as servers can delete in one
	// transaction. Nothing was sent.
	ReasonSessionFull Reason = "the session has as many nodes as it may have"
	// ReasonQueueFull: too many requests of the session wait in the queue (actors.WithMaxWaiting),
	// or too many contenders are before the call (locks.WithMaxWaiters).
	ReasonQueueFull Reason = "too many contenders are before it"
	// ReasonZxidOutOfRange: the czxid does not fit a fencing token.
	ReasonZxidOutOfRange Reason = "the zxid is out of the range of a fencing token"
	// ReasonGone: the contender's node does not exist any more, or is another's. Refusals have it.
	ReasonGone Reason = "the contender is gone"
)

// reasons has a row for every reason but ReasonNone: the word that metrics and spans have, and the answer of MayPass.
// Programs alert on these words, so they do not change.
var reasons = map[Reason]struct {
	word   string
	passes bool
}{
	ReasonBadInput:          {"bad_input", false},
	ReasonReleased:          {"released", false},
	ReasonOwnerGone:         {"owner_gone", false},
	ReasonStopped:           {"stopped", false},
	ReasonCancelled:         {"cancelled", false},
	ReasonTimeout:           {"timeout", true},
	ReasonNotAcquired:       {"not_acquired", true},
	ReasonRevoked:           {"revoked", true},
	ReasonSessionExpired:    {"session_expired", true},
	ReasonSessionClosed:     {"session_closed", false},
	ReasonLeaseOver:         {"lease_over", true},
	ReasonNodeDeleted:       {"node_deleted", true},
	ReasonNoAuth:            {"no_auth", false},
	ReasonQuota:             {"quota", true},
	ReasonLocalSession:      {"local_session", false},
	ReasonRefused:           {"refused", false},
	ReasonSequenceExhausted: {"sequence_exhausted", false},
	ReasonReentry:           {"reentry", false},
	ReasonUpgrade:           {"upgrade", false},
	ReasonHoldGone:          {"hold_gone", true},
	ReasonPermits:           {"permits", false},
	ReasonDeadlock:          {"deadlock", true},
	ReasonUnreachable:       {"unreachable", true},
	ReasonGatewayFull:       {"gateway_full", true},
	ReasonSessionFull:       {"session_full", true},
	ReasonQueueFull:         {"queue_full", true},
	ReasonZxidOutOfRange:    {"zxid_out_of_range", false},
	ReasonGone:              {"gone", false},
}

// MayPass reports whether a request that has ended for this reason may succeed later without
// anybody changing something. locks.MayPass answers by it for errors that have a reason.
func (r Reason) MayPass() bool { return reasons[r].passes }

// Word gives the reason in one word, as the attributes error.type and turnstile.lock.reason of
// metrics and spans have it; "" for ReasonNone.
func (r Reason) Word() string { return reasons[r].word }

// Reasons lists all reasons but ReasonNone, sorted.
func Reasons() []Reason { return slices.Sorted(maps.Keys(reasons)) }
