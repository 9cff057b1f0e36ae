package simulation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// observe spawns an actor that hears all of one request.
func (w *world) observe(r *lockRequest) *actor.PID {
	pid := w.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case actor.SystemMessage, actor.AutoReceiveMessage:
		case *messages.Transition:
			w.moved(r, msg)
		default:
			w.notified(r, msg)
		}
	}))
	w.observers = append(w.observers, pid)
	return pid
}

// spawn spawns a lock actor of our own.
func (w *world) spawn(c *client, want messages.Acquire, watcher *actor.PID) *actor.PID {
	return w.system.Root.Spawn(actors.NewLock(c.Session(), want, actors.WithObserver(watcher)))
}

// moved takes a transition.
func (w *world) moved(r *lockRequest, t *messages.Transition) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.history.tell(r.number, "r%d: %v → %v on %s %s", r.number, t.From, t.To, t.On, t.Do)
	if r.state.Terminal() {
		w.violated("r%d leaves the terminal state %v for %v", r.number, r.state, t.To)
	}
	r.state = t.To
	if t.Node != "" && t.Session != 0 { // at the end of a session the node may be told with the next one's, which has no id yet
		if r.session != t.Session && r.session != 0 {
			r.earlier = append(r.earlier, placement{r.placed, r.session})
		}
		r.placed, r.session = t.Node, t.Session
	}
	if r.polled && t.To == messages.StateHeld && w.behindTheDead(r) {
		r.client.untold++
	}
	r.polled = t.From == messages.StateWatching && t.On == "Poll"
}

// notified takes a notice.
func (w *world) notified(r *lockRequest, notice any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	kind := strings.TrimPrefix(fmt.Sprintf("%T", notice), "*messages.")
	w.history.tell(r.number, "r%d: %s %s", r.number, kind, detail(notice))
	if r.end != "" {
		w.violated("r%d is told %s after %s", r.number, kind, r.end)
	}
	had := r.held != nil
	fits := had
	switch msg := notice.(type) {
	case *messages.Behind: // while it waits, and never of itself
		fits = !had && msg.Contender.HasNode() && msg.Contender.Node != msg.Node
	case *messages.Held:
		fits = !had
		w.granted(r, msg)
	case *messages.Suspended:
		fits = had && !r.suspended
		r.suspended = true
	case *messages.Resumed:
		fits = had && r.suspended
		r.suspended = false
	case *messages.Revoked:
		r.revoked = true
	case *messages.Lost:
		r.end = kind
	case *messages.Released:
		r.end = kind
	case *messages.Cancelled:
		fits = !had
		r.end = kind
	case *messages.Failed:
		fits = true
		r.end = kind
	}
	if !fits {
		w.violated("r%d is told %s, held before: %t, suspended: %t", r.number, kind, had, r.suspended)
	}
}

func detail(notice any) string {
	switch msg := notice.(type) {
	case *messages.Held:
		return fmt.Sprintf("%s token %v", short(msg.Node), msg.Token)
	case *messages.Lost:
		return string(msg.Reason)
	case *messages.Failed:
		return string(msg.Reason)
	case *messages.Cancelled:
		return string(msg.Reason)
	}
	return ""
}

// granted takes a grant: nobody else may hold, and the token must be greater than all before.
func (w *world) granted(r *lockRequest, held *messages.Held) {
	r.client.grants++
	if r.held = held; r.cancel == nil {
		r.clock = r.client.Session().Clock(held.Epoch)
	}
	if !time.Now().Before(held.Until) {
		w.violated("r%d is granted after its lease has run out", r.number)
	}
	w.checkPassedOn(r)
	if w.brokenGrant(r) {
		return // an operator has deleted its node; whether it knows that yet is another matter
	}
	for _, other := range w.requests {
		if other != r && other.queue() == r.queue() && r.excludes(other) && other.holds() && !w.brokenGrant(other) {
			w.violated("two holders of %s: r%d is granted while r%d holds", r.queue(), r.number, other.number)
		}
	}
	w.checkToken(r, held.Token)
	w.fresh = append(w.fresh, r)
}

// brokenGrant reports whether an operator has deleted the node of a grant, or of the grant that it is part of.
func (w *world) brokenGrant(r *lockRequest) bool {
	for outer := r.within; outer != nil; outer = outer.within {
		if outer.broken && r.held != nil && outer.held != nil && outer.root().held.Token == r.held.Token {
			return true
		}
	}
	return r.held != nil && (r.broken || w.broken[r.nodePath()])
}

// behindTheDead reports whether a request waits for permits behind one that has ended with a
// session that its client has left and the server has not ended yet, so that its node may be there
// still; or behind one whose client has lost touch with the ensemble; or behind what one that goes
// on in another session has left in a session that a server has refused and no majority has ended
// yet. Nobody moves up in its place, and so nobody tells those behind it that they fit: a poll
// does, or the end of that session.
func (w *world) behindTheDead(r *lockRequest) bool {
	if r.mode != messages.Semaphore {
		return false
	}
	alive := w.server.Sessions()
	return slices.ContainsFunc(w.requests, func(other *lockRequest) bool {
		for _, before := range other.earlier {
			if other.dir() == r.dir() && slices.Contains(alive, before.session) && placeOf(before.node).number < placeOf(r.placed).number {
				return true
			}
		}
		left := other.client.closing || other.client.Session().ID() != other.session
		return other.dir() == r.dir() && (other.end != "" && left || other.end == "" && !w.net.inTouch(other.client.number)) &&
			slices.Contains(alive, other.session) && placeOf(other.placed).number < placeOf(r.placed).number
	})
}
