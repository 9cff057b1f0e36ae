package machine

import (
	"cmp"
	"slices"

	"github.com/turnstile-locks/turnstile/messages"
)

// Row is one line of the specification: in From, On an event, If the condition holds, go To and Do.
type Row struct {
	From messages.State
	On   Kind
	If   Condition
	To   messages.State
	Do   Action
}

// Rows gives the whole table.
func Rows() []Row { return append([]Row(nil), table...) }

// Possible reports whether the event has a row in the state. If not, it is a bug of the shell,
// except in terminal states, which ignore every event.
func Possible(s messages.State, k Kind) bool { return len(index[s][k]) > 0 }

// Step takes one event. It gives the work to do, and the row that fired or nil. Stale events, and
// all after the end, change nothing. An impossible event gives Halt.
//
// A paused process may hear anything first. So for an event that is Overdue, Step takes LeaseOver
// instead, with that reason, and the lock is lost. A LeaseOver that is not Overdue is of a lease
// before this grant, and is dropped.
func (m *Machine) Step(ev Event) (Effects, *Row) {
	if m.Holding() {
		switch {
		case ev.Kind == LeaseOver && ev.Overdue == "":
			return Effects{}, nil
		case ev.Overdue != "" && (m.Stale(ev) || !saysMore[ev.Kind]):
			over := Event{Kind: LeaseOver, Reason: ev.Overdue}
			if ev.Kind == Disconnected { // the connection went with the session, where there is a reason
				over.Reason = cmp.Or(ev.Reason, over.Reason)
			}
			return m.take(over)
		}
	}
	return m.take(ev)
}

// saysMore has the events that end a hold also while its lease is valid, and tell the reason better
// than LeaseOver.
var saysMore = [kinds]bool{Expired: true, Closed: true, NodeGone: true}

func (m *Machine) take(ev Event) (Effects, *Row) {
	if m.State.Terminal() || m.Stale(ev) {
		return Effects{}, nil
	}
	for _, row := range index[m.State][ev.Kind] {
		if row.If.Holds(*m, ev) {
			effects := row.Do.Run(m, ev)
			m.State = row.To
			return effects, row
		}
	}
	return effects(Effect{Do: Halt}), nil
}

// Explain is Step on a copy, Overdue or not. It gives the next machine, the work to do, and the row
// that fires or nil.
func (m Machine) Explain(ev Event) (Machine, []Effect, *Row) {
	effects, row := m.take(ev)
	return m, effects.All(), row
}

var table = slices.Concat(gettingIn, having, recovering, leaving,
	stays(creating, Connected, LeaseOver, Revoke, WatchContention, Check), // asked for while the connection was down
	stays(listing, LeaseOver, Revoke, WatchContention, Check),
	stays(watching, LeaseOver, Revoke, WatchContention, Check),
	// Refused: we may not read our node, and heartbeats still check it. Timeout fired while the grant was on its way.
	stays(held, OwnRead, Refused, Timeout),
	stays(revoking, OwnRead, Refused, Revoke, Timeout),
	// The query that verifies our node waits behind the late heartbeat, and will say whether the
	// node is gone. Its owner asks anew once it was told Resumed.
	stays(recovery, Silent, Contended, Checked, LeaseOver, NodeGone, Revoke, WatchContention, Check, GraceOver),
	// The delete will say whether the node is gone. One that was ordered while the connection was
	// down runs once it is back.
	stays(releasing, Silent, Contended, Checked, Connected, NodeGone, LeaseOver, GraceOver, Timeout, Revoke, WatchContention,
		Check, Release, Cancel),
)

func stays(in messages.State, events ...Kind) (rows []Row) {
	for _, on := range events {
		rows = append(rows, Row{in, on, always, in, nothing})
	}
	return rows
}

var index = func() (ix [messages.StateFailed + 1][kinds][]*Row) {
	for i := range table {
		row := &table[i]
		ix[row.From][row.On] = append(ix[row.From][row.On], row)
	}
	return ix
}()

