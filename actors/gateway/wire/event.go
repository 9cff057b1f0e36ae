package wire

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

func fromGrant(g messages.Grant) *Grant {
	return &Grant{Path: g.Path, Node: g.Node, Token: int64(g.Token)}
}

// messages gives the grant. Its actor is for the receiver to fill in.
func (x *Grant) messages() messages.Grant {
	return messages.Grant{Path: x.GetPath(), Node: x.GetNode(), Token: messages.Token(x.GetToken())}
}

// FromNotice gives a notice or a transition, of which a pointer is given, as it crosses; nil for
// anything else. in is for a messages.RevokeRequested: when the lock will be taken, zero for never.
func FromNotice(notice any, in time.Duration) *Event {
	switch n := notice.(type) {
	case *messages.Transition:
		return &Event{What: &Event_Transition{&Transition{Grant: fromGrant(n.Grant), From: uint32(n.From),
			To: uint32(n.To), On: n.On, If: n.If, Do: n.Do, Reason: Valid(string(n.Reason)), Session: n.Session}}}
	case *messages.Held:
		return &Event{What: &Event_Held{&Held{Grant: fromGrant(n.Grant), Session: n.Session, Epoch: n.Epoch,
			Term: n.Term, Places: int64(n.Places)}}}
	case *messages.Waiting:
		return &Event{What: &Event_Waiting{&Waiting{Grant: fromGrant(n.Grant), Before: int64(n.Before)}}}
	case *messages.Watched:
		return &Event{What: &Event_Watched{&Watched{Grant: fromGrant(n.Grant), Readable: n.Readable}}}
	case *messages.Contended:
		return &Event{What: &Event_Contended{&Contended{Grant: fromGrant(n.Grant)}}}
	case *messages.Checked:
		return &Event{What: &Event_Checked{&Checked{Grant: fromGrant(n.Grant)}}}
	case *messages.Suspended:
		return &Event{What: &Event_Suspended{&Suspended{Grant: fromGrant(n.Grant)}}}
	case *messages.Resumed:
		return &Event{What: &Event_Resumed{&Resumed{Grant: fromGrant(n.Grant)}}}
	case *messages.RevokeRequested:
		return &Event{What: &Event_RevokeRequested{&RevokeRequested{Grant: fromGrant(n.Grant), In: int64(in)}}}
	case *messages.Revoked:
		return &Event{What: &Event_Revoked{&Revoked{Grant: fromGrant(n.Grant)}}}
	case *messages.Deadlocked:
		return &Event{What: &Event_Deadlocked{&Deadlocked{Grant: fromGrant(n.Grant),
			Members: fromMembers(n.Deadlock.Members)}}}
	case *messages.Released:
		return &Event{What: &Event_Released{&Released{Grant: fromGrant(n.Grant), Reason: Valid(string(n.Reason))}}}
	case *messages.Lost:
		return &Event{What: &Event_Lost{&Lost{Grant: fromGrant(n.Grant), Reason: Valid(string(n.Reason)),
			Detail: Valid(n.Detail)}}}
	case *messages.Cancelled:
		return &Event{What: &Event_Cancelled{&Cancelled{Grant: fromGrant(n.Grant), Reason: Valid(string(n.Reason)),
			Detail: Valid(n.Detail)}}}
	case *messages.Failed:
		return &Event{What: &Event_Failed{&Failed{Grant: fromGrant(n.Grant), Reason: Valid(string(n.Reason)),
			Detail: Valid(n.Detail)}}}
	}
	return nil
}

