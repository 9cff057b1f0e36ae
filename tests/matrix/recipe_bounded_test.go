package matrix

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Requests of a subject with a bound on waiters (WithMaxWaiters), before it makes its node.
const (
	boundPermits Request = "bound-permits" // a semaphore: the number of permits
	boundLook    Request = "bound-look"    // the children of the lock path
)

// mayQueue and mayNotQueue give a recipe whose subject has a bound on waiters, behind one holder: it may queue there, or is
// refused. A subject that was let in goes through what it does without a bound, and is not refused any more: so the
// recipe's own cells are demanded of it, too.
func mayQueue(of *recipe) *recipe {
	r := *of
	r.name, r.bounds, r.subject = "bounded-"+of.name, of, withBound(of.subject, 2)
	r.aims = of.boundAims()
	for _, request := range []Request{create, watch, syncing, permitsWatch} {
		if aim, sends := of.aims[request]; sends {
			r.aims[request] = aim
		}
	}
	if aim, sends := r.aims[permitsWatch]; sends {
		aim.Skip++ // the number was read for the bound, too
		r.aims[permitsWatch] = aim
	}
	r.cells = append(of.translated(boundLook, roomCells), ofRequests(of.cells, create, watch, syncing, permitsWatch)...)
	if _, sends := r.aims[boundPermits]; sends {
		r.cells = append(r.cells, of.translated(boundPermits, roomCells)...)
	}
	return &r
}

func mayNotQueue(of *recipe) *recipe {
	r := *of
	r.name, r.bounds, r.subject = "full-"+of.name, of, withBound(of.subject, 1)
	r.aims, r.expiredIn = of.boundAims(), nil
	r.cells = of.translated(boundLook, fullCells)
	if _, sends := r.aims[boundPermits]; sends {
		r.cells = append(r.cells, of.translated(boundPermits, slices.Concat(vacatedCells, fullCells))...)
	}
	return &r
}

// withBound has a kind of lock wait behind fewer than so many.
func withBound(lock kind, most int) kind {
	return func(c *locks.Client, opts ...locks.LockOption) locks.Locker {
		return lock(c, append(opts, locks.WithMaxWaiters(most))...)
	}
}

// boundAims gives the requests by which a subject finds out whether it may queue.
func (r *recipe) boundAims() map[Request]embedded.Fault {
	aims := map[Request]embedded.Fault{boundLook: r.aims[list]}
	if aim, sends := r.aims[permits]; sends {
		aims[boundPermits] = aim
	}
	return aims
}

// translated gives cells of the exclusive lock for a request of the recipe. The first of a fault counts.
func (r *recipe) translated(request Request, cells []cell) (all []cell) {
	for _, c := range cells {
		if slices.ContainsFunc(all, func(before cell) bool { return before.fault == c.fault }) {
			continue
		}
		c.request = request
		all = append(all, r.translate(c))
	}
	return all
}

// ofRequests gives those of some requests.
func ofRequests(cells []cell, rows ...Request) []cell {
	return slices.DeleteFunc(slices.Clone(cells), func(c cell) bool { return !slices.Contains(rows, c.request) })
}

// pruneFront deletes the node of the one before the subject, as an operator would.
func (s *scene) pruneFront(t *testing.T) {
	t.Helper()
	require.NoError(t, s.operator.Delete(lockPath+"/"+s.front.lease.Node(), -1))
}

// mayNotLook has the subject find that it may not read the lock path.
func mayNotLook(t *testing.T, s *scene) {
	s.forbid(t, lockPath, allButRead)
	s.trigger(t)
	s.subject.await(t, messages.StateFailed)
	s.allow(t, lockPath)
}

const (
	looksAgain    = "nothing was made: it looks again, and queues behind the one"
	looksAnew     = "nothing was made: it looks again in the next session, and queues behind the one"
	refusedAgain  = "it looks again, and is refused"
	refusedAnew   = "it looks again in the next session, and is refused"
	asksLate      = "the lock actor stood still before it asked: it looks in the next session, "
	countsAtLook  = "the queue at the time of the look counts: it is refused"
	mayNotBeFound = "what may not be listed may not be queued in: Failed with ErrNoAuth, and nothing made"
)

// queuesThen is the course of a subject that is let in when it looks again.
var queuesThen = andBack(stCreating, stRecovering, stCreating, stListing, stWatching)

// roomCells: its look is struck, and there is room for it behind the one that holds.
var roomCells = []cell{
	{fault: cutBefore, strike: meeting(embedded.CutBefore), outcome: looksAgain, course: queuesThen},
	{fault: replyLost, strike: meeting(embedded.CutAfter), outcome: looksAgain, course: queuesThen},
	{fault: replyLate, strike: late, outcome: looksAnew, course: queuesThen},
	{fault: followerLags, at: onFollower, strike: lag, outcome: looksAgain, course: queuesThen},
	{fault: expired, strike: meeting(embedded.ExpireBefore), outcome: looksAnew, course: queuesThen},
	{fault: serverRestarted, strike: restart, outcome: looksAgain, course: queuesThen},
	{fault: leaderKilled, at: onLeader, strike: dethrone, outcome: looksAgain, course: queuesThen},
	{fault: quorumLost, at: everywhere, strike: disband, frontLost: true,
		outcome: "the sessions lapse before the quorum is back: it looks again, and queues behind what the holder left",
		course:  anew(stCreating, stRecovering)},
	{fault: paused, at: stoppedIn(stCreating), strike: pauseIn, outcome: asksLate + "and queues behind the one",
		course: andBack(stCreating, stListing, stWatching)},
	{fault: nodeDeleted, strike: meanwhile((*scene).pruneFront), frontLost: true,
		outcome: "the one before is deleted between look and create: it is let in, and holds at once",
		course:  andBack(stCreating)},
	{fault: parentDeleted, strike: meanwhile((*scene).raze), frontLost: true,
		outcome: "the lock path is deleted between look and create: the create makes it again, and it holds",
		course:  andBack(stCreating)},
	{fault: denied, strike: mayNotLook, end: refused, err: zkconn.ErrNoAuth, outcome: mayNotBeFound,
		course: because(messages.ReasonNoAuth, stCreating, stFailed)},
	{fault: eventFirst, absurd: "it sets no watch"},
	{fault: endedElsewhere, at: atFollower, strike: meeting(embedded.EndBefore),
		outcome: "the look is answered, and the create is refused: let in once, it queues in the next session",
		course:  queuesThen},
}