const (
	none       = messages.StateNone
	creating   = messages.StateCreating
	listing    = messages.StateListing
	watching   = messages.StateWatching
	held       = messages.StateHeld
	revoking   = messages.StateRevoking
	recovery   = messages.StateRecovering
	releasing  = messages.StateReleasing
	isReleased = messages.StateReleased
	isLost     = messages.StateLost
	isCancel   = messages.StateCancelled
	isFailed   = messages.StateFailed
)

var gettingIn = []Row{
	{none, Begin, always, creating, begin},
	{none, Refused, always, isFailed, fail}, // bad input: nothing is sent

	{creating, Created, exhausted, releasing, failExhausted},
	{creating, Created, first, held, grant},
	{creating, Created, firstLate, recovery, verify},
	{creating, Created, tryBehind, releasing, giveUp},
	{creating, Created, behindOurs, watching, watch},
	{creating, Created, always, listing, list},
	{creating, NodeTaken, trying, isCancel, giveUpWaiting},
	{creating, NodeTaken, always, watching, watch},
	{creating, NotCreated, always, isFailed, fail},
	{creating, Unknown, always, recovery, verify},
	{creating, Disconnected, always, recovery, await},
	{creating, Expired, always, creating, create},
	{creating, Release, always, releasing, withdraw},
	{creating, Cancel, always, releasing, withdraw},
	{creating, Timeout, always, releasing, withdraw},
	{creating, Closed, always, isFailed, fail},

	{listing, Listed, missing, recovery, verify},
	{listing, Listed, first, held, grant},
	{listing, Listed, firstLate, recovery, verify},
	{listing, Listed, trying, releasing, giveUp},
	{listing, Listed, uncounted, watching, watchCounted},
	{listing, Listed, always, watching, watch},
	{listing, Refused, always, releasing, failDelete},
	{listing, Unknown, always, recovery, verify},
	{listing, NodeGone, always, recovery, verify},
	{listing, Disconnected, always, recovery, await},
	{listing, Release, always, releasing, giveUp},
	{listing, Cancel, always, releasing, giveUp},
	{listing, Timeout, always, releasing, giveUp},
	{listing, Closed, always, isFailed, fail},

	{watching, Watched, always, watching, poll},
	{watching, TurnCame, leased, held, grant},
	{watching, TurnCame, always, listing, list},
	{watching, PredecessorGone, nodeless, creating, create},
	{watching, PredecessorGone, always, listing, list},
	{watching, Changed, always, listing, list},
	{watching, Poll, nodeless, creating, create},
	{watching, Poll, always, listing, list},
	{watching, Refused, nodeless, isFailed, fail},
	{watching, Refused, always, releasing, failDelete},
	{watching, Unknown, always, recovery, verify},
	{watching, NodeGone, always, recovery, verify},
	{watching, Disconnected, always, recovery, await},
	{watching, Release, nodeless, isCancel, giveUpWaiting},
	{watching, Release, always, releasing, giveUp},
	{watching, Cancel, nodeless, isCancel, giveUpWaiting},
	{watching, Cancel, always, releasing, giveUp},
	{watching, Timeout, nodeless, isCancel, giveUpWaiting},
	{watching, Timeout, always, releasing, giveUp},
	{watching, Closed, always, isFailed, fail},
}

var having = slices.Concat([]Row{
	{held, OwnRead, unlock, revoking, requestRevoke},
	{held, OwnRead, unwatched, held, tellWatched},
	{held, Refused, unwatched, held, tellWatched},
	{held, Revoke, always, revoking, requestRevoke},
	{revoking, GraceOver, always, releasing, force},
}, holding(held), holding(revoking))

