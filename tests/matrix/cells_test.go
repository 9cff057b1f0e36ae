package matrix

import (
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Request is a row of the matrix: what Turnstile asks of a server.
type Request string

// The requests.
const (
	create  Request = "create" // the multi that makes the contender's node
	list    Request = "list"   // the children of the lock path
	watch   Request = "watch"  // reading the predecessor's node, with a watch
	syncing Request = "look"   // the transaction before the look for a node whose create was not answered
	verify  Request = "verify" // the multi that checks the own node: every heartbeat, and the last step of a recovery
	remove  Request = "delete" // of the own node
	ping    Request = "ping"   // the library's own, which keeps the session alive
)

var requests = []Request{create, list, watch, syncing, verify, remove, ping}

// Fault is a column of the matrix.
type Fault string

// The faults.
const (
	cutBefore       Fault = "cut-before"
	replyLost       Fault = "reply-lost"
	replyLate       Fault = "reply-late"
	followerLags    Fault = "follower-lags"
	expired         Fault = "session-expired"
	serverRestarted Fault = "server-restarted"
	leaderKilled    Fault = "leader-killed"
	quorumLost      Fault = "quorum-lost"
	paused          Fault = "process-paused"
	nodeDeleted     Fault = "node-deleted"
	parentDeleted   Fault = "parent-deleted"
	denied          Fault = "acl-denies"
	endedElsewhere  Fault = "ended-elsewhere"
)

var faults = []Fault{cutBefore, replyLost, replyLate, followerLags, expired, serverRestarted, leaderKilled, quorumLost,
	paused, nodeDeleted, parentDeleted, denied, endedElsewhere}

// cell is one request met by one fault.
type cell struct {
	recipe  *recipe
	request Request
	fault   Fault
	outcome string // what must come out, in one sentence
	absurd  string // or why it makes no sense

	at     stage
	strike func(t *testing.T, s *fixture) // has the request sent and the fault happen

	course           // what the subject goes through; how it ends follows from it
	orElse    course // or this, where two things happen at once
	before    bool   // Lost comes before the next holds
	frontLost bool   // the one before the subject meets the fault as well, and loses
	err       error  // that Lock or Unlock returns
}

// course has the steps of a cell's subject, from its beginning to its end.
type course struct {
	story  []messages.State
	reason messages.Reason // of its end, where it is told
	anew   bool            // in the end it queues in its next session, behind sooner contenders: how often it lists and watches there is open
}

// fits reports whether a subject went through it.
func (c course) fits(states []messages.State) bool {
	if c.anew {
		return slices.Equal(queuedAnew(c.story), queuedAnew(states))
	}
	return slices.Equal(c.story, states)
}

// queuedAnew leaves out how a subject came to its turn after its last recovery.
func queuedAnew(states []messages.State) []messages.State {
	last := 0
	for i, state := range states {
		if state == stRecovering {
			last = i
		}
	}
	queued := slices.Clone(states[:last+1])
	for _, state := range states[last+1:] {
		waits := state == stCreating || state == stListing || state == stWatching
		if !waits || state == stCreating && queued[len(queued)-1] != stCreating {
			queued = append(queued, state)
		}
	}
	return queued
}

// last is the state in which the subject ends.
func (c course) last() messages.State { return c.story[len(c.story)-1] }

// refused: Lock has returned an error.
func (c course) refused() bool { return c.last() == stFailed && !slices.Contains(c.story, stHeld) }

// stage says where the players of a scene are.
type stage struct {
	replicas int // one when zero
	subject  func(*embedded.Server) string
	ready    func(*fixture) // before the subject does anything
	alone    bool           // the next comes only when the fault is over
	dial     func(*fixture) locks.Option
}

// Short names, so that a story fits a line.
const (
	stCreating   = messages.StateCreating
	stListing    = messages.StateListing
	stWatching   = messages.StateWatching
	stHeld       = messages.StateHeld
	stRevoking   = messages.StateRevoking
	stRecovering = messages.StateRecovering
	stReleasing  = messages.StateReleasing
	stReleased   = messages.StateReleased
	stLost       = messages.StateLost
	stFailed     = messages.StateFailed
)

func through(states ...messages.State) course { return course{story: states} }

// because is a course that ends for a reason.
func because(reason messages.Reason, states ...messages.State) course {
	return course{story: states, reason: reason}
}

// andBack is a course that goes on with holding and giving back.
func andBack(states ...messages.State) course {
	return course{story: append(states, stHeld, stReleasing, stReleased)}
}

// anew is andBack for a subject that queues in its next session in the end.
func anew(states ...messages.State) course {
	c := andBack(append(states, stCreating)...)
	c.anew = true
	return c
}

// cellsOf gives a fault's cells, which have what all has where they do not say otherwise.
func cellsOf(all cell, cells []cell) []cell {
	for i := range cells {
		c := &cells[i]
		c.fault = all.fault
		if c.strike == nil {
			c.strike = all.strike
		}
		if c.at.isNothing() {
			c.at = all.at
		}
	}
	return cells
}

// column is cellsOf for a fault most of whose courses are those that many faults have. It has an outcome for each request.
// What all says of a loss counts for requests that end so.
func column(all cell, courses map[Request]course, outcomes map[Request]string, own ...cell) []cell {
	for _, request := range requests {
		c := cell{request: request, outcome: outcomes[request], course: courses[request]}
		if c.outcome == "" {
			continue
		}
		if c.last() == stLost {
			c.course.reason, c.before, c.orElse = all.course.reason, all.before, all.orElse
		}
		own = append(own, c)
	}
	return cellsOf(all, own)
}

// isNothing reports whether a stage has nothing special.
func (s stage) isNothing() bool { return reflect.ValueOf(s).IsZero() }

// matrix is all cells.
var matrix = slices.Concat(cutBeforeCells, replyLostCells, replyLateCells, followerLagsCells, expiredCells,
	serverRestartedCells, leaderKilledCells, quorumLostCells, pausedCells, nodeDeletedCells, parentDeletedCells,
	deniedCells, endedElsewhereCells)

// absurd lists the cells of a fault that make no sense, for one reason.
func absurd(fault Fault, why string, rows ...Request) (all []cell) {
	for _, request := range rows {
		all = append(all, cell{request: request, fault: fault, absurd: why})
	}
	return all
}

// TestMatrix runs every cell that makes sense.
func TestMatrix(t *testing.T) {
	t.Parallel()
	for _, request := range requests {
		t.Run(string(request), func(t *testing.T) {
			for _, c := range matrix {
				if c.request == request && c.absurd == "" {
					c.recipe = exclusiveLock
					t.Run(string(c.fault), c.test)
				}
			}
		})
	}
}

// test runs a cell beside others.
func (c cell) test(t *testing.T) {
	t.Parallel()
	t.Logf("required: %s", c.outcome)
	synctest.Test(t, func(t *testing.T) {
		s := open(t, c)
		c.strike(t, s)
		s.conclude(t)
	})
}

// TestMatrixIsComplete fails when a request and a fault have no cell, two, or one that says nothing.
func TestMatrixIsComplete(t *testing.T) {
	for _, request := range requests {
		for _, fault := range faults {
			var found []cell
			for _, c := range matrix {
				if c.request == request && c.fault == fault {
					found = append(found, c)
				}
			}
			switch {
			case len(found) != 1:
				t.Errorf("%s/%s: %d cells instead of one", request, fault, len(found))
			case (found[0].outcome == "") == (found[0].absurd == ""):
				t.Errorf("%s/%s: it needs an outcome, or else a reason why it makes no sense", request, fault)
			case found[0].absurd == "" && found[0].strike == nil:
				t.Errorf("%s/%s: nothing is run for it", request, fault)
			}
		}
	}
	if len(matrix) != len(requests)*len(faults) {
		t.Errorf("%d cells in a matrix of %d by %d", len(matrix), len(requests), len(faults))
	}
}
