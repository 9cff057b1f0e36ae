package actors

import (
	"maps"
	"slices"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// open begins an epoch.
func (s *session) open(epoch uint64) {
	root, self := s.system.Root, s.self
	conn, err := zkconn.Dial(s.cfg, epoch, func(ev zkconn.Event) { root.Send(self, ev) })
	if err != nil {
		s.setInfo(&sessionInfo{epoch: epoch, clock: zkconn.NewLeaseClock(nil)})
		s.fail(err)
		return
	}
	s.setInfo(&sessionInfo{epoch: epoch, timeout: s.cfg.SessionTimeout(), clock: conn.Lease()})
	s.link = conn
	s.conn.Store(conn)
	s.figures.Turned(metering.Connecting)
}

func (s *session) setInfo(info *sessionInfo) {
	s.info = info
	s.current.Store(info)
}

// happened takes news of the connection or of a watched node.
func (s *session) happened(ev zkconn.Event) {
	switch ev.Kind {
	case zkconn.Connected:
		s.up(ev)
	case zkconn.Disconnected:
		s.down(ev)
	case zkconn.Expired:
		s.figures.Expired()
		s.log.Warn("session expired", s.logged()...)
		s.apply(coordinator.Expired{})
	case zkconn.AuthFailed:
		s.log.Error("authentication refused", s.logged(logkeys.Server, ev.Server, logkeys.Error, ev.Err)...)
		err := ev.Err
		if err == nil {
			err = zkconn.ErrAuthFailed
		}
		s.fail(err)
	default:
		s.changed(ev)
	}
}

// changed takes an event of something that is watched.
func (s *session) changed(ev zkconn.Event) {
	change := coordinator.Changed{Path: ev.Path}
	switch ev.Kind {
	case zkconn.NodeDataChanged:
		change.Change = coordinator.DataChanged
	case zkconn.NodeChildrenChanged:
		change.Change = coordinator.ChildrenChanged
	}
	if ev.Kind != zkconn.NodeDataChanged {
		s.queries.Changed(ev.Path)
	}
	s.apply(change)
}

func (s *session) up(ev zkconn.Event) {
	s.figures.Turned(metering.Connected)
	s.setInfo(&sessionInfo{epoch: s.info.epoch, session: ev.SessionID, timeout: ev.Timeout, clock: s.info.clock})
	s.log.Info("session connected", s.logged(logkeys.Server, ev.Server, logkeys.Timeout, ev.Timeout)...)
	s.recordSession(ev)
	s.apply(coordinator.Connected{Timeout: ev.Timeout})
	s.queries.Connected()
}

func (s *session) down(ev zkconn.Event) {
	s.queries.Disconnected()
	s.figures.Down()
	s.log.Warn("session disconnected", s.logged(logkeys.Server, ev.Server, logkeys.Error, ev.Err)...)
	s.apply(coordinator.Disconnected{})
}

// endEpoch ends an epoch and begins the next: every node of it is gone, or goes with the connection that is
// closed.
func (s *session) endEpoch(next uint64) {
	s.info.clock.End()
	s.queries.EpochEnded()
	s.stopTimers()
	old, report := s.link, s.reportRemaining()
	s.running.Go(func() { report(old.Close()) })
	s.open(next)
}

// fail ends the session for good.
func (s *session) fail(err error) {
	s.system.Root.Stop(s.self)
	s.end(err)
}

// end tells everybody that the session is over. It is called once or more.
func (s *session) end(err error) {
	if s.ending {
		return
	}
	s.ending = true
	s.failure.Store(&err)
	s.stopTimers()
	s.tellClosed() // before the clock ends: it says more than that a lease is over
	s.info.clock.End()
	s.queries.Close()
	s.figures.Turned(metering.None)
}

// tellClosed tells all lock actors that the session has ended, in the order in which they came.
func (s *session) tellClosed() {
	for _, id := range slices.Sorted(maps.Keys(s.locks)) {
		s.system.Root.Send(s.locks[id], &news{Event: machine.Event{Kind: machine.Closed}, Session: s.info})
	}
}

// closeDown closes the connection, which ends every request, and waits for them elsewhere: an actor
// does not block.
func (s *session) closeDown() {
	s.registry.close(s.system.Root)
	close(s.stopped)
	s.workers.end()
	link, self, report := s.link, s.self, s.reportRemaining()
	s.file.Stop()
	go func() {
		if link != nil {
			s.closed = link.Close()
			report(s.closed)
		}
		s.running.Wait()
		s.letGo(self)
		s.figures.End()
		s.file.Close(link == nil || link.Ended())
		close(s.ended)
	}()
}

// reportRemaining gives the function that logs when a session could not be closed. It may be called
// elsewhere.
func (s *session) reportRemaining() func(error) {
	log, args := s.log, s.logged(logkeys.Timeout, s.info.timeout)
	return func(err error) {
		if err != nil {
			log.Warn("session not closed at the servers: it ends when it expires", append(args, logkeys.Error, err)...)
		}
	}
}

func (s *session) stopTimers() {
	for _, timer := range s.timers {
		timer.Stop()
	}
	for timer := range s.pauses {
		timer.Stop()
	}
	clear(s.timers)
	clear(s.pauses)
}

// note writes into the log what the coordinator says.
func (s *session) note(n *coordinator.Note) {
	of := s.logged(logkeys.Path, n.Path, logkeys.Node, n.Node, logkeys.Token, n.Token)
	switch n.What {
	case coordinator.Unanswered:
		s.figures.Silent()
		s.log.Warn("heartbeat unanswered", s.logged()...)
	case coordinator.NotRemoved:
		s.log.Warn("node of an ended request could not be deleted yet", append(of, logkeys.Tries, n.Tries, logkeys.Error, n.Detail)...)
	case coordinator.MayNotRemove:
		// We may create here but not delete. The node would keep everybody out for as long as the session
		// lives, so the session must not.
		s.log.Error("not permitted to delete a node: the session is ended for it", of...)
	default:
		s.log.Error("order that is no request", append(of, logkeys.Effect, n.Detail)...)
	}
}
