package gateway

import (
	"cmp"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway/internal/relay"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/messages"
)

// maxID bounds the id of a request, and maxDetail the text that a refusal quotes of it, in bytes.
const (
	maxID     = 128
	maxDetail = 500
)

// clip shortens a text that came from another node, or goes there. It stays valid UTF-8, without
// which protoactor's remote drops the message that it is in.
func clip(text string) string { return wire.Valid(text[:min(len(text), maxDetail)]) }

// checkReclaim refuses Reclaim, which is useless to a process without a session: the gateway's
// session is not its own.
func checkReclaim(want messages.Acquire) error {
	if want.Reclaim != "" {
		return fmt.Errorf("%w: to reclaim %q needs a session, and does not work over a gateway", actors.ErrBadAcquire,
			want.Reclaim)
	}
	return nil
}

// checkText refuses a message that cannot be sent. The error wraps actors.ErrBadAcquire.
func checkText(m proto.Message) error {
	if _, err := proto.Marshal(m); err != nil {
		return fmt.Errorf("%w: it cannot be sent to another node: %w", actors.ErrBadAcquire, err)
	}
	return nil
}

// readVersion gives the fault in the version of a message; "" for a known version.
func readVersion(version uint32) string {
	if version != wire.Version {
		return fmt.Sprintf("version %d of the protocol is not known here, but %d", version, wire.Version)
	}
	return ""
}

// readRequest takes a sending apart, or gives its fault.
func readRequest(x *wire.Request) (r relay.Request, wrong string) {
	if wrong := readVersion(x.GetVersion()); wrong != "" {
		return r, wrong
	}
	if unknown := wire.Unknown(x); unknown != "" {
		return r, unknown
	}
	switch {
	case x.GetId() == "" || len(x.GetId()) > maxID:
		return r, fmt.Sprintf("an id of %d bytes: it must have between 1 and %d", len(x.GetId()), maxID)
	case x.GetNumber() == 0:
		return r, "a sending without a number"
	}
	r = relay.Request{ID: x.GetId(), Number: x.GetNumber(), Seen: x.GetSeen(), Over: x.GetOver(),
		Gateway: x.GetGateway(), Asks: relay.Asks{relay.WatchContention: x.GetWatchContention(), relay.Check: x.GetCheck()}}
	switch o := x.GetOrder().(type) {
	case *wire.Request_Revoke:
		r.Wish = relay.Revoke
	case *wire.Request_Cancel:
		r.Wish, r.Reason = relay.Cancel, messages.Reason(clip(o.Cancel.GetReason()))
	case *wire.Request_Release:
		r.Wish = relay.Release
	}
	if x.GetAcquire() != nil {
		want := x.GetAcquire().Messages()
		if err := cmp.Or(actors.CheckAcquire(want), checkReclaim(want)); err != nil {
			return r, clip(err.Error())
		}
		r.Want = &want
	}
	return r, ""
}

func writeRequest(r relay.Request) *wire.Request {
	x := &wire.Request{Version: wire.Version, Id: r.ID, Number: r.Number, Seen: r.Seen, Over: r.Over,
		Gateway: r.Gateway, WatchContention: r.Asks[relay.WatchContention], Check: r.Asks[relay.Check]}
	switch r.Wish {
	case relay.Revoke:
		x.Order = &wire.Request_Revoke{Revoke: &wire.Revoke{}}
	case relay.Cancel:
		x.Order = &wire.Request_Cancel{Cancel: &wire.Cancel{Reason: clip(string(r.Reason))}}
	case relay.Release:
		x.Order = &wire.Request_Release{Release: &wire.Release{}}
	}
	if r.Want != nil {
		x.Acquire = wire.FromAcquire(*r.Want)
	}
	return x
}

// acceptances translate relay's acceptances; on the wire each is a Standing.
var acceptances = map[relay.Acceptance]wire.Standing{
	relay.Known: wire.Standing_ACCEPTED, relay.Unknown: wire.Standing_UNKNOWN,
	relay.Closing: wire.Standing_CLOSING, relay.Refused: wire.Standing_REFUSED,
	relay.Full: wire.Standing_FULL,
}

func writeReply(r relay.Reply) *wire.Reply {
	x := &wire.Reply{Version: wire.Version, Id: r.ID, Standing: acceptances[r.Acceptance], Detail: clip(r.Detail),
		Number: r.Number, Lasts: int64(r.Lasts), Every: int64(r.Every), First: r.First, Gateway: r.Gateway}
	for _, ev := range r.Events {
		told := wire.FromNotice(ev.Notice, ev.In)
		told.Answers = ev.Answers
		x.Events = append(x.Events, told)
	}
	if r.Predecessor != nil {
		x.Predecessor = writePredecessor(r.Predecessor)
	}
	return x
}

// maxPredecessor bounds the predecessor in a reply, in bytes: our own nodes have some hundred, and
// other programs may write more.
const maxPredecessor = 4 << 10

// writePredecessor gives a predecessor as it crosses: its path and node alone where the whole would
// be too long.
func writePredecessor(p *relay.Predecessor) *wire.Predecessor {
	x := wire.FromPredecessor(p.Number, p.Contender)
	if proto.Size(x) > maxPredecessor {
		return wire.FromPredecessor(p.Number, messages.Contender{Path: p.Contender.Path, Node: p.Contender.Node})
	}
	return x
}

// readReply takes a reply apart, or gives its fault. A reply with an unknown field is taken,
// because such a field changes nothing that is known. One with an unknown event is not: the event
// may be the end of the lease.
func readReply(x *wire.Reply) (r relay.Reply, wrong string) {
	if wrong := readVersion(x.GetVersion()); wrong != "" {
		return r, "the gateway: " + wrong
	}
	r = relay.Reply{ID: x.GetId(), Detail: clip(x.GetDetail()), Number: x.GetNumber(), Lasts: duration(x.GetLasts()),
		Every: duration(x.GetEvery()), First: x.GetFirst(), Gateway: x.GetGateway()}
	known := false
	for mine, theirs := range acceptances {
		if theirs == x.GetStanding() {
			r.Acceptance, known = mine, true
		}
	}
	if !known {
		return r, fmt.Sprintf("the gateway answers with a standing that is not known here: %d", x.GetStanding())
	}
	for _, ev := range x.GetEvents() {
		notice, in := ev.Notice()
		if notice == nil {
			return r, "the gateway tells an event that is not known here"
		}
		r.Events = append(r.Events, relay.Event{Notice: notice, In: in, Answers: ev.GetAnswers()})
	}
	if said := x.GetPredecessor(); said != nil {
		r.Predecessor = &relay.Predecessor{Number: said.GetNumber(), Contender: said.Messages()}
	}
	return r, ""
}

func duration(nanos int64) time.Duration { return max(0, time.Duration(nanos)) }
