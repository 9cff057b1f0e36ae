package actors

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/internal/carrier"
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// work does something on a goroutine and brings what it puts into done back to the actor. It must touch nothing of the
// actor's. A panic is the actor's to fail, not the program's.
func (s *session) work(do func(*zkconn.Conn, *queryDone)) {
	root, self, conn, d := s.system.Root, s.self, s.link, &queryDone{epoch: s.info.epoch}
	s.running.Add(1)
	s.workers.Do(func() {
		begun := time.Now()
		defer s.running.Done()
		defer func() {
			d.panicked = recover()
			d.took = time.Since(begun)
			root.Send(self, d)
		}()
		do(conn, d)
	})
}

// ask carries out a query of the coordinator.
func (s *session) ask(ask *coordinator.Ask) {
	s.countBatch(ask.Query)
	file := s.file
	s.work(func(conn *zkconn.Conn, d *queryDone) {
		carry := carrier.Carrier{Conn: conn, File: file}
		d.reply = coordinator.Reply{ID: ask.ID, Answer: carry.CarryOut(ask.Query)}
	})
}

// countBatch counts the operations of a transaction.
func (s *session) countBatch(query coordinator.Query) {
	switch q := query.(type) {
	case *coordinator.Create:
		s.figures.Batch(1)
	case *coordinator.Commit:
		s.figures.Batch(len(q.Creates) + len(q.Deletes))
	}
}

// after does the dispatcher's work on the actor once d has passed, unless the epoch is over by then.
func (s *session) after(d time.Duration, do func()) {
	root, self, epoch := s.system.Root, s.self, s.info.epoch
	var timer *time.Timer
	fire := func() { delete(s.pauses, timer); do() }
	timer = time.AfterFunc(d, func() { root.Send(self, &queryDone{epoch: epoch, then: fire}) })
	s.pauses[timer] = struct{}{}
}
