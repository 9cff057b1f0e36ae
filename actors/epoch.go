package actors

import (
	"context"
	"errors"
	"path"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

func (s *session) open(epoch uint64) {
	s.become(Connecting, "", s.silence())
	root, self := s.system.Root, s.self
	conn, err := zkconn.Dial(s.cfg, epoch, func(ev zkconn.Event) { root.Send(self, &connectionEvent{Event: ev}) })
	if err != nil {
		s.setInfo(&sessionInfo{epoch: epoch, clock: zkconn.NewLeaseClock(nil)})
		s.fail(err)
		return
	}
	s.setInfo(&sessionInfo{epoch: epoch, timeout: s.cfg.SessionTimeout(), clock: conn.Lease()})
	s.link = conn
	s.conn.Store(conn)
	s.after(s.info.timeout, s.dropWatches)
}

// dropWatches has the servers forget unwanted watches, once in a session timeout: watches that are
// about to fire cost no requests. A wanted watch is known here before its read is sent.
func (s *session) dropWatches() {
	if s.ending {
		return
	}
	followed := s.queries.Followed()
	remove := s.link.DropWatches(func(of string, children bool) bool {
		return followed[of] || !children && followed[path.Dir(of)] || s.decides.Awaits(of, children)
	})
	again := func() { s.after(s.info.timeout, s.dropWatches) }
	if remove == nil {
		again()
		return
	}
	s.work(func(_ *zkconn.Conn, d *queryDone) {
		remove()
		d.then = again
	})
}

// recordSession puts a session into the file, on a goroutine, and then tells that it is ready.
func (s *session) recordSession(ev zkconn.Event) {
	ready := func() { s.readyOnce.Do(func() { close(s.ready) }) }
	if s.file == nil {
		ready()
		return
	}
	link := s.link
	s.running.Go(func() {
		s.file.Record(ev.Epoch, ev.SessionID, link.SessionPassword(), ev.Timeout)
		if s.Err() == nil { // which would have ended the wait
			ready()
		}
	})
}

// endEpoch ends an epoch and begins the next: its nodes are gone, or go with the closed connection.
// Where a gateway may have promised leases, the session is left to expire.
func (s *session) endEpoch(next uint64) {
	promised := s.closing.some() && s.mayBePromised()
	s.info.clock.End()
	clear(s.others)
	s.queries.EpochEnded()
	s.stopTimers()
	s.lapse.stop()
	s.counts.Busy, s.counts.Urgent = false, false // tell the next connection
	s.troubles.note(ofSession, "")
	old, report := s.link, s.reportRemaining()
	s.running.Go(func() {
		if promised {
			report(old.Abandon())
			return
		}
		err := old.Close()
		if errors.Is(err, zkconn.ErrSessionRemains) {
			err = s.closeRemaining(old, err)
		}
		report(err)
	})
	s.open(next)
}

// mayBePromised reports whether promised leases may still run: a server that hands out another
// session ends the lease clock at once, but the servers may keep ours for as long as was promised.
func (s *session) mayBePromised() bool {
	return s.info.clock.Valid() || !s.link.Ended() && !s.lapse.lapsed
}

// closeRemaining makes one more attempt to end a session that could not be closed: its nodes would
// keep others out until it expires. A failed attempt prolongs the session, so it first waits for a
// later session to connect, for a session timeout at most. It gives why the session remains.
func (s *session) closeRemaining(old *zkconn.Conn, why error) error {
	for {
		now, changed := s.Connection()
		if now.Phase == Closed {
			return why
		}
		if now.Epoch > old.Epoch() && now.Phase == Connected {
			break
		}
		select {
		case <-changed:
		case <-s.stopped:
			return why
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), old.SessionTimeout())
	defer cancel()
	s.running.Go(func() {
		select {
		case <-s.stopped:
			cancel()
		case <-ctx.Done():
		}
	})
	return old.CloseRemaining(ctx)
}

func (s *session) fail(err error) {
	s.system.Root.Stop(s.self)
	s.end(err)
}

func (s *session) end(err error) {
	if s.ending {
		return
	}
	s.ending = true
	s.failure.Store(&err)
	s.become(Closed, "", s.silence())
	s.stopTimers()
	s.lapse.stop()
	for _, lock := range s.registry.all() {
		s.tellClosed(lock) // before the clock ends: it says more than that a lease is over
	}
	s.info.clock.End()
	s.queries.Close()
	left := s.counts
	left.Weight = 0
	s.noteCounts(left)
}

func (s *session) tellClosed(lock *actor.PID) {
	s.system.Root.Send(lock, &lockEvent{Event: machine.Event{Kind: machine.Closed}, Session: s.info})
}

// closeDown closes the connection, which ends every request, and waits for them on a goroutine.
func (s *session) closeDown() {
	s.registry.close(s.system.Root)
	close(s.stopped)
	s.workers.End()
	link, self, report := s.link, s.self, s.reportRemaining()
	until := s.farewell
	s.file.Stop()
	go func() {
		if link != nil {
			s.closed = link.CloseBy(until)
			report(s.closed)
		}
		s.running.Wait()
		s.letGo(self)
		s.figures.End()
		s.file.Close(link == nil || link.Ended())
		close(s.ended)
	}()
}

func (s *session) reportRemaining() func(error) {
	log, args := s.log, s.logged(logkeys.Timeout, s.info.timeout)
	return func(err error) {
		if err != nil {
			log.Warn("session not closed at the servers: it ends when it expires", append(args, logkeys.Error, err)...)
		}
	}
}
