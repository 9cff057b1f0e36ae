package locks

import (
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/actors/sharing"
	"github.com/turnstile-locks/turnstile/messages"
)

// direct is the lock actor of a call over gateways, where calls do not share holds: each asks for
// all that it wants by itself, and the gateway's session decides.
type direct struct {
	*call
	want *messages.Acquire
	lock *actor.PID

	at          sync.Mutex
	state       messages.State // of the lock actor
	waited      messages.State // the last one in which it waited
	node        string
	predecessor predecessor // nil where it has not waited
	text        string      // the trouble that servers have
	over        bool        // it has told its end
}

// predecessor is the contender that a request waits for; path is the lock path. An alias, because the session knows the
// type without the name.
type predecessor = interface {
	Contender(path string) messages.Contender
}

// beginDirect spawns the lock actor of a call.
func (k *call) beginDirect(within *Lease) {
	want := k.from.want
	if within != nil {
		want.Owner, k.nested = within.key(), true
	}
	d := &direct{call: k, want: &want, state: messages.StateCreating, waited: messages.StateCreating}
	k.direct = d
	k.from.client.requests.Add(1)
	if k.from.requests != nil {
		k.from.requests.Add(1)
	}
	d.begun(k.from.client.session.SpawnLock(d.want, d, k.from.observers))
}

// begun notes the lock actor. It may have told that it holds before SpawnLock has returned.
func (d *direct) begun(lock *actor.PID) {
	d.at.Lock()
	defer d.at.Unlock()
	d.lock = lock
}

// Moved notes where the request stands.
func (d *direct) Moved(to messages.State, node string) {
	d.at.Lock()
	defer d.at.Unlock()
	d.state, d.node = to, node
	if to == messages.StateCreating { // at another gateway, or in another session
		d.predecessor = nil
	}
	if !to.Terminal() && to != messages.StateReleasing {
		d.waited = to
	}
}

// WaitsFor notes the contender for which the request waits.
func (d *direct) WaitsFor(predecessor predecessor) {
	d.at.Lock()
	defer d.at.Unlock()
	d.predecessor = predecessor
}

// Troubled notes what keeps the request from being carried out.
func (d *direct) Troubled(text string) {
	d.at.Lock()
	d.text = text
	d.at.Unlock()
	d.call.Troubled(text)
}

// where says where the request stands.
func (d *direct) where() (w sharing.Where) {
	d.at.Lock()
	defer d.at.Unlock()
	w.State, w.Node, w.Trouble = d.waited, d.node, d.text
	// Where it lists again its predecessor has gone. Somebody was before it, all the same.
	if d.predecessor != nil && (w.State == messages.StateWatching || w.State == messages.StateListing) {
		w.Behind = d.predecessor.Contender(d.want.Path)
	}
	return w
}

func (d *direct) withdraw(why messages.Reason) { d.send(&messages.Cancel{Reason: why}) }

func (d *direct) giveBack() { d.send(&messages.Release{}) }

func (d *direct) send(command any) {
	d.at.Lock()
	lock := d.lock
	d.at.Unlock()
	d.from.client.system.Root.Send(lock, command)
}

// Hear takes a notice of the lock actor.
func (d *direct) Hear(lock *actor.PID, notice any) {
	client := d.from.client
	switch msg := notice.(type) {
	case *messages.Held:
		hold := &sharing.Hold{Held: msg, Clock: client.session.Clock(msg.Epoch), System: client.system.ID}
		d.begun(lock)
		if d.Granted(0, hold, msg.Token); d.held() { // else its caller has gone, and Cancel is on its way
			hold.Clock.Follow(msg.Term, d)
		}
	case *messages.Suspended:
		d.Told(messages.StateRecovering, msg.Until, messages.ReasonNone, "")
	case *messages.Resumed:
		d.Told(messages.StateHeld, msg.Until, messages.ReasonNone, "")
	case *messages.RevokeRequested:
		d.Told(messages.StateRevoking, msg.Deadline, messages.ReasonNone, "")
	case *messages.Revoked:
		d.Told(messages.StateReleasing, time.Time{}, messages.ReasonRevoked, "")
	case *messages.Deadlocked:
		d.Deadlocked(msg.Deadlock)
	case *messages.Released:
		d.finish(messages.StateReleased, msg.Reason, "")
	case *messages.Lost:
		d.finish(messages.StateLost, msg.Reason, msg.Detail)
	case *messages.Cancelled:
		d.finish(messages.StateCancelled, msg.Reason, msg.Detail)
	case *messages.Failed:
		d.finish(messages.StateFailed, msg.Reason, msg.Detail)
	case *actor.Stopped:
		as := messages.StateFailed // it never held
		if d.held() {
			as = messages.StateLost
		}
		d.finish(as, messages.ReasonStopped, "")
		client.requests.Done()
		if d.from.requests != nil {
			d.from.requests.Done()
		}
	}
}

// held reports whether the call was granted, and its caller has not gone before.
func (d *direct) held() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hold != nil
}

// finish takes the end of the lock actor, once.
func (d *direct) finish(as messages.State, why messages.Reason, detail string) {
	if d.over {
		return
	}
	d.over = true
	if d.held() {
		d.hold.Clock.Unfollow(d)
		d.Told(as, time.Time{}, why, detail)
		return
	}
	d.at.Lock()
	state, node := d.state, d.node
	d.at.Unlock()
	d.refused(state, node, why, detail)
}

// TermEnded ends the context of a lease that has run out.
func (d *direct) TermEnded() {
	reason := messages.ReasonLeaseOver
	if d.hold.Clock.Expired() {
		reason = messages.ReasonSessionExpired
	}
	(*Lease)(d.call).end(d.from.faulty(messages.StateLost, d.hold.Node, reason, "", ErrLost))
}
