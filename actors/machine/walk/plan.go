package walk

import "github.com/turnstile-locks/turnstile/messages"

// Plan is what a walk explores.
type Plan struct {
	// Name is printed with the figures.
	Name string
	// Sessions gives the session of each contender, 0 or 1: {0, 0, 1} are two contenders of one session
	// and one of another.
	Sessions []int
	// Modes gives what each contender asks for: Exclusive, Read, Write or Contest.
	Modes [maxContenders]messages.Mode
	// Try tells which contenders give up instead of waiting.
	Try [maxContenders]bool
	// Sticky tells which contenders leave their node to the next of their session.
	Sticky [maxContenders]bool
	// Down: the sessions are not connected yet when it begins.
	Down bool
	// Arrive tells which requests may be made at any moment; the others are made at the start, and what is explored is
	// when their creates are carried out.
	Arrive [maxContenders]bool
	// Together: creates of one session may share a transaction.
	Together bool
	// Prompt: the answer to a request comes as soon as it is carried out, unless the connection is lost in
	// between or a bound says otherwise (Slow). Without it, anything may come in between.
	Prompt bool
	// Spared tells which sessions no trouble of their own comes to.
	Spared [maxSessions]bool
	// After are moves, as the stories tell them, that have been made when the walk begins: what is far from the start is
	// reached that way. A walk of such a plan shows that there is a violation, or that there is none from there on.
	After []string
	// Bounds is how often what need not happen may happen.
	Bounds Bounds
	// Without are the fast paths that are switched off.
	Without Switches
	// Mistake is what the model does wrong, to see that the walk finds it.
	Mistake Mistake
	// Limit ends the walk with an error when it reaches more states than this; zero is no limit.
	Limit int
}

// Bounds counts what need not happen. Each may happen that often in one history, at any moment at
// which it could; what a request and its session do by themselves has no bound.
type Bounds struct {
	// Cuts: a connection is lost. Silences: heartbeats go unanswered while it is up. Lapses: a lease runs out.
	// Expiries: the servers end a session.
	Cuts, Silences, Lapses, Expiries uint8
	// Lags: a connection comes back to a server that lags behind.
	Lags uint8
	// Breaks: an operator deletes a contender's node. Reaps: an empty lock path is deleted, and made again
	// by the next create.
	Breaks, Reaps uint8
	// Cancels, Timeouts, Revokes, Releases: commands to a request, and its timer. A request that holds, or
	// that may hold still, may be released besides.
	Cancels, Timeouts, Revokes, Releases uint8
	// Stops: a lock actor is stopped from outside, or panics. Closes: a session is closed.
	Stops, Closes uint8
	// Polls: a waiting request looks at the queue again though no watch told it to.
	Polls uint8
	// Slow: a lock actor does not read its mailbox at once, so that other things come first; with Always it
	// need never be quick, and every order of things is explored. In a prompt plan also: an answer is not
	// delivered at once. Late: an order of a lock actor waits in the mailbox of the session.
	Slow, Late uint8
}

// Always, as a bound, is no bound.
const Always = 255

// Switches are fast paths of actors/fast_paths.go that the model has.
type Switches uint8

// The fast paths.
const (
	// HandOver grants what is given back to the next of the same session before the node is gone.
	HandOver Switches = 1 << iota
	// OneListing spares who saw that its predecessor is the head of the queue another listing when that is gone.
	OneListing
	// ListingAhead lists the queue when the one before the predecessor is gone.
	ListingAhead
	// SharedListings has one listing serve all who wait for one.
	SharedListings
	// LocalPredecessors spares who waits for a node of its own session a watch at the servers.
	LocalPredecessors
)

// fast mirrors session.fast.
func (w *world) fast(path Switches) bool { return w.plan.Without&path == 0 }

// Mistake is something that the model does wrong.
type Mistake uint8

// The mistakes. Each is one that was made by somebody, or that is easy to make.
const (
	// NoMistake is the model as the code is meant to be.
	NoMistake Mistake = iota
	// SkipSecondListing grants the lock when the predecessor is gone, whether or not it was the head.
	SkipSecondListing
	// GrantWithoutLease takes the lease to be valid whenever an event is delivered.
	GrantWithoutLease
	// AdoptAnyOwner takes a node with our GUID for ours, whichever session owns it.
	AdoptAnyOwner
	// VerifyWithoutSync looks for our node on a server that may lag behind.
	VerifyWithoutSync
	// VerifyDoesNotWait looks for our node while a create is under way.
	VerifyDoesNotWait
	// OldVerifyLast lets a verification that was put off take the place of one that was asked for later, whose
	// answer is dropped then.
	OldVerifyLast
	// HandOverUnheld hands the lock on when a waiter gives up.
	HandOverUnheld
	// ForgetDelete takes a delete whose outcome is unknown for done.
	ForgetDelete
	// ForgetCreate takes a create whose outcome is unknown for refused.
	ForgetCreate
	// ForgetEnded does not settle what an actor that was stopped has left.
	ForgetEnded
	// WithdrawAnyway says that a create was withdrawn when it is under way.
	WithdrawAnyway
	// WatchTheGone leaves a watch on a predecessor that is gone already, as exists() would.
	WatchTheGone
	// RegisterLate registers a watch when the answer comes, after the event perhaps.
	RegisterLate
	// KeepQuiet does not tell waiting requests that the connection is lost, and the watches with it.
	KeepQuiet
	// OldOrders carries out orders that were decided on in an epoch that is over.
	OldOrders
	// ExpireEarly lets the servers end a session before its lease is over.
	ExpireEarly
	// ReaderBesideWriter lets a reader in whoever holds.
	ReaderBesideWriter
	// WriterBesideReader has a writer wait for writers only.
	WriterBesideReader
	// ReaderBehindOwnReader has a reader wait for the reader of its own session right before it.
	ReaderBehindOwnReader
	// AdoptAnothersContest takes the one node of a contest for ours, whoever made it.
	AdoptAnothersContest
	// TokenBySequence takes the sequence number for the fencing token.
	TokenBySequence
	// TakeTheSecondForTheHead takes the end of the one before the predecessor for a proof that the predecessor is the
	// head of the queue.
	TakeTheSecondForTheHead
	// RestThoughWanted keeps the node of a lock that is given back though somebody has come.
	RestThoughWanted
	// RestOn does not let a resting node go when somebody comes.
	RestOn
	// RestThroughCuts keeps a resting node though the watch is lost that would tell of others.
	RestThroughCuts
	// WatchWithoutLooking has the servers tell who comes behind a resting node, and does not look who is there.
	WatchWithoutLooking
	// LendWhatGoes has a resting node taken up while it is being deleted.
	LendWhatGoes
	// LayDownWithMates leaves a node to be taken up though the places behind its own are those of others.
	LayDownWithMates
	// VerifyWhatRests looks for the node of a request whose node rests, or was taken up by another.
	VerifyWhatRests
	// ForgetTheRested does not delete a node whose rest is over.
	ForgetTheRested
	// ReuseUnchecked has a resting node taken up without asking the servers whether it exists.
	ReuseUnchecked
	// SameTokenTwice gives who takes up a node the token of who had it before.
	SameTokenTwice
	// HandOverToWhoLooksAhead hands the lock over to who watches the holder as the one before its predecessor.
	HandOverToWhoLooksAhead
	// DeleteRegardless deletes a holder's node though that of who has the lock next may be gone.
	DeleteRegardless
)
