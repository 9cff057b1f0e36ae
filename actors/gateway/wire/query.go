package wire

import (
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// FromQuery converts a query of package messages; nil for a query that does not cross. Queries that
// read many locks, or go on for long, need a session.
func FromQuery(id string, query any) *Query {
	q := &Query{Version: Version, Id: id}
	switch m := query.(type) {
	case *messages.ReadQueue:
		q.What = &Query_ReadQueue{&ReadQueue{Path: m.Path}}
	case *messages.SendRevokeRequest:
		ask := &SendRevokeRequest{Path: m.Path}
		if m.Of.HasNode() {
			ask.Of = fromContender(m.Of)
		}
		q.What = &Query_SendRevokeRequest{ask}
	case *messages.Break:
		q.What = &Query_Break{&Break{Contender: fromContender(m.Contender)}}
	case *messages.SetPermits:
		q.What = &Query_SetPermits{&SetPermits{Path: m.Path, Permits: int64(m.Permits)}}
	default:
		return nil
	}
	return q
}

// Messages gives the query; nil for one that this program does not know.
func (x *Query) Messages() any {
	switch m := x.GetWhat().(type) {
	case *Query_ReadQueue:
		return &messages.ReadQueue{Path: m.ReadQueue.GetPath()}
	case *Query_SendRevokeRequest:
		return &messages.SendRevokeRequest{Path: m.SendRevokeRequest.GetPath(), Of: m.SendRevokeRequest.GetOf().messages()}
	case *Query_Break:
		return &messages.Break{Contender: m.Break.GetContender().messages()}
	case *Query_SetPermits:
		return &messages.SetPermits{Path: m.SetPermits.GetPath(), Permits: int(m.SetPermits.GetPermits())}
	}
	return nil
}

// FromAnswer gives the answer to a query as it crosses.
func FromAnswer(id string, answer any) *Answer {
	a := &Answer{Version: Version, Id: id}
	refusal := func(r messages.Refusal) { a.Reason, a.Detail = Valid(string(r.Reason)), Valid(r.Detail) }
	switch m := answer.(type) {
	case *messages.Queue:
		refusal(m.Refusal)
		a.What = &Answer_Queue{&Queue{Path: m.Path, Contenders: fromContenders(m.Contenders)}}
	case *messages.RevokeRequestSent:
		refusal(m.Refusal)
		a.What = &Answer_RevokeRequestSent{&RevokeRequestSent{Path: m.Path, Asked: fromContenders(m.Asked)}}
	case *messages.Broken:
		refusal(m.Refusal)
		a.What = &Answer_Broken{&Broken{Contender: fromContender(m.Contender)}}
	case *messages.PermitsSet:
		refusal(m.Refusal)
		a.What = &Answer_PermitsSet{&PermitsSet{Path: m.Path, Permits: int64(m.Permits)}}
	}
	return a
}

// Refuse is the answer to a query that was not carried out.
func Refuse(id string, why messages.Reason, detail string) *Answer {
	return &Answer{Version: Version, Id: id, Reason: string(why), Detail: detail}
}

// Messages gives the answer to a query; nil where the query was not carried out: Refusal says why.
func (x *Answer) Messages() any {
	why := x.Refusal()
	switch m := x.GetWhat().(type) {
	case *Answer_Queue:
		return &messages.Queue{Refusal: why, Path: m.Queue.GetPath(), Contenders: toContenders(m.Queue.GetContenders())}
	case *Answer_RevokeRequestSent:
		return &messages.RevokeRequestSent{Refusal: why, Path: m.RevokeRequestSent.GetPath(),
			Asked: toContenders(m.RevokeRequestSent.GetAsked())}
	case *Answer_Broken:
		return &messages.Broken{Refusal: why, Contender: m.Broken.GetContender().messages()}
	case *Answer_PermitsSet:
		return &messages.PermitsSet{Refusal: why, Path: m.PermitsSet.GetPath(), Permits: int(m.PermitsSet.GetPermits())}
	}
	return nil
}

// Refusal says why a query was refused.
func (x *Answer) Refusal() messages.Refusal {
	return messages.Refusal{Reason: messages.Reason(x.GetReason()), Detail: x.GetDetail()}
}

// FromPredecessor gives the contender that a request waits for as it crosses, zero where none is
// known. number counts the predecessors of the request.
func FromPredecessor(number uint64, c messages.Contender) *Predecessor {
	if !c.HasNode() {
		return &Predecessor{Number: number}
	}
	return &Predecessor{Number: number, Contender: fromContender(c)}
}

// Messages gives the contender; zero where none is known.
func (x *Predecessor) Messages() messages.Contender { return x.GetContender().messages() }

func fromContender(c messages.Contender) *Contender {
	x := &Contender{
		Path: Valid(c.Path), Node: Valid(c.Node), Mode: uint32(c.Mode), Name: Valid(c.Name), Sequence: c.Sequence,
		Weight: int64(c.Weight), Session: c.Session, Token: int64(c.Token), Holds: c.Holds,
		WaitsFor: validAll(c.WaitsFor), Library: Valid(string(c.Library)),
		Asked: c.Asked, Unread: c.Unread, Host: Valid(c.Host), Pid: int64(c.PID), Actor: Valid(c.Actor),
		Owner: Valid(c.Owner), Caller: Valid(c.Caller), Label: Valid(c.Label), Who: Valid(c.Who),
		Detects: c.Detects, Priority: int64(c.Priority), Id: Valid(c.ID),
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
		ID: x.GetId(), MayHold: x.GetMayHold(),
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