func holding(in messages.State) []Row {
	return []Row{
		{in, OwnChanged, always, in, watchOwn},
		{in, Unknown, always, recovery, suspendVerify},
		{in, NodeGone, always, isLost, lose},
		{in, Disconnected, always, recovery, suspend},
		{in, Silent, always, recovery, suspendVerify},
		{in, LeaseOver, always, isLost, loseAndCleanUp},
		{in, WatchContention, always, in, watchContention},
		{in, Contended, always, in, tellContended},
		{in, Check, always, in, check},
		{in, Checked, always, in, tellChecked},
		{in, Release, always, releasing, giveBack},
		{in, Cancel, always, releasing, giveBack},
		{in, Closed, always, isLost, lose},
	}
}

var recovering = []Row{
	{recovery, Connected, always, recovery, verify},
	{recovery, Disconnected, always, recovery, await},
	{recovery, Unknown, always, recovery, retry},
	{recovery, Poll, always, recovery, verify},

	{recovery, Found, releasingFound, releasing, remove},
	{recovery, Found, wasGivingBack, isReleased, tellReleased},
	{recovery, Found, wasGivingUp, isCancel, tellCancelled},
	{recovery, Found, wasReleasing, isFailed, tellFailed},
	{recovery, Found, heldFound, held, resume},
	{recovery, Found, revokingFound, revoking, resume},
	{recovery, Found, holdingLate, isLost, loseLate},
	{recovery, Found, wasHolding, isLost, lose},
	{recovery, Found, foundExhausted, releasing, failExhausted},
	{recovery, Found, present, listing, list},
	{recovery, Found, always, creating, create},
	{recovery, Refused, wasHolding, isLost, loseAndCleanUp},
	{recovery, Refused, always, isFailed, failCleanUp},

	{recovery, Expired, wasHolding, isLost, lose},
	{recovery, Expired, wasGivingBack, isReleased, tellReleased},
	{recovery, Expired, wasGivingUp, isCancel, tellCancelled},
	{recovery, Expired, wasReleasing, isFailed, tellFailed},
	{recovery, Expired, always, creating, create},
	{recovery, LeaseOver, wasHolding, isLost, loseAndCleanUp},
	{recovery, NodeGone, wasHolding, isLost, lose},
	{recovery, Closed, wasHolding, isLost, lose},
	{recovery, Closed, always, isFailed, fail},

	{recovery, Revoke, wasHeld, recovery, requestRevokeLater},
	{recovery, GraceOver, wasRevoking, releasing, forceVerify},
	{recovery, Release, wasReleasing, recovery, nothing},
	{recovery, Release, wasHolding, releasing, giveBackVerify},
	{recovery, Release, always, releasing, giveUpVerify},
	{recovery, Cancel, wasReleasing, recovery, nothing},
	{recovery, Cancel, wasHolding, releasing, giveBackVerify},
	{recovery, Cancel, always, releasing, giveUpVerify},
	{recovery, Timeout, wasReleasing, recovery, nothing},
	{recovery, Timeout, wasHolding, recovery, nothing},
	{recovery, Timeout, always, releasing, giveUpVerify},
}

var leaving = []Row{
	{releasing, Created, always, releasing, remove},
	{releasing, NodeTaken, always, isCancel, tellCancelled},
	{releasing, NotCreated, always, isCancel, tellCancelled},
	{releasing, Found, present, releasing, remove},
	{releasing, Found, endsReleased, isReleased, tellReleased},
	{releasing, Found, endsCancelled, isCancel, tellCancelled},
	{releasing, Found, always, isFailed, tellFailed},
	{releasing, Deleted, endsReleased, isReleased, tellReleased},
	{releasing, Deleted, endsCancelled, isCancel, tellCancelled},
	{releasing, Deleted, always, isFailed, tellFailed},
	{releasing, Refused, always, isFailed, failCleanUp},
	{releasing, Unknown, always, recovery, verify},
	{releasing, Disconnected, always, recovery, await},
	{releasing, Expired, endsReleased, isReleased, tellReleased},
	{releasing, Expired, endsCancelled, isCancel, tellCancelled},
	{releasing, Expired, always, isFailed, tellFailed},
	{releasing, Closed, always, isFailed, fail}, // nobody will know whether the node is gone
}
