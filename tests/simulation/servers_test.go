package simulation

import (
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// actions on the servers

func (w *world) replica(a action) *embedded.Replica {
	return w.server.Replica(pick(a.a, w.plan.replicas))
}

// tooEarly is the part of the granted session timeout that a session may be ended before its time. The servers' own rule is
// that it ends at the first tick after it; but their clock may run faster than the client's.
const tooEarly = 0.08

// expire ends a session where that is early enough for a client to have to bear it.
func (w *world) expire(a action) bool { return w.end(w.clients[pick(a.a, len(w.clients))]) }

// silenceAndExpire keeps all that a client sends, for as long as it takes until its session may be ended, and
// ends it. The client does not hear of that.
func (w *world) silenceAndExpire(a action) bool {
	c := w.clients[pick(a.a, len(w.clients))]
	w.history.note("c%d is not heard of", c.number)
	for _, l := range w.net.open() {
		if l.client == c.number {
			w.net.stall(l, up)
			w.net.stall(l, down)
		}
	}
	w.flow(c.timeout * time.Duration(80+a.b%40) / 100)
	done := w.end(c)
	w.flow(time.Duration(a.c%500) * time.Millisecond)
	return done
}

// end ends the session of a client.
func (w *world) end(c *client) bool {
	id := c.Session().ID()
	due, known := w.server.SessionDue(id)
	granted := min(c.timeout, c.Session().Timeout()) // a server may have granted less than was asked for
	early := float64(time.Until(due)) > tooEarly*float64(granted)
	if !known || w.server.Leader() == nil || early && w.plan.mistake != earlyExpiry {
		return false
	}
	w.history.note("server ends the session of c%d, %v before its time", c.number, time.Until(due))
	return w.server.Expire(id) == nil
}

func (w *world) lag(a action) bool {
	w.history.note("s%d lags", pick(a.a, w.plan.replicas))
	return w.replica(a).Lag() == nil
}

func (w *world) catchUp(a action) bool {
	w.history.note("s%d catches up", pick(a.a, w.plan.replicas))
	w.replica(a).CatchUp()
	return true
}

func (w *world) cutOff(a action) bool {
	w.history.note("s%d is cut off", pick(a.a, w.plan.replicas))
	w.replica(a).CutOff()
	return true
}

func (w *world) rejoin(a action) bool {
	w.history.note("s%d rejoins", pick(a.a, w.plan.replicas))
	w.replica(a).Rejoin()
	return true
}

func (w *world) stopReplica(a action) bool {
	w.history.note("s%d stops", pick(a.a, w.plan.replicas))
	w.replica(a).Stop()
	return true
}

func (w *world) startReplica(a action) bool {
	w.history.note("s%d starts", pick(a.a, w.plan.replicas))
	return w.replica(a).Start() == nil
}

func (w *world) stopAll(action) bool {
	w.history.note("all replicas stop")
	for _, r := range w.server.Replicas() {
		r.Stop()
	}
	return true
}

func (w *world) startAll(action) bool {
	w.history.note("all replicas start")
	for _, r := range w.server.Replicas() {
		_ = r.Start()
	}
	return true
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
