package relay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/turnstile-locks/turnstile/actors/gateway/internal/relay"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/asks"
)

// requesterStory is a story of one requester.
type requesterStory struct{ r *relay.Requester }

func (s *requesterStory) tell(t *testing.T, d *datadriven.TestData) []relay.Output {
	at := relay.Instant(span(t, d, "at"))
	switch d.Cmd {
	case "new":
		want := asks.Read(t, func(word string) (string, bool) {
			at := slices.IndexFunc(d.CmdArgs, func(arg datadriven.CmdArg) bool { return arg.Key == word })
			if at < 0 {
				return "", false
			}
			return strings.Join(d.CmdArgs[at].Vals, ""), true
		})
		want.Path = "/lock"
		s.r = relay.NewRequester("r", int(count(t, d, "gateways")), want)
		s.r.Prefer(int(count(t, d, "prefers")))
		return s.r.Begin(0)
	case "pin":
		return s.r.Pin(at, int(count(t, d, "gateway")))
	case "unpin":
		s.r.Unpin()
		return nil
	case "reply":
		return s.r.Reply(at, s.reply(t, d))
	case "wake":
		return s.r.Wake(at)
	case "wish":
		return s.r.Wish(at, wishIn(d), messages.ReasonNone)
	case "ask":
		if d.HasArg("check") {
			return s.r.Ask(at, relay.Check)
		}
		return s.r.Ask(at, relay.WatchContention)
	case "gap":
		return s.r.LeaseOver(at)
	case "stop":
		return s.r.Stop(at)
	case "show":
		text := fmt.Sprintf("%v, holds: %v, due at %v", s.r.State(), s.r.Holding(), time.Duration(s.r.Due()))
		return []relay.Output{relay.Say{Notice: shown(text)}}
	}
	d.Fatalf(t, "command %s", d.Cmd)
	return nil
}

var acceptances = map[string]relay.Acceptance{"closing": relay.Closing, "unknown": relay.Unknown, "refused": relay.Refused,
	"full": relay.Full}

// shown is a line of a story.
type shown string

func (s *requesterStory) reply(t *testing.T, d *datadriven.TestData) relay.Reply {
	r := relay.Reply{ID: s.r.ID(), Gateway: max(1, count(t, d, "gateway")), Number: count(t, d, "n"),
		Lasts: span(t, d, "lasts"), Every: span(t, d, "every"), First: count(t, d, "first")}
	d.MaybeScanArgs(t, "id", &r.ID)
	d.MaybeScanArgs(t, "detail", &r.Detail)
	if d.HasArg("said") {
		r.Predecessor = &relay.Predecessor{Number: count(t, d, "said")}
		d.MaybeScanArgs(t, "before", &r.Predecessor.Contender.Node)
	}
	var acceptance string
	d.MaybeScanArgs(t, "acceptance", &acceptance)
	r.Acceptance = acceptances[acceptance]
	for _, n := range notices(t, d) {
		ev := relay.Event{Notice: n}
		switch n.(type) {
		case *messages.RevokeRequested:
			ev.In = span(t, d, "in")
		case *messages.Contended, *messages.Checked:
			ev.Answers = count(t, d, "answers")
		}
		r.Events = append(r.Events, ev)
	}
	return r
}

// tableStory is a story of a gateway.
type tableStory struct {
	table *relay.Table
	now   relay.Instant
	until relay.Instant
}

// Left is the lease of the gateway.
func (s *tableStory) Left(uint64, uint64) time.Duration { return time.Duration(s.until - s.now) }

func (s *tableStory) tell(t *testing.T, d *datadriven.TestData) []relay.Output {
	if d.HasArg("at") {
		s.now = relay.Instant(span(t, d, "at"))
	}
	var id string
	d.MaybeScanArgs(t, "id", &id)
	switch d.Cmd {
	case "new":
		limits := relay.Usual()
		d.MaybeScanArgs(t, "requests", &limits.Requests)
		d.MaybeScanArgs(t, "ended", &limits.Ended)
		s.table = relay.NewTable(7, span(t, d, "patience"), limits)
	case "lease":
		s.until = relay.Instant(span(t, d, "until"))
	case "request":
		r := relay.Request{ID: id, Number: count(t, d, "n"), Seen: count(t, d, "seen"), Wish: wishIn(d),
			Over: d.HasArg("over"), Gateway: count(t, d, "gateway"),
			Asks: relay.Asks{relay.WatchContention: count(t, d, "contention"), relay.Check: count(t, d, "check")}}
		if d.HasArg("want") {
			r.Want = &messages.Acquire{Path: "/lock", Grace: span(t, d, "grace")}
		}
		return s.table.Request(s.now, s, messages.ActorID{ID: "r"}, r)
	case "told":
		for range max(1, count(t, d, "times")) {
			for _, n := range notices(t, d) {
				s.table.Told(s.now, id, n)
			}
		}
		return s.table.Flush(s.now, s)
	case "troubled":
		var text string
		d.MaybeScanArgs(t, "text", &text)
		s.table.Troubled(id, text)
		return s.table.Flush(s.now, s)
	case "waits-for":
		c := messages.Contender{Path: "/lock", Asked: d.HasArg("asked")}
		d.MaybeScanArgs(t, "node", &c.Node)
		d.MaybeScanArgs(t, "host", &c.Host)
		s.table.WaitsFor(id, c)
		return s.table.Flush(s.now, s)
	case "servers":
		s.table.Servers(d.HasArg("answer"))
		return s.table.Flush(s.now, s)
	case "ended":
		s.table.Ended(s.now, id)
		return s.table.Flush(s.now, s)
	case "sweep":
		return s.table.Sweep(s.now)
	case "close":
		return s.table.Close()
	case "show":
		text := fmt.Sprintf("%d requests, closed: %v", s.table.Size(), s.table.Closed(s.now))
		return []relay.Output{relay.Say{Notice: shown(text)}}
	default:
		d.Fatalf(t, "command %s", d.Cmd)
	}
	return nil
}
