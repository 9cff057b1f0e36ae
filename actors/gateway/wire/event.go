package wire

import (
	"reflect"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// FromNotice gives a notice or a transition, of which a pointer is given, as it crosses; nil for
// anything else. in is for a messages.RevokeRequested: when the lock will be taken, zero for never.
func FromNotice(notice any, in time.Duration) *Event {
	x := &Event{}
	if !put(x, notice, Valid) {
		return nil
	}
	switch n := x.What.(type) {
	case *Event_RevokeRequested:
		n.RevokeRequested.In = int64(in)
	case *Event_Deadlocked:
		convert(&n.Deadlocked.Members, &notice.(*messages.Deadlocked).Deadlock.Members, Valid)
	}
	return x
}

// Notice gives the notice or the transition, nil for one that this program does not know, and when
// the lock of a messages.RevokeRequested will be taken. Its actor is for the receiver to fill in.
func (x *Event) Notice() (notice any, in time.Duration) {
	notice = what(x)
	switch n := notice.(type) {
	case *messages.Held:
		n.Places = min(max(n.Places, 0), messages.MaxPlace)
	case *messages.Waiting:
		n.Before = max(n.Before, 0)
	case *messages.Deadlocked:
		convert(&n.Deadlock.Members, &x.GetDeadlocked().Members, asItIs)
	}
	return notice, time.Duration(x.GetRevokeRequested().GetIn())
}

// GrantIn gives the grant in a notice or a transition, of which a pointer is given, to read or to
// change; nil where the notice has no Grant.
func GrantIn(notice any) *messages.Grant {
	of := reflect.ValueOf(notice)
	if of.Kind() != reflect.Pointer || of.IsNil() || known[of.Type().Elem().Name()] != of.Type().Elem() {
		return nil
	}
	grant := of.Elem().FieldByName("Grant")
	if !grant.IsValid() {
		return nil
	}
	return grant.Addr().Interface().(*messages.Grant)
}
