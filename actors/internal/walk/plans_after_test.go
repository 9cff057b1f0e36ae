package walk

import (
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
)

// Plans that begin far from the start, after moves that lead there, and what alters them.

// anothersNode begins when a request of a session that is over has left a node, and asks for another.
var anothersNode = Plan{Sessions: apart, LateAnswers: true, Spared: spareB, Bounds: Bounds{Cuts: 1, Expiries: 1}, After: []string{
	"session A: the servers carry out Create of stage 0",
	"session A: the servers end the session",
	"session A: the servers, which have ended it, cut the connection",
	"session A: an event arrives",
	"session A: a server is found",
	"session A: an event arrives",
	"session A: a server is found",
	"session A: an event arrives",
}}

// answeredLate begins when two connections have been lost with the delete of a request. What became of the second delete is
// still on its way. The third waits, because servers may have hung up on both.
var answeredLate = Plan{Name: "hung up on, a late answer", Sessions: single, HangsUp: true,
	Bounds: Bounds{Cuts: 3, Cancels: 1, Late: 1}, After: []string{
		"contender 1 is cancelled",
		"session A: the servers carry out Create of stage 0",
		"session A: the connection is lost (answers lost: false, requests wait: false)",
		"session A: the answer comes to Commit of stage 0",
		"session A: an event arrives",
		"session A: a server is found",
		"session A: an event arrives",
		"session A: the servers carry out Look of stage 0",
		"session A: the connection is lost (answers lost: false, requests wait: false)",
		"session A: an event arrives",
		"session A: a server is found",
		"session A: an event arrives",
		"session A: the servers carry out Look of stage 0",
	}}

// orphanGoes begins when the delete of an orphan is under way, and its request makes another node.
var orphanGoes = Plan{Name: "an orphan goes", Sessions: single, Bounds: Bounds{Cuts: 4, Outlives: 2, Slow: 1}, After: []string{
	"session A: the connection is lost (answers lost: false, requests wait: false)",
	"session A: the answer comes to Create of stage 0",
	"session A: an event arrives",
	"session A: a server is found",
	"session A: an event arrives",
	"contender 1 leaves its mailbox",
	"session A: the servers carry out Look of stage 0",
	"session A: the servers carry out Look of stage 0",
	"session A: the connection is lost (answers lost: false, requests wait: false)",
	"session A: the servers carry out after all Create",
	"session A: an event arrives",
	"session A: a server is found",
	"session A: an event arrives",
	"session A: the servers carry out Look of stage 0",
	"contender 1 reads its mailbox",
	"contender 1 reads its mailbox",
	"contender 1 reads its mailbox",
}}

// orphanIsSought goes on from there: that node was made, and lost with the connection, so the request looks for a node.
var orphanIsSought = Plan{Name: "an orphan goes, its request looks for a node", Sessions: single, Bounds: orphanGoes.Bounds,
	After: slices.Concat(orphanGoes.After, []string{
		"session A: the connection is lost with the answer to Create of stage 0",
		"session A: the answer comes to Create of stage 1",
		"session A: an event arrives",
		"session A: a server is found",
		"session A: an event arrives",
	})}

// contestGoes begins like orphanGoes, for a contest.
var contestGoes = Plan{Name: "an orphan goes, a contest", Sessions: single, Modes: contests,
	Bounds: Bounds{Cuts: 2, Outlives: 1, Slow: 1}, After: []string{
		"session A: the connection is lost (answers lost: false, requests wait: false)",
		"session A: the answer comes to Create of stage 0",
		"session A: an event arrives",
		"session A: a server is found",
		"session A: an event arrives",
		"contender 1 leaves its mailbox",
		"session A: the servers carry out Look of stage 0",
		"session A: the servers carry out Look of stage 0",
		"session A: the connection is lost (answers lost: false, requests wait: false)",
		"session A: an event arrives",
		"session A: the servers carry out after all Create",
		"session A: a server is found",
		"session A: an event arrives",
		"session A: the servers carry out Look of stage 0",
		"contender 1 reads its mailbox",
		"contender 1 reads its mailbox",
		"contender 1 reads its mailbox",
	}}

// contestGoesTwice has the delete of the orphan come late, too.
var contestGoesTwice = Plan{Sessions: single, Modes: contests, Bounds: Bounds{Cuts: 3, Outlives: 2, Slow: 1}, After: contestGoes.After}

