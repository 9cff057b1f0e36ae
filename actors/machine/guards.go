package machine

import "github.com/turnstile-locks/turnstile/messages"

// Guard is a named condition of a row.
type Guard struct {
	Name  string
	Holds func(Machine, Event) bool
}

var always = Guard{"", func(Machine, Event) bool { return true }}

// What a reply says of the queue.
var (
	exhausted  = Guard{"sequence exhausted", func(_ Machine, e Event) bool { return e.Exhausted }}
	alone      = Guard{"alone, lease valid", func(_ Machine, e Event) bool { return e.Alone && e.Lease }}
	aloneLate  = Guard{"alone, lease over", func(_ Machine, e Event) bool { return e.Alone }}
	notAlone   = Guard{"only trying", func(m Machine, _ Event) bool { return m.Try }}
	tryBehind  = Guard{"behind a node of ours, only trying", func(m Machine, e Event) bool { return m.Try && e.Predecessor != "" }}
	behindOurs = Guard{"behind a node of ours", func(_ Machine, e Event) bool { return e.Predecessor != "" }}
	missing    = Guard{"own node missing", func(_ Machine, e Event) bool { return e.Missing }}
	first      = Guard{"first, lease valid", func(_ Machine, e Event) bool { return e.First && e.Lease }}
	firstLate  = Guard{"first, lease over", func(_ Machine, e Event) bool { return e.First }}
	nodeless   = Guard{"no node", func(m Machine, _ Event) bool { return m.Node == "" }}
	unlock     = Guard{"asks for the lock", func(_ Machine, e Event) bool { return e.Unlock }}
)

// What recovering came from, and what was found.
var (
	wasReleasing = Guard{"was releasing", func(m Machine, _ Event) bool { return m.From == messages.StateReleasing }}
	wasHolding   = Guard{"was holding", func(m Machine, _ Event) bool { return m.From.Holding() }}
	wasHeld      = Guard{"was held", func(m Machine, _ Event) bool { return m.From == messages.StateHeld }}
	wasRevoking  = Guard{"was revoking", func(m Machine, _ Event) bool { return m.From == messages.StateRevoking }}

	releasingFound = Guard{"found, was releasing", and(found, wasReleasing)}
	heldFound      = Guard{"found, was held, lease valid", and(found, wasHeld, leased)}
	revokingFound  = Guard{"found, was revoking, lease valid", and(found, wasRevoking, leased)}
	holdingLate    = Guard{"found, was holding, lease over", and(found, wasHolding)}
	foundExhausted = Guard{"found, sequence exhausted", and(found, exhausted)}
	present        = Guard{"found", found.Holds}

	found  = Guard{"found", func(_ Machine, e Event) bool { return e.Node != "" }}
	leased = Guard{"lease valid", func(_ Machine, e Event) bool { return e.Lease }}
)

// Where releasing leads.
var (
	endsReleased  = Guard{"gives back", func(m Machine, _ Event) bool { return m.Ending == messages.StateReleased }}
	endsCancelled = Guard{"gives up", func(m Machine, _ Event) bool { return m.Ending == messages.StateCancelled }}

	wasGivingBack = Guard{"was giving back", and(wasReleasing, endsReleased)}
	wasGivingUp   = Guard{"was giving up", and(wasReleasing, endsCancelled)}
)

func and(guards ...Guard) func(Machine, Event) bool {
	return func(m Machine, e Event) bool {
		for _, g := range guards {
			if !g.Holds(m, e) {
				return false
			}
		}
		return true
	}
}
