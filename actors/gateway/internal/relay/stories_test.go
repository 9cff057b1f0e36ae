package relay_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/turnstile-locks/turnstile/actors/gateway/internal/relay"
	"github.com/turnstile-locks/turnstile/messages"
)

// The files in testdata are stories, as those of package machine: one thing that happens a stanza,
// and below it what was decided (go test -rewrite). All times are by the clock of the story's end.
//
// For the requester:
//
//	new gateways=N [prefers=N] [FIELD...]
//	                                   begins a story; the request is sent. The fields are those of messages.Acquire,
//	                                   in the words of package asks: timeout=D, tell-more
//	reply at=T n=N [lasts=D] [every=D] [first=N events=(E, E, ...)] [id=ID] [gateway=N]
//	      [acceptance=closing|unknown|refused|full] [detail=TEXT]  N is the gateway's name, 1 by default
//	      [answers=N]                  the ask that Contended or Checked answers
//	      [said=N [before=NODE]]       whom the request waits for: the number of what was said, and the node
//	wake at=T                          the timer
//	wish at=T release|cancel|revoke
//	ask at=T contention|check
//	gap at=T                           the lease clock has a gap
//	pin at=T gateway=N, unpin          its owner holds the lock there, and not any more
//	stop at=T
//	show                               where it stands, and when it is due
//
// For the gateway:
//
//	new patience=D [requests=N] [ended=N]  with limits
//	lease until=T                      until when the gateway's own lease lasts
//	request at=T id=ID n=N [seen=N] [want] [grace=D] [release|cancel|revoke] [over]
//	        [contention=N] [check=N]   asks
//	        [gateway=N]                its name is 7
//	told at=T id=ID events=(E, E, ...) [times=N] what the lock actor tells; then it is flushed
//	troubled id=ID [text=TEXT]         what keeps it from being carried out
//	waits-for id=ID [node=NODE] [host=HOST] [asked]  the contender that its lock actor waits for
//	servers answer|silent              of the gateway's session
//	sweep at=T
//	close at=T
//
// An event is a change of state, as watching>held, or a notice: Held, Released, Lost, RevokeRequested, ... Waiting:2 is one
// behind two contenders, Watched:not says that the node may not be read. It names the node
// from when one is made, as a lock actor's do.
func TestRequesterStories(t *testing.T) {
	datadriven.Walk(t, "testdata/requester", func(t *testing.T, path string) {
		var s requesterStory
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return written(s.tell(t, d))
		})
	})
}

func TestTableStories(t *testing.T) {
	datadriven.Walk(t, "testdata/table", func(t *testing.T, path string) {
		var s tableStory
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return written(s.tell(t, d))
		})
	})
}

// span reads a duration argument; zero where it is not there.
func span(t *testing.T, d *datadriven.TestData, key string) time.Duration {
	var text string
	if !d.HasArg(key) {
		return 0
	}
	d.ScanArgs(t, key, &text)
	span, err := time.ParseDuration(text)
	if err != nil {
		d.Fatalf(t, "%s: %v", key, err)
	}
	return span
}

func count(t *testing.T, d *datadriven.TestData, key string) (n uint64) {
	d.MaybeScanArgs(t, key, &n)
	return n
}

var wishes = map[string]relay.Wish{"release": relay.Release, "cancel": relay.Cancel, "revoke": relay.Revoke}

func wishIn(d *datadriven.TestData) relay.Wish {
	for name, wish := range wishes {
		if d.HasArg(name) {
			return wish
		}
	}
	return relay.Keep
}

// notices reads the events of a stanza.
func notices(t *testing.T, d *datadriven.TestData) (all []any) {
	if !d.HasArg("events") {
		return nil
	}
	var arg datadriven.CmdArg
	for _, a := range d.CmdArgs {
		if a.Key == "events" {
			arg = a
		}
	}
	node := messages.Grant{Path: "/lock", Node: "n-1", Token: 1024}
	for _, word := range arg.Vals {
		name, reason, _ := strings.Cut(strings.TrimSpace(word), ":")
		why := messages.Reason(strings.ReplaceAll(reason, "_", " "))
		from, to, moves := strings.Cut(name, ">")
		grant := node
		if to == "creating" || from == "creating" && state(to).Terminal() || name == "Failed" { // no node was made
			grant = messages.Grant{Path: "/lock"}
		}
		if moves {
			all = append(all, &messages.Transition{Grant: grant, From: state(from), To: state(to), Reason: why})
			continue
		}
		switch name {
		case "Held":
			all = append(all, &messages.Held{Grant: grant, Epoch: 1, Term: 1})
		case "Waiting":
			n, _ := strconv.Atoi(reason)
			all = append(all, &messages.Waiting{Grant: grant, Before: n})
		case "Watched":
			all = append(all, &messages.Watched{Grant: grant, Readable: reason != "not"})
		case "Contended":
			all = append(all, &messages.Contended{Grant: grant})
		case "Checked":
			all = append(all, &messages.Checked{Grant: grant})
		case "Suspended":
			all = append(all, &messages.Suspended{Grant: grant})
		case "Resumed":
			all = append(all, &messages.Resumed{Grant: grant})
		case "RevokeRequested":
			all = append(all, &messages.RevokeRequested{Grant: grant})
		case "Revoked":
			all = append(all, &messages.Revoked{Grant: grant})
		case "Released":
			all = append(all, &messages.Released{Grant: grant, Reason: why})
		case "Lost":
			all = append(all, &messages.Lost{Grant: grant, Reason: why})
		case "Cancelled":
			reason, detail, _ := strings.Cut(string(why), "/")
			all = append(all, &messages.Cancelled{Grant: grant, Reason: messages.Reason(reason), Detail: detail})
		case "Failed":
			all = append(all, &messages.Failed{Grant: grant, Reason: why})
		default:
			d.Fatalf(t, "event %q", word)
		}
	}
	return all
}

