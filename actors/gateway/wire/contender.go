package wire

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

func fromContender(c messages.Contender) *Contender {
	x := &Contender{
		Path: Valid(c.Path), Node: Valid(c.Node), Mode: uint32(c.Mode), Name: Valid(c.Name), Sequence: c.Sequence,
		Weight: int64(c.Weight), Session: c.Session, Token: int64(c.Token), Holds: c.Holds,
		WaitsFor: validAll(c.WaitsFor), Library: Valid(string(c.Library)),
		Asked: c.Asked, Unread: c.Unread, Host: Valid(c.Host), Pid: int64(c.PID), Actor: Valid(c.Actor),
		Owner: Valid(c.Owner), Caller: Valid(c.Caller), Label: Valid(c.Label), Who: Valid(c.Who),
		Detects: c.Detects, Priority: int64(c.Priority), Cohort: int64(c.Cohort), Behind: int64(c.Waiting), Id: Valid(c.ID),
		MayHold: c.MayHold,
	}
	if !c.Since.IsZero() {
		x.SinceUnixNano = c.Since.UnixNano()
	}
	return x
}

func (x *Contender) messages() messages.Contender {
	c := messages.Contender{
		Path: x.GetPath(), Node: x.GetNode(), Mode: messages.Mode(small(x.GetMode())), Name: x.GetName(),
		Sequence: x.GetSequence(), Weight: int(x.GetWeight()), Session: x.GetSession(),
		Token: messages.Token(x.GetToken()), Holds: x.GetHolds(), WaitsFor: x.GetWaitsFor(),
		Library: messages.Library(x.GetLibrary()), Asked: x.GetAsked(), Unread: x.GetUnread(), Host: x.GetHost(),
		PID: int(x.GetPid()), Actor: x.GetActor(), Owner: x.GetOwner(), Caller: x.GetCaller(), Label: x.GetLabel(),
		Who: x.GetWho(), Detects: x.GetDetects(), Priority: int(x.GetPriority()),
		Cohort: int(x.GetCohort()), Waiting: int(x.GetBehind()), ID: x.GetId(),
		MayHold: x.GetMayHold(),
	}
	if x.GetSinceUnixNano() != 0 {
		c.Since = time.Unix(0, x.GetSinceUnixNano()).UTC()
	}
	return c
}

func fromContenders(all []messages.Contender) []*Contender {
	var x []*Contender
	for _, c := range all {
		x = append(x, fromContender(c))
	}
	return x
}

func toContenders(x []*Contender) []messages.Contender {
	var all []messages.Contender
	for _, c := range x {
		all = append(all, c.messages())
	}
	return all
}

func fromMembers(all []messages.Member) []*Member {
	var x []*Member
	for _, m := range all {
		x = append(x, &Member{Who: Valid(m.Who), Keeps: fromContender(m.Keeps), Waits: fromContender(m.Waits)})
	}
	return x
}

func toMembers(x []*Member) []messages.Member {
	var all []messages.Member
	for _, m := range x {
		all = append(all, messages.Member{Who: m.GetWho(), Keeps: m.GetKeeps().messages(),
			Waits: m.GetWaits().messages()})
	}
	return all
}
