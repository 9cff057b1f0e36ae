package walk

import (
	"fmt"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/messages"
)

// How large a world can be.
const (
	maxActors   = 4
	maxSessions = 2
	maxPaths    = 2
)

// Plan describes one exploration: the requests, their sessions, and the events that may happen to
// them.
type Plan struct {
	// Name is printed with the figures.
	Name string
	// Sessions gives the session of each request, 0 or 1: {0, 0, 1} are two requests of one session and one of another.
	Sessions []int
	// Modes gives the kind of lock of each request.
	Modes [maxActors]messages.Mode
	// Paths gives the lock path of each request, 0 or 1.
	Paths [maxActors]int
	// Names gives the name of the queue of each request. Only calls have one, and only in the first lock path.
	Names [maxActors]string
	// Calls are calls of the clients of some sessions, whose turns ask for the requests of these.
	Calls []Call
	// ClockTells: turns hear of the end of a lease from its clock, before lock actors do. Without, they hear it from these.
	ClockTells bool
	// Within names, from 1, the request whose lock must be held before another begins, and is not given back while that
	// one lives: so do several locks that one caller wants together.
	Within [maxActors]int
	// Waiting is the number of nodes of one queue that may wait in a session, Nodes the number for
	// which the weight is enough; zero is the usual bound.
	Waiting, Nodes int
	// Steady: a lock path of which one node was first, while its watch stood, is not listed behind the next create.
	Steady bool
	// InTurn: of one session, locks are granted in the order of the requests. Not with Slow: a request that leaves its
	// mailbox late asks late.
	InTurn bool
	// Beside names, from 1, the writer whose node a reader names, so that it makes its own beside that: it begins while
	// the writer holds.
	Beside [maxActors]int
	// Try: the request gives up instead of waiting. WatchAll: it watches the whole queue.
	Try, WatchAll [maxActors]bool
	// TellMore: the request is told Waiting and Watched, too.
	TellMore [maxActors]bool
	// Reclaim: the request takes back what an earlier process held, whose node is there when the walk begins.
	Reclaim [maxActors]bool
	// Permits is the number of permits that a semaphore is made with; each request takes one.
	Permits int
	// Down: the sessions are not connected yet when the walk begins.
	Down bool
	// Arrive tells which requests are made at any moment. The others are made at the start; when their creates are carried
	// out is explored.
	Arrive [maxActors]bool
	// Crowded: nothing is listed behind a create, as on lock paths with many contenders.
	Crowded bool
	// ListsLater: anything may come between a create and the listing behind it.
	ListsLater bool
	// LateAnswers: anything may come between a query's being carried out and its answer. Without, only what Slow allows, or
	// the loss of the connection.
	LateAnswers bool
	// HangsUp: the servers may have hung up on a create or a transaction that is lost with its
	// connection. So the second in a row waits before it is sent again.
	HangsUp bool
	// Swept: watches at the servers that nobody wants are removed, each as soon as that is so.
	Swept bool
	// Spared tells which sessions have no faults of their own.
	Spared [maxSessions]bool
	// After has the moves, in the words of the stories, that have been made when the walk begins.
	// They lead to states that are far from the start.
	After []string
	// Bounds says how often each optional event may happen.
	Bounds Bounds
	// Without has the fast paths that are switched off.
	Without coordinator.Switches
	// Part ends the walk when so many states are expanded, breadth first; zero is no bound. That there is an end from
	// every state is then not asked.
	Part int
	// Limit ends the walk with an error when it reaches more states than this; zero is no limit.
	Limit int
}

// Bounds bounds the optional events of a history, such as faults and cancels: Bounds{Cuts: 1}
// allows one cut. Each may happen that often, at any moment at which it can. Moves that a request
// and its session make by themselves have no bound.
type Bounds [Late + 1]uint8

// Bound is an index of Bounds.
type Bound uint8