// Notice gives the notice or the transition, nil for one that this program does not know, and when
// the lock of a messages.RevokeRequested will be taken.
func (x *Event) Notice() (notice any, in time.Duration) {
	switch n := x.GetWhat().(type) {
	case *Event_Transition:
		t := n.Transition
		return &messages.Transition{Grant: t.GetGrant().messages(), From: messages.State(small(t.GetFrom())),
			To: messages.State(small(t.GetTo())), On: t.GetOn(), If: t.GetIf(), Do: t.GetDo(),
			Reason: messages.Reason(t.GetReason()), Session: t.GetSession()}, 0
	case *Event_Held:
		h := n.Held
		return &messages.Held{Grant: h.GetGrant().messages(), Session: h.GetSession(), Epoch: h.GetEpoch(),
			Term: h.GetTerm(), Places: int(min(max(h.GetPlaces(), 0), messages.MaxPlace))}, 0
	case *Event_Waiting:
		return &messages.Waiting{Grant: n.Waiting.GetGrant().messages(), Before: int(max(n.Waiting.GetBefore(), 0))}, 0
	case *Event_Watched:
		return &messages.Watched{Grant: n.Watched.GetGrant().messages(), Readable: n.Watched.GetReadable()}, 0
	case *Event_Contended:
		return &messages.Contended{Grant: n.Contended.GetGrant().messages()}, 0
	case *Event_Checked:
		return &messages.Checked{Grant: n.Checked.GetGrant().messages()}, 0
	case *Event_Suspended:
		return &messages.Suspended{Grant: n.Suspended.GetGrant().messages()}, 0
	case *Event_Resumed:
		return &messages.Resumed{Grant: n.Resumed.GetGrant().messages()}, 0
	case *Event_RevokeRequested:
		r := n.RevokeRequested
		return &messages.RevokeRequested{Grant: r.GetGrant().messages()}, time.Duration(r.GetIn())
	case *Event_Revoked:
		return &messages.Revoked{Grant: n.Revoked.GetGrant().messages()}, 0
	case *Event_Deadlocked:
		d := n.Deadlocked
		return &messages.Deadlocked{Grant: d.GetGrant().messages(),
			Deadlock: messages.Deadlock{Members: toMembers(d.GetMembers())}}, 0
	}
	return x.end(), 0
}

// end gives the notice of an end; nil for any other event.
func (x *Event) end() any {
	switch n := x.GetWhat().(type) {
	case *Event_Released:
		return &messages.Released{Grant: n.Released.GetGrant().messages(),
			Reason: messages.Reason(n.Released.GetReason())}
	case *Event_Lost:
		return &messages.Lost{Grant: n.Lost.GetGrant().messages(), Reason: messages.Reason(n.Lost.GetReason()),
			Detail: n.Lost.GetDetail()}
	case *Event_Cancelled:
		return &messages.Cancelled{Grant: n.Cancelled.GetGrant().messages(),
			Reason: messages.Reason(n.Cancelled.GetReason()), Detail: n.Cancelled.GetDetail()}
	case *Event_Failed:
		return &messages.Failed{Grant: n.Failed.GetGrant().messages(), Reason: messages.Reason(n.Failed.GetReason()),
			Detail: n.Failed.GetDetail()}
	}
	return nil
}

// GrantIn gives the grant in a notice or a transition, of which a pointer is given, to read or to
// change; nil where the notice has no Grant.
func GrantIn(notice any) *messages.Grant {
	switch n := notice.(type) {
	case *messages.Transition:
		return &n.Grant
	case *messages.Held:
		return &n.Grant
	case *messages.Waiting:
		return &n.Grant
	case *messages.Watched:
		return &n.Grant
	case *messages.Contended:
		return &n.Grant
	case *messages.Checked:
		return &n.Grant
	case *messages.Suspended:
		return &n.Grant
	case *messages.Resumed:
		return &n.Grant
	case *messages.RevokeRequested:
		return &n.Grant
	case *messages.Revoked:
		return &n.Grant
	case *messages.Deadlocked:
		return &n.Grant
	case *messages.Released:
		return &n.Grant
	case *messages.Lost:
		return &n.Grant
	case *messages.Cancelled:
		return &n.Grant
	case *messages.Failed:
		return &n.Grant
	}
	return nil
}
