package machine

import (
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

// Condition is a condition of a transition.
type Condition struct {
	Name  string
	Holds func(Machine, Event) bool
}

var always = Condition{"", func(Machine, Event) bool { return true }}

var (
	exhausted  = Condition{"sequence exhausted", func(_ Machine, e Event) bool { return e.Exhausted }}
	trying     = Condition{"only trying", func(m Machine, _ Event) bool { return m.Want.Try }}
	tryBehind  = Condition{"behind a node of ours, only trying", func(m Machine, e Event) bool { return m.Want.Try && e.Predecessor != "" }}
	behindOurs = Condition{"behind a node of ours", func(_ Machine, e Event) bool { return e.Predecessor != "" }}
	missing    = Condition{"own node missing", func(_ Machine, e Event) bool { return e.Missing }}
	first      = Condition{"first, lease valid", func(_ Machine, e Event) bool { return e.First && e.Lease }}
	firstLate  = Condition{"first, lease over", func(_ Machine, e Event) bool { return e.First }}
	nodeless   = Condition{"no node", func(m Machine, _ Event) bool { return m.Node == "" }}
	unlock     = Condition{"asks for the lock", func(_ Machine, e Event) bool { return e.Unlock }}
	uncounted  = Condition{"Waiting is owed", func(m Machine, _ Event) bool { return m.Want.TellMore && !m.Counted }}
	unwatched  = Condition{"Watched is owed", func(m Machine, _ Event) bool { return m.Unwatched }}
)

var (
	wasReleasing = Condition{"was releasing", func(m Machine, _ Event) bool { return m.From == messages.StateReleasing }}
	wasHolding   = Condition{"was holding", func(m Machine, _ Event) bool { return m.From.Holding() }}
	wasHeld      = Condition{"was held", func(m Machine, _ Event) bool { return m.From == messages.StateHeld }}
	wasRevoking  = Condition{"was revoking", func(m Machine, _ Event) bool { return m.From == messages.StateRevoking }}

	releasingFound = Condition{"found, was releasing", and(found, wasReleasing)}
	heldFound      = Condition{"found, was held, lease valid", and(found, wasHeld, leased)}
	revokingFound  = Condition{"found, was revoking, lease valid", and(found, wasRevoking, leased)}
	holdingLate    = Condition{"found, was holding, lease over", and(found, wasHolding)}
	foundExhausted = Condition{"found, sequence exhausted", and(found, exhausted)}

	found  = Condition{"found", func(_ Machine, e Event) bool { return e.Node != "" }}
	leased = Condition{"lease valid", func(_ Machine, e Event) bool { return e.Lease }}
)

var (
	endsReleased  = Condition{"gives back", func(m Machine, _ Event) bool { return m.Ending == messages.StateReleased }}
	endsCancelled = Condition{"gives up", func(m Machine, _ Event) bool { return m.Ending == messages.StateCancelled }}

	wasGivingBack = Condition{"was giving back", and(wasReleasing, endsReleased)}
	wasGivingUp   = Condition{"was giving up", and(wasReleasing, endsCancelled)}
)

func and(all ...Condition) func(Machine, Event) bool {
	return func(m Machine, e Event) bool {
		for _, one := range all {
			if !one.Holds(m, e) {
				return false
			}
		}
		return true
	}
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

// Rows gives the whole table.
func Rows() []Row { return append([]Row(nil), table...) }

// Possible reports whether the event has a row in the state. If not, it is a bug of the shell,
// except in terminal states, which ignore every event.
func Possible(s messages.State, k Kind) bool { return len(index[s][k]) > 0 }

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

	{creating, Created, exhausted, releasing, failDelete.because(messages.ReasonSequenceExhausted)},
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
	{recovery, Found, holdingLate, isLost, loseAndCleanUp.because(messages.ReasonLeaseOver)},
	{recovery, Found, wasHolding, isLost, lose},
	{recovery, Found, foundExhausted, releasing, failDelete.because(messages.ReasonSequenceExhausted)},
	{recovery, Found, found, listing, list},
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
	{releasing, Found, found, releasing, remove},
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