// The bounds.
const (
	unbounded Bound = iota

	Cuts     // a connection is lost
	Defers   // the servers put a query off, which is not carried out
	Silences // a heartbeat is not answered in time while the connection is up
	Lapses   // a lease runs out
	Expiries // the servers end a session
	Outlives // a create or a delete that was lost with its connection is carried out after all, when the next is lost
	Moves    // likewise, but a moment before that, while the connection is still read
	GivesUp  // a session lapses, so that its client gives it up
	Lags     // a connection comes back to a server that lags behind
	Breaks   // an operator deletes a contender's node
	Returns  // servers that are restored bring back a node that its session had deleted
	Asks     // an operator writes to a node that he wants the lock
	Reaps    // an empty lock path is deleted; the next create makes it again
	Resizes  // a semaphore gets another number of permits: two in place of one, or one
	Passes   // another client makes a node in a lock path, and deletes it
	Cancels  // a request is cancelled
	Timeouts // a request has waited for long enough
	Revokes  // a request is asked to give back
	Attends  // a holder asks to be told of other contenders
	Checks   // a holder has its node checked
	Releases // a request is released that does not hold
	Stops    // a lock actor is stopped from outside, or panics
	Closes   // a session is closed
	Polls    // a waiting request looks at the queue though no watch told it to
	Ages     // a session has watched a lock path for so long that it does not believe in the watch any more
	Looks    // a session looks for late creates, though no look is due
	Quits    // a call is not wanted any more
	Ticks    // time passes for turns: more than a rest of a hold, and than its time

	// Slow: a lock actor leaves its mailbox for a while, so that other things come first; with Always it need never be
	// quick, and every order is explored. Without LateAnswers also: an answer is not delivered at once.
	Slow
	// Late: a session leaves the orders of its lock actors in its mailbox for a while.
	Late
)

// Always, as a bound, is no bound.
const Always = 255

// The constants of a world, and what follows from its plan.

// lockPath is the first lock path, the only one in most plans; oneName the name of a contest's node in it.
const (
	lockPath = "/l"
	oneName  = "one"
)

// lockPaths are all of them. Their lengths are the same, and the names of their nodes differ.
var lockPaths = [maxPaths]string{lockPath, "/m"}

// pathIn gives the number of the lock path of a path.
func pathIn(path string) int {
	if strings.HasPrefix(path, lockPath) {
		return 0
	}
	return 1
}

// base is the name in a path below the lock path; empty for the lock path.
func base(path string) string {
	if len(path) <= len(lockPath) {
		return ""
	}
	return path[len(lockPath)+1:]
}

// idOf is the ID of a request.
func idOf(i int) string { return fmt.Sprintf("id%d", i) }

// by is the address of the lock actor of a request.
func by(i int) string { return fmt.Sprintf("actor%d", i) }

// spec gives the spec of a request. beside is the writer's node that it names, if any.
func (p *Plan) spec(i int, beside string) *coordinator.Spec {
	want := &messages.Acquire{Path: lockPaths[p.Paths[i]], Mode: p.Modes[i], Try: p.Try[i], Beside: beside}
	want.WatchAll, want.TellMore = p.WatchAll[i], p.TellMore[i]
	if p.Reclaim[i] {
		want.Reclaim = "key"
	}
	switch want.Mode {
	case messages.Contest:
		want.Path += "/" + oneName
	case messages.Semaphore:
		want.Permits = p.Permits
	}
	return coordinator.NewSpec(want, idOf(i), by(i), time.Time{})
}

// queueOf gives the number of a request's queue: that of its lock path, or 1 for the one with a name.
func (p *Plan) queueOf(i int) int {
	if p.Names[i] != "" {
		return 1
	}
	return p.Paths[i]
}

// bounded reports whether the bounds of a plan are smaller than the usual ones.
func (p *Plan) bounded() bool { return p.Waiting > 0 || p.Nodes > 0 }

// bounds gives what a session may have at the servers.
func (p *Plan) bounds() coordinator.Bounds {
	bounds := coordinator.DefaultBounds()
	if bounds.Streak = maxActors + 2; p.Steady { // there are not as many nodes in a row otherwise
		bounds.Streak = 1
	}
	if p.Waiting > 0 {
		bounds.Waiting = p.Waiting
	}
	if p.Nodes > 0 {
		most := 0
		for i := range p.Sessions {
			most = max(most, p.spec(i, "").Size)
		}
		bounds.Weight = p.Nodes * most
	}
	return bounds
}

// beside reports whether one of two requests makes its node beside the other's.
func (p *Plan) beside(i, j int) bool { return p.Beside[i] == j+1 || p.Beside[j] == i+1 }

// shares reports whether two requests may hold at the same time.
func (p *Plan) shares(i, j int) bool {
	mode := p.Modes[i]
	return p.queueOf(i) != p.queueOf(j) || mode == messages.Semaphore || mode == messages.Read && p.Modes[j] == mode || p.beside(i, j)
}
