package walk

import (
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/messages"
)

// How large a world can be.
const (
	maxActors   = 4
	maxSessions = 2
)

// Plan is what a walk explores.
type Plan struct {
	// Name is printed with the figures.
	Name string
	// Sessions gives the session of each request, 0 or 1: {0, 0, 1} are two requests of one session and one of another.
	Sessions []int
	// Modes gives what each request asks for.
	Modes [maxActors]messages.Mode
	// Owners gives the owner of each; requests with the same one that is not zero have the same.
	Owners [maxActors]int
	// Try tells which give up instead of waiting, Sticky which leave their node to the next of their session, Reentry which
	// may share their owner's hold, WatchAll which watch the whole queue.
	Try, Sticky, Reentry, WatchAll [maxActors]bool
	// Permits is how many a semaphore has; each takes one.
	Permits int
	// Down: the sessions are not connected yet when it begins.
	Down bool
	// Arrive tells which requests may be made at any moment; the others are made at the start, and what is explored is when
	// their creates are carried out.
	Arrive [maxActors]bool
	// Listing: the length of a queue is not told with a create, as on lock paths with data.
	Listing bool
	// Prompt: the answer to a query comes as soon as it is carried out, unless the connection is lost in between or a bound
	// says otherwise (Slow). Without it, anything may come in between.
	Prompt bool
	// Spared tells which sessions no trouble of their own comes to.
	Spared [maxSessions]bool
	// After are moves, as the stories tell them, that have been made when the walk begins: what is far from the start is
	// reached that way.
	After []string
	// Bounds is how often what need not happen may happen.
	Bounds Bounds
	// Without are the fast paths that are switched off.
	Without coordinator.Switches
	// Mistake is what is done wrong, to see that the walk finds it; nil for nothing.
	Mistake *Mistake
	// Limit ends the walk with an error when it reaches more states than this; zero is no limit.
	Limit int
}

// Bounds counts what need not happen. Each may happen that often in one history, at any moment at which it could; what a
// request and its session do by themselves has no bound.
type Bounds struct {
	// Cuts: a connection is lost. Silences: heartbeats go unanswered while it is up. Lapses: a lease runs out.
	// Expiries: the servers end a session.
	Cuts, Silences, Lapses, Expiries uint8
	// Lags: a connection comes back to a server that lags behind.
	Lags uint8
	// Breaks: an operator deletes a contender's node. Asks: he writes to it that he wants the lock. Reaps: an empty lock path
	// is deleted, and made again by the next create.
	Breaks, Asks, Reaps uint8
	// Cancels, Timeouts, Revokes, Releases: commands to a request, and its timer. A request that holds, or that may hold still,
	// may be released besides.
	Cancels, Timeouts, Revokes, Releases uint8
	// Stops: a lock actor is stopped from outside, or panics. Closes: a session is closed.
	Stops, Closes uint8
	// Polls: a waiting request looks at the queue again though no watch told it to.
	Polls uint8
	// Slow: a lock actor does not read its mailbox at once, so that other things come first; with Always it need never be
	// quick, and every order of things is explored. In a prompt plan also: an answer is not delivered at once. Late: the
	// orders of lock actors wait in the mailbox of the session.
	Slow, Late uint8
}

// Always, as a bound, is no bound.
const Always = 255

// Mistake is something that is done wrong at the boundary of what is walked.
type Mistake struct {
	// Outputs changes what a coordinator decides; Inputs what it is told; At what it is told of the lease.
	Outputs func(w *world, s int, out coordinator.Output) []coordinator.Output
	Inputs  func(w *world, s int, in coordinator.Input) coordinator.Input
	At      func(coordinator.At) coordinator.At
	// Servers makes the servers, or the functions that ask them, do something wrong.
	Servers ServerMistake
}

// ServerMistake is a mistake of the servers, or of how they are asked.
type ServerMistake uint8

// The mistakes.
const (
	NoServerMistake ServerMistake = iota
	// ExpireEarly lets the servers end a session before its lease is over.
	ExpireEarly
	// FindWithoutSync looks for a node on a server that may lag behind.
	FindWithoutSync
	// FindAnyOwners takes a node with the GUID for the request's, whichever session owns it.
	FindAnyOwners
	// WatchTheGone leaves a watch on a node that is gone already, as exists() would.
	WatchTheGone
	// TokenBySequence takes the sequence number for the czxid.
	TokenBySequence
	// WatchWithoutLooking has the servers tell who comes behind a retained node, and does not look who is there.
	WatchWithoutLooking
	// DeleteRegardless deletes a holder's node though that of who has the lock next may be gone.
	DeleteRegardless
	// RemoveByName deletes the one node of a contest whoever has made it.
	RemoveByName
)

func (w *world) mistake(m ServerMistake) bool {
	return w.plan.Mistake != nil && w.plan.Mistake.Servers == m
}
