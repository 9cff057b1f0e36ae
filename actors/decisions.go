package actors

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/carrier"
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// apply gives the coordinator an input: a reply with the time that its query took.
func (s *session) apply(in coordinator.Input, took time.Duration) {
	term, valid, left := s.info.clock.Remaining()
	at := coordinator.At{Moment: s.figures.Now(), Took: took,
		Lease: coordinator.Lease{Term: term, Valid: valid, Left: left}}
	for _, out := range s.decides.Apply(in, at) {
		s.perform(out)
	}
	s.noteCounts(s.decides.Counts())
}

func (s *session) perform(out coordinator.Output) {
	switch out := out.(type) {
	case *coordinator.Trouble:
		s.inTrouble(out)
	case *coordinator.Tell:
		switch ev := &out.Event; {
		case ev.Kind == machine.Created:
			s.troubles.carriedOut()
		case ev.Kind == machine.NotCreated && ev.Reason == messages.ReasonLocalSession:
			s.troubles.note(ofSession, string(ev.Reason)+", and cannot have a node")
		}
		if lock := s.registry.find(out.To); lock != nil {
			out.Session = s.info
			if p := out.Predecessor; p != nil && p.Spec != nil {
				p.Session = s.info.session
			}
			s.system.Root.Send(lock, (*lockEvent)(out))
		}
	case *coordinator.Ask:
		s.ask(out)
	case coordinator.StartTimer:
		root, self, due := s.system.Root, s.self, &timerFired{epoch: s.info.epoch, timer: out.Timer}
		s.timers[out.Timer] = time.AfterFunc(out.After, func() { root.Send(self, due) })
	case coordinator.StopTimer:
		s.timers[out.Timer].Stop()
		delete(s.timers, out.Timer)
	case coordinator.NewEpoch:
		s.endEpoch(out.Epoch)
	case *coordinator.Note:
		s.note(out)
	}
}

func (s *session) ask(ask *coordinator.Ask) {
	together := 0
	switch q := ask.Query.(type) {
	case *coordinator.Create:
		together = 1
	case *coordinator.Commit:
		together = len(q.Creates) + len(q.Deletes)
	}
	if together > 0 {
		s.figures.Add("turnstile.session.batches", 1)
		s.figures.Add("turnstile.session.batch.size", together)
	}
	file := s.file
	s.work(func(conn *zkconn.Conn, d *queryDone) {
		carry := carrier.Carrier{Conn: conn, File: file, Wanted: s.registry.wanted}
		d.reply = coordinator.Reply{ID: ask.ID, Answer: carry.CarryOut(ask.Query)}
	})
}

func (s *session) note(n *coordinator.Note) {
	of := s.logged(logkeys.Path, n.Path, logkeys.Node, n.Node, logkeys.Token, n.Token)
	switch n.What {
	case coordinator.Unanswered:
		s.interrupted(metering.CauseSilent)
		s.become(Unanswered, "", s.link.Silence())
		s.log.Warn("heartbeat unanswered", s.logged()...)
	case coordinator.NotRemoved:
		s.log.Warn("node of an ended request could not be deleted yet", append(of, logkeys.Tries, n.Tries, logkeys.Error, n.Detail)...)
	case coordinator.Unowned:
		s.unowned.Add(1)
		s.log.Warn("node of this session that no request owned was removed", of...)
	case coordinator.MayNotRemove:
		// We may create here but not delete: the node would keep everybody out while the session
		// lives.
		s.log.Error("not permitted to delete a node: ending the session instead", of...)
	case coordinator.Polled:
		s.warnOfPoll(n.Path, n.Node)
	case coordinator.Unannounced:
		s.log.Info("a semaphore's waiter found by looking again that it may hold: a contender before it has not said that "+
			"it holds; its process died or stalls, or may not write its node", of...)
	default:
		s.log.Error("unknown order", append(of, logkeys.Effect, n.Detail)...)
	}
}

func (s *session) interrupted(cause string) {
	s.figures.Add("turnstile.session.interruptions", 1, metering.KeyCause.String(cause))
}

func (s *session) inTrouble(what *coordinator.Trouble) {
	s.troubles.note(what.To, what.Text)
	if lock := s.registry.find(what.To); lock != nil {
		s.system.Root.Send(lock, &troubled{text: what.Text})
	}
	if what.Text != "" {
		s.log.Warn("a request is not carried out", s.logged(logkeys.Path, what.Path, logkeys.Error, what.Text)...)
	}
}