// madeAnew begins when a reader's node was deleted, and made again by a create that was lost with an earlier connection.
var madeAnew = Plan{Name: "an orphan, made anew behind its delete", Sessions: two, Modes: writeReadWrite, Beside: besideFirst, Arrive: second,
	Bounds: Bounds{Cuts: 2, Outlives: 1}, After: []string{
		"session A: the servers carry out Create of stage 0",
		"contender 2 asks for the lock",
		"session A: the connection is lost with the answer to ReadOwn of stage 0",
		"session A: the answer comes to CreateAt of stage 0",
		"session A: an event arrives",
		"session A: a server is found",
		"session A: an event arrives",
		"session A: the servers carry out Look of stage 0",
		"session A: the servers carry out Look of stage 0",
		"session A: the servers carry out Check of stage 0",
		"session A: the servers carry out CreateAt of stage 0",
		"session A: the servers carry out ReadOwn of stage 0",
		"session A: the servers carry out ReadOwn of stage 0",
		"contender 2 is released",
		"session A: the servers carry out Commit of stage 0",
		"session A: an event arrives",
		"session A: the connection is lost (answers lost: false, requests wait: false)",
		"session A: an event arrives",
		"session A: the servers carry out after all CreateAt",
		"session A: a server is found",
		"session A: an event arrives",
	}}

// lostByTwo begins when two requests have lost their creates twice.
var lostByTwo = Plan{Name: "an orphan, or two", Sessions: two, Without: coordinator.GroupCommit,
	Bounds: Bounds{Cuts: 2, Slow: 1}, After: slices.Concat(cutWithCreates, cutWithCreates[:len(cutWithCreates)-3])}

// cutWithCreates has a connection lost with the creates of two requests, each of which finds that it has no node.
var cutWithCreates = []string{
	"session A: the connection is lost (answers lost: false, requests wait: false)",
	"session A: the answer comes to Create of stage 0",
	"session A: the answer comes to Create of stage 0",
	"session A: an event arrives",
	"session A: a server is found",
	"session A: an event arrives",
	"session A: the servers carry out Look of stage 0",
	"session A: the servers carry out Look of stage 0",
	"session A: the servers carry out Look of stage 0",
}

// oneBehindTwo begins when two of a session wait for another session, so that the third is kept back.
var oneBehindTwo = Plan{Sessions: []int{1, 0, 0, 0}, Arrive: [maxActors]bool{3: true}, After: []string{
	"session B: the servers carry out Create of stage 0",
	"session A: the servers carry out Create of stage 0",
	"session A: the servers carry out Create of stage 0",
	"contender 4 asks for the lock",
}}

// steadyPath begins when a session has locked once, and watches the lock path. The number of its
// next node shows whether others came between.
func steadyPath(bounds Bounds) Plan {
	return Plan{Sessions: threeOne, Arrive: notFirst, Steady: true, Bounds: bounds, After: []string{
		"session A: the servers carry out Create of stage 0",
		"session A: the servers carry out Watch of stage 0",
		"contender 1 is released",
		"session A: the servers carry out Commit of stage 0",
	}}
}

// steadyAgain is steadyPath, behind the first node of the session that was made while the watch stood. If the lock path is
// made again now, another session and a stranger can come up to the number of that node.
func steadyAgain(bounds Bounds) Plan {
	p := steadyPath(bounds)
	p.After = append(slices.Clone(p.After),
		"contender 2 asks for the lock",
		"session A: the servers carry out Create of stage 0",
		"contender 2 is released",
		"session A: the servers carry out Commit of stage 0")
	return p
}

// unwatched gives a plan that begins where the servers have not set the watch yet.
func unwatched(p Plan) Plan {
	p.After = slices.DeleteFunc(p.After, func(move string) bool { return strings.Contains(move, "Watch") })
	return p
}

// steadyAlone is steadyPath for four requests of one session.
func steadyAlone(bounds Bounds) Plan {
	p := steadyPath(bounds)
	p.Sessions = []int{0, 0, 0, 0}
	return p
}

// secondIsNoProof takes four nodes, the third from the end of a session that is over and not buried yet: that the one
// before the predecessor is gone does not mean that the predecessor is the head.
var secondIsNoProof = Plan{Name: "the second is no proof", Sessions: oneTwo,
	Bounds: Bounds{Lapses: 1, Expiries: 1, Cancels: 1}, After: []string{
		"session B: the servers carry out Create of stage 0",
		"session A: the servers carry out Create of stage 0",
		"session B: the servers carry out Create of stage 0",
		"session A: the lease runs out",
		"session A: the servers end the session",
		"session A: the servers, which have ended it, cut the connection",
		"session A: an event arrives",
		"session A: a server is found",
		"session A: an event arrives",
		"session A: a server is found",
		"session A: an event arrives",
		"session A: the servers carry out Create of stage 0",
	}}
