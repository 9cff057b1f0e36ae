package simulation

import (
	"testing/synctest"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// actions on the servers

// strike does something to one replica.
func strike(what string, do func(*embedded.Replica) error) func(*world, action) bool {
	return func(w *world, a action) bool {
		number := pick(a.a, w.plan.replicas)
		w.history.note("s%d %s", number, what)
		return do(w.server.Replica(number)) == nil
	}
}

// strikeAll does something to all replicas.
func strikeAll(what string, do func(*embedded.Replica) error) func(*world, action) bool {
	return func(w *world, _ action) bool {
		w.history.note("all replicas %s", what)
		for _, r := range w.server.Replicas() {
			_ = do(r)
		}
		return true
	}
}

// always is for what cannot fail.
func always(do func(*embedded.Replica)) func(*embedded.Replica) error {
	return func(r *embedded.Replica) error { do(r); return nil }
}

// tooEarly is the part of the granted session timeout that a session may be ended before its time. The servers' own rule is
// that it ends at the first tick after it; but their clock may run faster than the client's.
const tooEarly = 0.08

// expire has nothing pass until the session of a client may be ended, and ends it.
func (w *world) expire(a action) bool {
	c := w.clients[pick(a.a, len(w.clients))]
	if w.plan.early {
		return w.end(c)
	}
	w.history.note("nothing passes until the session of c%d may be ended", c.number)
	w.untilDue(c, a, time.Sleep)
	return w.end(c)
}

// silenceAndExpire keeps all that a client sends, and the client from connecting, until its session may
// be ended, and ends it. The client does not hear of that; others do.
func (w *world) silenceAndExpire(a action) bool {
	c := w.clients[pick(a.a, len(w.clients))]
	w.history.note("c%d is not heard of", c.number)
	for _, l := range w.net.open() {
		if l.client == c.number {
			w.net.stall(l, up)
			w.net.stall(l, down)
		}
	}
	if w.plan.early { // the client connects again, and has a lease
		w.flow(c.timeout * time.Duration(80+a.b%40) / 100)
	} else {
		w.net.withhold(c.number, true)
		w.untilDue(c, a, w.flow)
	}
	done := w.end(c)
	w.flow(time.Duration(a.c%500) * time.Millisecond)
	w.net.withhold(c.number, false)
	return done
}

// untilDue lets time pass until the session of a client, which a server may touch meanwhile, is due within a part
// of its timeout.
func (w *world) untilDue(c *client, a action, pass func(time.Duration)) {
	part := tooEarly * float64(a.b>>8%100) / 100
	for until := time.Now().Add(2 * c.timeout); time.Now().Before(until); {
		early := w.early(c, part)
		if early <= 0 {
			return
		}
		pass(early)
		synctest.Wait()
		w.check()
	}
}

// early is how long it is until the session of a client is due within a part of its timeout; 0 for one that is
// over.
func (w *world) early(c *client, part float64) time.Duration {
	due, known := w.server.SessionDue(c.Session().ID())
	if !known {
		return 0
	}
	granted := min(c.timeout, c.Session().Timeout()) // a server may have granted less than was asked for
	return time.Until(due) - time.Duration(part*float64(granted))
}

// end ends the session of a client.
func (w *world) end(c *client) bool {
	id := c.Session().ID()
	due, known := w.server.SessionDue(id)
	if !known || w.server.Leader() == nil || w.early(c, tooEarly) > 0 && !w.plan.early {
		return false
	}
	w.history.note("server ends the session of c%d, %v before its time", c.number, time.Until(due))
	return w.server.Expire(id) == nil
}

// heal takes every fault away.
func (w *world) heal() {
	w.history.note("everything is healed")
	for _, r := range w.server.Replicas() {
		for _, other := range w.server.Replicas() {
			r.HealTo(other)
		}
		r.Resume()
		_ = r.Start()
		r.Rejoin()
		r.CatchUp()
	}
	w.net.withhold(0, false)
	w.net.restore()
}