func state(name string) messages.State {
	for _, s := range messages.States() {
		if s.String() == name {
			return s
		}
	}
	return messages.StateNone
}

// written writes what was decided, one thing a line.
func written(out []relay.Output) string {
	var b strings.Builder
	for _, o := range out {
		fmt.Fprintln(&b, line(o))
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

func line(o relay.Output) string {
	switch o := o.(type) {
	case relay.Send:
		return fmt.Sprintf("to gateway %d: %s", o.Gateway, sending(o.Request))
	case relay.Dismiss:
		return "to whom it came from: " + sending(o.Request)
	case relay.Extend:
		return fmt.Sprintf("lease until %v", time.Duration(o.Until))
	case relay.Say:
		if o.Deadline != 0 {
			return fmt.Sprintf("%s by %v", named(o.Notice), time.Duration(o.Deadline))
		}
		return named(o.Notice)
	case relay.Trouble:
		return fmt.Sprintf("trouble %q", o.Text)
	case relay.WaitFor:
		return "waits for " + contender(o.Predecessor)
	case relay.EndLease:
		return "no lease"
	case relay.End:
		return "end"
	case relay.Spawn:
		return fmt.Sprintf("spawn %s grace=%v", o.ID, o.Want.Grace)
	case relay.Tell:
		command := strings.TrimPrefix(fmt.Sprintf("%T%v", o.Command, o.Command), "*messages.")
		return fmt.Sprintf("to the lock actor of %s: %s", o.ID, command)
	case relay.Answer:
		return answered(o.Reply)
	}
	return fmt.Sprintf("%T", o)
}

func sending(r relay.Request) string {
	text := fmt.Sprintf("%s n=%d seen=%d", r.ID, r.Number, r.Seen)
	if r.Want != nil {
		text += " want"
		if r.Want.Timeout > 0 {
			text += fmt.Sprintf(" timeout=%v", r.Want.Timeout)
		}
		if r.Want.TellMore {
			text += " tell-more"
		}
	}
	for name, wish := range wishes {
		if r.Wish == wish {
			text += " " + name
		}
	}
	for what, name := range []string{"contention", "check"} {
		if n := r.Asks[what]; n > 0 {
			text += fmt.Sprintf(" %s=%d", name, n)
		}
	}
	if r.Over {
		text += " over"
	}
	if r.Gateway > 1 {
		text += fmt.Sprintf(" gateway=%d", r.Gateway)
	}
	return text
}

func answered(r relay.Reply) string {
	text := fmt.Sprintf("reply %s n=%d", r.ID, r.Number)
	if r.Acceptance != relay.Known {
		for name, acceptance := range acceptances {
			if r.Acceptance == acceptance {
				text += " " + name
			}
		}
		if r.Detail != "" {
			text += ": " + r.Detail
		}
		return text
	}
	text += fmt.Sprintf(" lasts=%v", r.Lasts)
	if r.Detail != "" {
		text += fmt.Sprintf(" trouble %q", r.Detail)
	}
	if said := r.Predecessor; said != nil {
		text += fmt.Sprintf(" waits for %s (%d)", contender(said.Contender), said.Number)
	}
	for i, ev := range r.Events {
		text += fmt.Sprintf(" %d:%s", r.First+uint64(i), named(ev.Notice))
		if ev.In > 0 {
			text += fmt.Sprintf("(in %v)", ev.In)
		}
		if ev.Answers > 0 {
			text += fmt.Sprintf("(answers %d)", ev.Answers)
		}
	}
	return text
}

// contender writes whom a request waits for.
func contender(c messages.Contender) string {
	if !c.HasNode() {
		return "nobody that is known"
	}
	text := c.Node
	if c.Host != "" {
		text += " on " + c.Host
	}
	if c.Asked {
		text += ", asked"
	}
	return text
}

// named writes an event or a notice.
func named(notice any) string {
	if line, is := notice.(shown); is {
		return string(line)
	}
	if t, is := notice.(*messages.Transition); is {
		text := fmt.Sprintf("%v>%v", t.From, t.To)
		if t.On != "" {
			text += "[" + t.On + ": " + t.Do + "]"
		}
		return text
	}
	text := strings.TrimPrefix(fmt.Sprintf("%T", notice), "*messages.")
	switch n := notice.(type) {
	case *messages.Waiting:
		return fmt.Sprintf("%s(%d)", text, n.Before)
	case *messages.Watched:
		if !n.Readable {
			return text + "(not)"
		}
	case *messages.Released:
		return text + "(" + string(n.Reason) + ")"
	case *messages.Lost:
		return text + "(" + string(n.Reason) + ")"
	case *messages.Cancelled:
		if n.Detail != "" {
			return text + "(" + string(n.Reason) + ": " + n.Detail + ")"
		}
		return text + "(" + string(n.Reason) + ")"
	case *messages.Failed:
		return text + "(" + string(n.Reason) + ")"
	}
	return text
}
