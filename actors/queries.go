package actors

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/actors/internal/carrier"
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// The session actor takes the queries of package messages from any actor. Package inspect answers
// them; the session lends it workers, timers, and what it knows of its own nodes.

func (s *session) newDispatcher() *inspect.Dispatcher {
	return inspect.NewDispatcher(inspect.Session{
		Run: func(work func(*zkconn.Conn) (then func())) {
			s.work(func(conn *zkconn.Conn, d *queryDone) { d.then = work(conn) })
		},
		After:   s.after,
		Unused:  s.unused,
		Cohorts: s.cohorts,
		Waiting: s.behind,
	})
}

// follow takes an actor that wants to know who contends for a lock.
func (s *session) follow(ctx actor.Context, path string) {
	asker := ctx.Sender()
	if asker != nil && s.queries.Follow(Address(s.system, messages.IDOf(asker)), path, s.replyTo(asker)) {
		ctx.Watch(asker)
	}
}

// replyTo gives the function that answers an actor; nil is nobody.
func (s *session) replyTo(asker *actor.PID) func(answer any) {
	return func(answer any) {
		if asker != nil {
			s.system.Root.Send(asker, answer)
		}
	}
}

// unused tells whether a node is one of this session with which nobody holds or waits any more.
func (s *session) unused(node messages.Contender) bool {
	return node.Session == s.info.session && s.decides.Unused(node.Path, node.Node)
}

// behind counts the requests that wait behind a node of this session without nodes.
func (s *session) behind(node messages.Contender) int {
	if node.Session != s.info.session {
		return 0
	}
	return s.decides.Waiting(node.Path, node.Node)
}

// cohorts gives the nodes of this session that are passed on in cohorts.
func (s *session) cohorts() (all []inspect.Cohort) {
	for k := range s.decides.Cohorts {
		cohort := inspect.Cohort{Has: s.contender(k.Has, k.Node)}
		cohort.Has.Waiting = len(k.Waiting)
		for _, sp := range k.Waiting {
			waits := s.contender(sp, "")
			waits.WaitsFor = []string{k.Node}
			cohort.Waiting = append(cohort.Waiting, waits)
		}
		all = append(all, cohort)
	}
	return all
}

// contender describes a request of this session, as package inspect does by what its node says.
func (s *session) contender(sp *coordinator.Spec, node string) messages.Contender {
	c := messages.Contender{Path: sp.Path, Node: node, Mode: sp.Style.Mode, Name: sp.Style.Name, Session: s.info.session,
		Library: messages.LibraryTurnstile, ID: sp.GUID}
	carrier.OwnerOf(sp).Describe(&c)
	return c
}
