package machine

import (
	"cmp"

	"github.com/turnstile-locks/turnstile/messages"
)

// Action is a step of a transition.
type Action struct {
	Name string
	Run  func(*Machine, Event) Effects
}

// because gives the action with the reason that an event means there which names none.
func (a Action) because(reason messages.Reason) Action {
	return Action{a.Name, func(m *Machine, e Event) Effects {
		e.Reason = cmp.Or(e.Reason, reason)
		return a.Run(m, e)
	}}
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

func starts(name string, timer Do) Action {
	return Action{name, func(m *Machine, _ Event) Effects { return effects(Effect{Do: timer, Op: m.Op}) }}
}

func ends(name string, as messages.State, all ...Effect) Action {
	return Action{name, func(m *Machine, e Event) Effects {
		m.end(as, why(e), e.Detail)
		return effects(all...)
	}}
}

func leaves(name string, as messages.State, do Do) Action {
	return Action{name, func(m *Machine, e Event) Effects {
		m.adopt(e)
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
		m.adopt(e)
		return effects(m.start(List, ""))
	}}
	watch = Action{"watch", func(m *Machine, e Event) Effects {
		m.adopt(e)
		m.Predecessor = e.Predecessor
		return effects(m.start(Watch, m.Predecessor))
	}}
	watchCounted = Action{"tell Waiting, watch", func(m *Machine, e Event) Effects {
		m.Counted, m.Predecessor = true, e.Predecessor
		return effects(Effect{Do: TellWaiting}, m.start(Watch, m.Predecessor))
	}}
	poll = starts("poll", StartPoll)
)

var (
	grant = Action{"grant", func(m *Machine, e Event) Effects {
		m.adopt(e)
		m.Predecessor, m.Unwatched = "", m.Want.TellMore
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
		m.From, m.Unwatched = messages.StateNone, m.Want.TellMore
		return effects(Effect{Do: TellResumed}, m.start(WatchOwn, m.Node))
	}}
	lose           = ends("lose", messages.StateLost, Effect{Do: TellLost})
	loseAndCleanUp = ends("lose, clean up", messages.StateLost, Effect{Do: TellLost}, Effect{Do: CleanUp})
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
		m.adopt(e)
		return effects(m.start(Verify, m.Node))
	}}
	suspendVerify = Action{"suspend, verify", func(m *Machine, _ Event) Effects {
		m.recover()
		return effects(Effect{Do: TellSuspended}, m.start(Verify, m.Node))
	}}
	retry = starts("retry", StartRetry)
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
	remove         = Action{"delete", func(m *Machine, e Event) Effects {
		m.adopt(e)
		return effects(m.start(Delete, m.Node))
	}}
)

// The end. A request that was ending already keeps its reason.
var (
	tellReleased  = tells("done", TellReleased)
	tellCancelled = tells("done", TellCancelled)
	tellFailed    = tells("done", TellFailed)

	giveUpWaiting = ends("give up", messages.StateCancelled, Effect{Do: TellCancelled})
	fail          = ends("fail", messages.StateFailed, Effect{Do: TellFailed})
	failCleanUp   = ends("fail, clean up", messages.StateFailed, Effect{Do: TellFailed}, Effect{Do: CleanUp})
)
