package walk

import (
	"fmt"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
)

// A session on which no lease may rest any more, because its chain of evidence is broken: see
// package zkconn. The servers may end it at any moment from then on, even though they still commit
// its transactions. Its client gives it up once a request wants a lease, and its nodes stay at the
// servers until they end it. The requests make others in the next epoch.

func isProved(s *session) bool { return s.served == alive && !s.lapsed && !s.closed }

// breakChain: the session lapses.
func (w *world) breakChain(s int) {
	sess := &w.sessions[s]
	sess.lapsed = true
	if !w.plan.Mistake.Outlasts {
		sess.lease = false
		sess.term++
	}
	w.tell(s, coordinator.Lapsed{})
}

// mayGiveUp reports whether a session that has lapsed may be given up while requests want a lease, or none does.
func mayGiveUp(wanted bool) func(w *world, s int) ways {
	return func(w *world, s int) ways {
		sess := &w.sessions[s]
		return once(sess.lapsed && !sess.closed && sess.decides.Wanted() == wanted)
	}
}

// giveUp ends the epoch.
func (w *world) giveUp(s int) { w.tell(s, coordinator.Expired{}) }

// forsake: the client has given up a session that lives on.
func (w *world) forsake(s int) {
	w.unwatch(s)
	sess := &w.sessions[s]
	for i := range sess.flights {
		if f := &sess.flights[i]; sess.link != unlinked && !f.applied && f.stage == 0 && changes(f.query) {
			sess.sent = with(sess.sent, sent{f.query, w.epoch(s) - 1})
		}
	}
	for i := range w.servers.nodes {
		if n := &w.servers.nodes[i]; n.session == s && n.epoch != earlier && !n.doomed {
			n.forsaken = true
		}
	}
}

// sent is a query of an epoch that is over.
type sent struct {
	query coordinator.Query
	epoch uint64
}

// changes reports whether a query makes nodes.
func changes(query coordinator.Query) bool {
	switch query.(type) {
	case *coordinator.Create, *coordinator.CreateAt, *coordinator.Commit:
		return true
	}
	return false
}

func canCarryOutLate(w *world, s int) (all ways) {
	for at := range w.sessions[s].sent {
		all |= 1 << at
	}
	return all
}

func sentQuery(w *world, s, at int) string {
	return fmt.Sprintf("%T", w.sessions[s].sent[at].query)[len("*coordinator."):]
}

// serveLate: the servers carry out what a session had sent before it was given up. Nobody hears the answer.
func (w *world) serveLate(s, at int) {
	late := w.sessions[s].sent[at]
	w.sessions[s].sent = but(w.sessions[s].sent, at)
	switch q := late.query.(type) {
	case *coordinator.Create:
		if q.Spec.One == "" || w.servers.at(q.Spec.One) < 0 {
			w.makeLate(s, late.epoch, q.Spec, "")
		}
	case *coordinator.CreateAt:
		if q.Beside == "" || w.servers.at(q.Beside) >= 0 {
			w.makeLate(s, late.epoch, q.Spec, q.Name)
		}
	case *coordinator.Commit:
		for _, path := range slices.Concat(q.Exist, q.Deletes) {
			if w.servers.at(base(path)) < 0 {
				return
			}
		}
		for _, path := range q.Deletes {
			w.deleteOwn(base(path))
		}
		for _, n := range q.Creates {
			w.makeLate(s, late.epoch, n.Spec, "")
		}
	}
}

func (w *world) makeLate(s int, epoch uint64, spec *coordinator.Spec, name string) {
	w.servers.zxid++
	at := w.servers.at(w.makeNode(s, spec, name).Name)
	n := w.servers.nodes[at]
	n.epoch, n.forsaken = epoch, true
	w.servers.nodes = replace(w.servers.nodes, at, n)
	w.childrenChanged(n.path)
}

func hasForsaken(w *world, s int) ways {
	return once(len(w.sessions[s].sent) > 0 || slices.ContainsFunc(w.servers.nodes, func(n node) bool { return n.forsaken && n.session == s }))
}

// endForsaken: the servers end a session that was given up, because its client closes it, or because it expires.
func (w *world) endForsaken(s int) {
	w.sessions[s].sent = nil
	for _, n := range w.servers.nodes {
		if n.forsaken && n.session == s {
			w.deleteNode(n.name)
		}
	}
}
