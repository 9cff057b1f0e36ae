package machine

import (
	"cmp"

	"github.com/turnstile-locks/turnstile/messages"
)

// Action is the named work of a row: it changes the machine and gives the effects.
type Action struct {
	Name string
	Run  func(*Machine, Event) Effects
}

// start begins a new operation, which makes the answers to all older ones stale.
func (m *Machine) start(do Do, node string) Effect {
	m.Op++
	return Effect{Do: do, Op: m.Op, Node: node, Ending: m.Ending != messages.StateNone}
}

// dropNode drops what is known of our node.
func (m *Machine) dropNode() {
	m.Node, m.Token, m.Predecessor = "", 0, ""
}

// adopt takes a node as ours.
func (m *Machine) adopt(e Event) { m.Node, m.Token = e.Node, e.Token }

// end remembers where releasing leads, and why.
func (m *Machine) end(as messages.State, why messages.Reason, detail string) {
	m.Ending, m.Reason, m.Detail = as, why, detail
}

// why is the event's reason, or the one that goes with its kind.
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
	NotCreated: messages.ReasonRefused,
	Refused:    messages.ReasonRefused,
	Expired:    messages.ReasonSessionExpired,
	LeaseOver:  messages.ReasonLeaseOver,
	Closed:     messages.ReasonSessionClosed,
}

func effect(only Effect) Effects { return Effects{[2]Effect{only}, 1} }

func effects(first, second Effect) Effects { return Effects{[2]Effect{first, second}, 2} }

var nothing = Action{"", func(*Machine, Event) Effects { return Effects{} }}

// Getting into the queue.
var (
	begin = Action{"create", func(m *Machine, _ Event) Effects {
		return effects(Effect{Do: StartTimeout}, m.start(Create, ""))
	}}
	create = Action{"create again", func(m *Machine, _ Event) Effects {
		m.dropNode()
		return effect(m.start(Create, ""))
	}}
	list = Action{"list", func(m *Machine, e Event) Effects {
		if e.Node != "" {
			m.adopt(e)
		}
		return effect(m.start(List, ""))
	}}
	watch = Action{"watch", func(m *Machine, e Event) Effects {
		if e.Node != "" {
			m.adopt(e)
		}
		m.Predecessor = e.Predecessor
		return effect(m.start(Watch, m.Predecessor))
	}}
	poll = Action{"poll", func(m *Machine, _ Event) Effects {
		return effect(Effect{Do: StartPoll, Op: m.Op})
	}}
)

// Having it.
var (
	grant = Action{"grant", func(m *Machine, e Event) Effects {
		if e.Node != "" {
			m.adopt(e)
		}
		m.Predecessor = ""
		return effects(Effect{Do: TellHeld}, m.start(WatchOwn, m.Node))
	}}
	watchOwn = Action{"read own node", func(m *Machine, _ Event) Effects {
		return effect(m.start(WatchOwn, m.Node))
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
		m.From = messages.StateNone
		return effects(Effect{Do: TellResumed}, m.start(WatchOwn, m.Node))
	}}
	lose = Action{"lose", func(m *Machine, e Event) Effects {
		m.end(messages.StateLost, why(e), e.Detail)
		return effect(Effect{Do: TellLost})
	}}
	loseAndCleanUp = Action{"lose, clean up", func(m *Machine, e Event) Effects {
		m.end(messages.StateLost, why(e), e.Detail)
		return effects(Effect{Do: TellLost}, Effect{Do: CleanUp})
	}}
	loseLate = Action{"lose, clean up", func(m *Machine, e Event) Effects {
		m.end(messages.StateLost, messages.ReasonLeaseOver, e.Detail)
		return effects(Effect{Do: TellLost}, Effect{Do: CleanUp})
	}}
)

// The connection is down, or an outcome unknown.
var (
	await = Action{"await connection", func(m *Machine, _ Event) Effects {
		m.recover()
		m.Op++ // what was under way is void
		return Effects{}
	}}
	suspend = Action{"suspend", func(m *Machine, _ Event) Effects {
		m.recover()
		m.Op++
		return effect(Effect{Do: TellSuspended})
	}}
	verify = Action{"verify", func(m *Machine, e Event) Effects {
		m.recover()
		if e.Node != "" {
			m.adopt(e)
		}
		return effect(m.start(Verify, m.Node))
	}}
	suspendVerify = Action{"suspend, verify", func(m *Machine, _ Event) Effects {
		m.recover()
		return effects(Effect{Do: TellSuspended}, m.start(Verify, m.Node))
	}}
	retry = Action{"retry", func(m *Machine, _ Event) Effects {
		return effect(Effect{Do: StartRetry, Op: m.Op})
	}}
)

