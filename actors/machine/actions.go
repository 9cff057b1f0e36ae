package machine

import (
	"cmp"

	"github.com/turnstile-locks/turnstile/messages"
)

// Condition is a condition of a transition.
type Condition struct {
	Name  string
	Holds func(Machine, Event) bool
}

var always = Condition{"", func(Machine, Event) bool { return true }}

var (
	exhausted  = Condition{"sequence exhausted", func(_ Machine, e Event) bool { return e.Exhausted }}
	trying     = Condition{"only trying", func(m Machine, _ Event) bool { return m.Try }}
	tryBehind  = Condition{"behind a node of ours, only trying", func(m Machine, e Event) bool { return m.Try && e.Predecessor != "" }}
	behindOurs = Condition{"behind a node of ours", func(_ Machine, e Event) bool { return e.Predecessor != "" }}
	missing    = Condition{"own node missing", func(_ Machine, e Event) bool { return e.Missing }}
	first      = Condition{"first, lease valid", func(_ Machine, e Event) bool { return e.First && e.Lease }}
	firstLate  = Condition{"first, lease over", func(_ Machine, e Event) bool { return e.First }}
	nodeless   = Condition{"no node", func(m Machine, _ Event) bool { return m.Node == "" }}
	unlock     = Condition{"asks for the lock", func(_ Machine, e Event) bool { return e.Unlock }}
	uncounted  = Condition{"Waiting is owed", func(m Machine, _ Event) bool { return m.TellMore && !m.Counted }}
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
	present        = Condition{"found", found.Holds}

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

// Action is a step of a transition.
type Action struct {
	Name string
	Run  func(*Machine, Event) Effects
}

func why(e Event) messages.Reason {
	return cmp.Or(e.Reason, usual[e.Kind])
}

var usual = map[Kind]messages.Reason{
	Release:    messages.ReasonReleased,
	Cancel:     messages.ReasonCancelled,
	Timeout:    messages.ReasonTimeout,
	GraceOver:  messages.ReasonRevoked,
	NodeGone:   messages.ReasonNodeDeleted,
	Found:      messages.ReasonNodeDeleted,
	Created:    messages.ReasonNotAcquired,
	Listed:     messages.ReasonNotAcquired,
	NodeTaken:  messages.ReasonNotAcquired,
	NotCreated: messages.ReasonRefused,
	Refused:    messages.ReasonRefused,
	Expired:    messages.ReasonSessionExpired,
	LeaseOver:  messages.ReasonLeaseOver,
	Closed:     messages.ReasonSessionClosed,
}

func effects(all ...Effect) (e Effects) {
	e.count = copy(e.list[:], all)
	return e
}

func tells(name string, notice Do) Action {
	return Action{name, func(*Machine, Event) Effects { return effects(Effect{Do: notice}) }}
}

// asks gives the action of a holder that asks about its node. It has no number.
func asks(name string, do Do) Action {
	return Action{name, func(m *Machine, _ Event) Effects { return effects(Effect{Do: do, Node: m.Node}) }}
}

func ends(name string, as messages.State, tell Do) Action {
	return Action{name, func(m *Machine, e Event) Effects {
		m.end(as, why(e), e.Detail)
		return effects(Effect{Do: tell})
	}}
}

func cleansUp(name string, as messages.State, tell Do) Action {
	return Action{name, func(m *Machine, e Event) Effects {
		m.end(as, why(e), e.Detail)
		return effects(Effect{Do: tell}, Effect{Do: CleanUp})
	}}
}

func leaves(name string, as messages.State, do Do) Action {
	return Action{name, func(m *Machine, e Event) Effects {
		if e.Node != "" {
			m.adopt(e)
		}
		m.end(as, why(e), e.Detail)
		return effects(m.start(do, m.Node))
	}}
}

func forces(name string, do Do) Action {
	return Action{name, func(m *Machine, e Event) Effects {
		m.end(messages.StateReleased, why(e), e.Detail)
		return effects(Effect{Do: TellRevoked}, m.start(do, m.Node))
	}}
}

var nothing = Action{"", func(*Machine, Event) Effects { return Effects{} }}

var (
	begin = Action{"create", func(m *Machine, _ Event) Effects {
		return effects(Effect{Do: StartTimeout}, m.start(Create, ""))
	}}
	create = Action{"create again", func(m *Machine, _ Event) Effects {
		m.dropNode()
		return effects(m.start(Create, ""))
	}}
	list = Action{"list", func(m *Machine, e Event) Effects {
		if e.Node != "" {
			m.adopt(e)
		}
		return effects(m.start(List, ""))
	}}
	watch = Action{"watch", func(m *Machine, e Event) Effects {
		if e.Node != "" {
			m.adopt(e)
		}
		m.Predecessor = e.Predecessor
		return effects(m.start(Watch, m.Predecessor))
	}}
	watchCounted = Action{"tell Waiting, watch", func(m *Machine, e Event) Effects {
		m.Counted, m.Predecessor = true, e.Predecessor
		return effects(Effect{Do: TellWaiting}, m.start(Watch, m.Predecessor))
	}}
	poll = Action{"poll", func(m *Machine, _ Event) Effects {
		return effects(Effect{Do: StartPoll, Op: m.Op})
	}}
)

var (
	grant = Action{"grant", func(m *Machine, e Event) Effects {
		if e.Node != "" {
			m.adopt(e)
		}
		m.Predecessor, m.Unwatched = "", m.TellMore
		// The session must know of the hold before what its owner asks for next.
		return effects(m.start(WatchOwn, m.Node), Effect{Do: TellHeld})
	}}
	tellWatched = Action{"tell Watched", func(m *Machine, _ Event) Effects {
		m.Unwatched = false
		return effects(Effect{Do: TellWatched})
	}}
	watchContention = asks("watch contention", WatchQueue)
	check           = asks("check", CheckOwn)
	tellContended   = tells("tell Contended", TellContended)
	tellChecked     = tells("tell Checked", TellChecked)
	watchOwn        = Action{"read own node", func(m *Machine, _ Event) Effects {
		return effects(m.start(WatchOwn, m.Node))
	}}
	requestRevoke = Action{"request revoke", func(*Machine, Event) Effects {
		return effects(Effect{Do: TellRevokeRequested}, Effect{Do: StartGrace})
	}}
	requestRevokeLater = Action{"request revoke", func(m *Machine, _ Event) Effects {
		m.From = messages.StateRevoking
		return effects(Effect{Do: TellRevokeRequested}, Effect{Do: StartGrace})
	}}
	resume = Action{"resume", func(m *Machine, e Event) Effects {
		m.adopt(e)
		m.From, m.Unwatched = messages.StateNone, m.TellMore
		return effects(Effect{Do: TellResumed}, m.start(WatchOwn, m.Node))
	}}
	lose           = ends("lose", messages.StateLost, TellLost)
	loseAndCleanUp = cleansUp("lose, clean up", messages.StateLost, TellLost)
	loseLate       = Action{"lose, clean up", func(m *Machine, e Event) Effects {
		m.end(messages.StateLost, messages.ReasonLeaseOver, e.Detail)
		return effects(Effect{Do: TellLost}, Effect{Do: CleanUp})
	}}
)

var (
	await = Action{"await connection", func(m *Machine, _ Event) Effects {
		m.recover()
		m.Op++ // it is void
		return Effects{}
	}}
	suspend = Action{"suspend", func(m *Machine, _ Event) Effects {
		m.recover()
		m.Op++
		return effects(Effect{Do: TellSuspended})
	}}
	verify = Action{"verify", func(m *Machine, e Event) Effects {
		m.recover()
		if e.Node != "" {
			m.adopt(e)
		}
		return effects(m.start(Verify, m.Node))
	}}
	suspendVerify = Action{"suspend, verify", func(m *Machine, _ Event) Effects {
		m.recover()
		return effects(Effect{Do: TellSuspended}, m.start(Verify, m.Node))
	}}
	retry = Action{"retry", func(m *Machine, _ Event) Effects {
		return effects(Effect{Do: StartRetry, Op: m.Op})
	}}
)

var (
	withdraw = Action{"withdraw", func(m *Machine, e Event) Effects {
		m.end(messages.StateCancelled, why(e), e.Detail)
		return effects(Effect{Do: Withdraw, Op: m.Op})
	}}
	giveUp         = leaves("give up, delete", messages.StateCancelled, Delete)
	giveUpVerify   = leaves("give up, verify", messages.StateCancelled, Verify)
	giveBack       = leaves("give back, delete", messages.StateReleased, GiveBack)
	giveBackVerify = leaves("give back, verify", messages.StateReleased, Verify)
	force          = forces("force, delete", Delete)
	forceVerify    = forces("force, verify", Verify)
	failDelete     = leaves("fail, delete", messages.StateFailed, Delete)
	failExhausted  = Action{"fail, delete", func(m *Machine, e Event) Effects {
		m.adopt(e)
		m.end(messages.StateFailed, cmp.Or(e.Reason, messages.ReasonSequenceExhausted), e.Detail)
		return effects(m.start(Delete, m.Node))
	}}
	remove = Action{"delete", func(m *Machine, e Event) Effects {
		m.adopt(e)
		return effects(m.start(Delete, m.Node))
	}}
)

// The end. A request that was ending already keeps its reason.
var (
	tellReleased  = tells("done", TellReleased)
	tellCancelled = tells("done", TellCancelled)
	tellFailed    = tells("done", TellFailed)

	giveUpWaiting = ends("give up", messages.StateCancelled, TellCancelled)
	fail          = ends("fail", messages.StateFailed, TellFailed)
	failCleanUp   = cleansUp("fail, clean up", messages.StateFailed, TellFailed)
)