// refusedFull is the cell of a subject that is refused, because one holds.
func refusedFull(fault Fault, at stage, strike func(*testing.T, *scene), outcome string, states ...messages.State) cell {
	return cell{fault: fault, at: at, strike: strike, outcome: outcome, end: refused, err: locks.ErrQueueFull,
		course: because(messages.ReasonQueueFull, append(states, stCreating, stFailed)...)}
}

// fullCells: its look is struck, and there is no room for it.
var fullCells = []cell{
	refusedFull(cutBefore, stage{}, meeting(embedded.CutBefore), refusedAgain, stCreating, stRecovering),
	refusedFull(replyLost, stage{}, meeting(embedded.CutAfter), refusedAgain, stCreating, stRecovering),
	refusedFull(replyLate, stage{}, late, refusedAnew, stCreating, stRecovering),
	refusedFull(followerLags, onFollower, lag, refusedAgain, stCreating, stRecovering),
	refusedFull(expired, stage{}, meeting(embedded.ExpireBefore), refusedAnew, stCreating, stRecovering),
	refusedFull(serverRestarted, stage{}, restart, refusedAgain, stCreating, stRecovering),
	refusedFull(leaderKilled, onLeader, dethrone, refusedAgain, stCreating, stRecovering),
	{fault: quorumLost, absurd: "the holder is lost with the quorum, and may be gone or not when it looks again"},
	refusedFull(paused, stoppedIn(stCreating), pauseIn, asksLate+"and is refused"),
	goneMeanwhile(refusedFull(nodeDeleted, stage{}, meanwhile((*scene).pruneFront), countsAtLook)),
	goneMeanwhile(refusedFull(parentDeleted, stage{}, meanwhile((*scene).raze), countsAtLook)),
	{fault: denied, strike: mayNotLook, end: refused, err: zkconn.ErrNoAuth, outcome: mayNotBeFound,
		course: because(messages.ReasonNoAuth, stCreating, stFailed)},
	{fault: eventFirst, absurd: "it sets no watch"},
	refusedFull(endedElsewhere, atFollower, meeting(embedded.EndBefore), "the look is answered, and it is refused"),
}

func goneMeanwhile(c cell) cell {
	c.frontLost = true
	return c
}

// vacatedCells: the holder goes between the two reads of a semaphore's look. The second finds room.
var vacatedCells = []cell{
	{fault: nodeDeleted, strike: meanwhile((*scene).pruneFront), frontLost: true,
		outcome: "the queue is listed without it: it is let in, and holds", course: andBack(stCreating)},
	{fault: parentDeleted, strike: meanwhile((*scene).raze), frontLost: true,
		outcome: "the lock path is not there: the create makes it again, and it holds", course: andBack(stCreating)},
}

// elsewhere is the path of a lease that a subject with a bound has beside.
const elsewhere = "/elsewhere"

// sessionEnds has the faults with which the subject's session ends.
var sessionEnds = []Fault{replyLate, expired, quorumLost, paused, endedElsewhere}

// concludeBounded: the subject's client has lost nothing but what its session took along, and its next request is let in,
// which waits behind nobody.
func (s *scene) concludeBounded(t *testing.T) {
	t.Helper()
	switch {
	case s.elsewhere == nil:
	case slices.Contains(sessionEnds, s.cell.fault):
		awaitEnd(t, s.elsewhere)
		require.ErrorIs(t, s.elsewhere.Unlock(patient(t)), locks.ErrLost)
	default:
		require.True(t, s.elsewhere.Valid(), "another lease of the client")
		require.NoError(t, s.elsewhere.Unlock(patient(t)))
	}
	again := s.take(t, s.subject.client, withBound(s.cell.played().bounds.subject, 1))
	require.Equal(t, []string{again.Node()}, s.children(t))
	require.NoError(t, again.Unlock(patient(t)))
	require.Empty(t, s.children(t))
}

// concludeRefused: the subject was refused for its bound, and never had a node.
func (s *scene) concludeRefused(t *testing.T, err error) {
	t.Helper()
	var of *locks.Error
	require.ErrorAs(t, err, &of)
	require.Empty(t, of.Node)
	require.True(t, locks.MayPass(err))
	if s.cell.fault != parentDeleted {
		require.Equal(t, s.creates, s.countCreates(t), "nodes that were made in the lock path")
	}
}

// countCreates tells how many nodes were ever made in the lock path. A server counts what is made and deleted there, and
// takes those that are there off that.
func (s *scene) countCreates(t *testing.T) int32 {
	t.Helper()
	_, stat, err := s.operator.Exists(lockPath)
	require.NoError(t, err)
	return (stat.Cversion + stat.NumChildren) / 2
}