// recover remembers where we came from, unless we are recovering already.
func (m *Machine) recover() {
	if m.State != messages.StateRecovering {
		m.From = m.State
	}
}

// Giving it back, or up.
var (
	withdraw = Action{"withdraw", func(m *Machine, e Event) Effects {
		m.end(messages.StateCancelled, why(e), e.Detail)
		return effect(Effect{Do: Withdraw, Op: m.Op})
	}}
	giveUp = Action{"give up, delete", func(m *Machine, e Event) Effects {
		m.end(messages.StateCancelled, why(e), e.Detail)
		return effect(m.start(Delete, m.Node))
	}}
	giveUpTrying = Action{"give up, delete", func(m *Machine, e Event) Effects {
		if e.Node != "" {
			m.adopt(e)
		}
		m.end(messages.StateCancelled, messages.ReasonNotAcquired, e.Detail)
		return effect(m.start(Delete, m.Node))
	}}
	giveUpVerify = Action{"give up, verify", func(m *Machine, e Event) Effects {
		m.end(messages.StateCancelled, why(e), e.Detail)
		return effect(m.start(Verify, m.Node))
	}}
	giveBack = Action{"give back, delete", func(m *Machine, e Event) Effects {
		m.end(messages.StateReleased, why(e), e.Detail)
		return effect(m.start(GiveBack, m.Node))
	}}
	giveBackVerify = Action{"give back, verify", func(m *Machine, e Event) Effects {
		m.end(messages.StateReleased, why(e), e.Detail)
		return effect(m.start(Verify, m.Node))
	}}
	force = Action{"force, delete", func(m *Machine, e Event) Effects {
		m.end(messages.StateReleased, why(e), e.Detail)
		return effects(Effect{Do: TellRevoked}, m.start(Delete, m.Node))
	}}
	forceVerify = Action{"force, verify", func(m *Machine, e Event) Effects {
		m.end(messages.StateReleased, why(e), e.Detail)
		return effects(Effect{Do: TellRevoked}, m.start(Verify, m.Node))
	}}
	failDelete = Action{"fail, delete", func(m *Machine, e Event) Effects {
		m.end(messages.StateFailed, why(e), e.Detail)
		return effect(m.start(Delete, m.Node))
	}}
	failExhausted = Action{"fail, delete", func(m *Machine, e Event) Effects {
		m.adopt(e)
		m.end(messages.StateFailed, cmp.Or(e.Reason, messages.ReasonSequenceExhausted), e.Detail)
		return effect(m.start(Delete, m.Node))
	}}
	remove = Action{"delete", func(m *Machine, e Event) Effects {
		m.adopt(e)
		return effect(m.start(Delete, m.Node))
	}}
)

// The end. A request that was ending already keeps the reason it was ending for.
var (
	tellReleased  = Action{"done", func(*Machine, Event) Effects { return effect(Effect{Do: TellReleased}) }}
	tellCancelled = Action{"done", func(*Machine, Event) Effects { return effect(Effect{Do: TellCancelled}) }}
	tellFailed    = Action{"done", func(*Machine, Event) Effects { return effect(Effect{Do: TellFailed}) }}

	notAcquired = Action{"give up", func(m *Machine, e Event) Effects {
		m.end(messages.StateCancelled, messages.ReasonNotAcquired, e.Detail)
		return effect(Effect{Do: TellCancelled})
	}}
	giveUpWaiting = Action{"give up", func(m *Machine, e Event) Effects {
		m.end(messages.StateCancelled, why(e), e.Detail)
		return effect(Effect{Do: TellCancelled})
	}}
	fail = Action{"fail", func(m *Machine, e Event) Effects {
		m.end(messages.StateFailed, why(e), e.Detail)
		return effect(Effect{Do: TellFailed})
	}}
	failCleanUp = Action{"fail, clean up", func(m *Machine, e Event) Effects {
		m.end(messages.StateFailed, why(e), e.Detail)
		return effects(Effect{Do: TellFailed}, Effect{Do: CleanUp})
	}}
)
