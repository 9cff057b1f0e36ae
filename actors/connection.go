package actors

import (
	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/metering"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// open begins an epoch.
func (s *session) open(epoch uint64) {
	s.connected = false
	root, self := s.system.Root, s.self
	conn, err := zkconn.Dial(s.cfg, epoch, func(ev zkconn.Event) { root.Send(self, ev) })
	if err != nil {
		s.setLease(&lease{epoch: epoch, clock: zkconn.NewLeaseClock(nil)})
		s.fail(err)
		return
	}
	s.setLease(&lease{epoch: epoch, timeout: s.cfg.SessionTimeout(), clock: conn.Lease()})
	s.leaseRun, _ = s.lease.look()
	s.link = conn
	s.conn.Store(conn)
	s.figures.Turned(metering.Connecting)
}

func (s *session) setLease(l *lease) {
	s.lease = l
	s.current.Store(l)
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
		s.endEpoch()
	case zkconn.AuthFailed:
		s.log.Error("authentication refused", s.logged(logkeys.Server, ev.Server, logkeys.Error, ev.Err)...)
		err := ev.Err
		if err == nil {
			err = zkconn.ErrAuthFailed
		}
		s.fail(err)
	default:
		s.nodeEvent(ev)
	}
}

func (s *session) up(ev zkconn.Event) {
	s.connected = true
	s.figures.Turned(metering.Connected)
	s.setLease(&lease{epoch: s.lease.epoch, session: ev.SessionID, timeout: ev.Timeout, clock: s.lease.clock})
	s.log.Info("session connected", s.logged(logkeys.Server, ev.Server, logkeys.Timeout, ev.Timeout)...)
	s.beatAnew() // first: thousands of requests may have waited for the connection, and the lease may be about to end
	s.recordSession(ev)
	s.tellAll(machine.Connected)
	orders := s.parked
	s.parked, s.grantedWhileDown = nil, false
	for _, p := range orders {
		if !p.contender.gone {
			s.carryOut(p.contender, p.effect)
		}
	}
	s.settleAgain()
	s.startBeating()
	s.queries.Connected()
}

func (s *session) down(ev zkconn.Event) {
	s.connected = false
	s.queries.Disconnected()
	s.figures.Down()
	s.log.Warn("session disconnected", s.logged(logkeys.Server, ev.Server, logkeys.Error, ev.Err)...)
	// The server forgets our watches with the connection, and nobody sets them again but the lock
	// actors, once each has found out where it stands.
	clear(s.watches)
	clear(s.listings)
	s.wakeAll()
	for _, c := range s.contenders {
		c.movedUp = false // what was under way may not have arrived
	}
	s.tellAll(machine.Disconnected)
	s.watchLeaseAgain()
}

// endEpoch ends an epoch and begins the next: every node of it is gone, or goes with the connection
// that is closed, and nothing of it may be believed any more.
func (s *session) endEpoch() {
	if s.connected {
		// Package machine is promised this order. The reason is for holders who find first that their lease is over.
		s.tellEach(machine.Event{Kind: machine.Disconnected, Reason: messages.ReasonSessionExpired})
	}
	s.lease.clock.End()
	s.parked = nil
	clear(s.watches)
	clear(s.listings)
	clear(s.newest)
	clear(s.nodes)
	s.gathered, s.underway = nil, 0
	clear(s.learning)
	clear(s.abroad)
	clear(s.joining)
	clear(s.turns)
	s.home = nil
	clear(s.resting)
	s.unread = nil
	clear(s.claims)
	s.queries.EpochEnded()
	clear(s.shares)
	s.stopTimers()
	s.held, s.grantedWhileDown = 0, false
	for key, c := range s.contenders {
		c.reset()
		if c.gone {
			s.retire(c)
			delete(s.contenders, key)
		}
	}
	old := s.link
	report := s.reportRemaining()
	s.running.Go(func() { report(old.Close()) })
	s.open(s.lease.epoch + 1)
	s.tellAll(machine.Expired) // with the new epoch: what is decided on it belongs there
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
	s.tellAll(machine.Closed) // before the clock ends: it says more than that a lease is over
	s.lease.clock.End()
	s.queries.Close()
	s.figures.Turned(metering.None)
}

// closeDown closes the connection, which ends every request, and waits for them elsewhere: an actor
// does not block.
func (s *session) closeDown() {
	s.roll.dismiss(s.system.Root)
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
	log, args := s.log, s.logged(logkeys.Timeout, s.lease.timeout)
	return func(err error) {
		if err != nil {
			log.Warn("session not closed at the servers: it ends when it expires", append(args, logkeys.Error, err)...)
		}
	}
}

func (s *session) stopTimers() {
	for timer := range s.timers {
		timer.Stop()
	}
	clear(s.timers)
	s.beating, s.watchingLease = false, false
}
