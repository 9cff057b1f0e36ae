package turns

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/asks"
)

// TestStories plays the stories in testdata: each line above a ---- tells the machine something, and below it stands what is
// to be done (go test -rewrite). check is called after each line. The words of a story:
//
//	new [waiting=N] [kept=N]           a new client, with these bounds
//	call a [/path] [read|write|semaphore|contest] [cohort=N] [sticky=D] [reentry] [alone] [try] [max=N] [priority=N]
//	       [grace=D] [timeout=D] [label=TEXT] [caller=TEXT] [within=CALL]
//	withdraw a, back a, timer a
//	begins a, ends h1 [unfenced], full h1   transactions
//	waits h1, waiting h1 N, held h1 [places=N] [term=N], watched h1 [unreadable], checked h1, suspended h1, resumed h1, revoke h1,
//	revoked h1, contended h1, lost h1, gone h1, timer h1
//	refused h1 [REASON]                words of the reason, with _ for blanks
//	after D                            time passes
//	lease over|valid
//	close, state
//
// Holds are named in the order in which they are asked for. Session timeouts are 60 s: time is 3 s, a rest 10 s. A hold has
// the zxid of its number, 1023 places, and term 1.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, file string) {
		s := newStory(t)
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			line := d.Cmd
			for _, a := range d.CmdArgs {
				line += " " + a.String()
			}
			for line := range strings.Lines(line + "\n" + d.Input) {
				if s.t = t; strings.TrimSpace(line) != "" {
					s.tell(strings.Fields(line))
				}
			}
			defer s.out.Reset()
			if s.out.Len() == 0 {
				return "nothing\n"
			}
			return s.out.String()
		})
	})
}

type story struct {
	t     *testing.T
	turns *Turns
	at    time.Duration
	valid bool
	calls map[string]CallID
	holds map[string]HoldID
	asks  int
	out   strings.Builder
}

func newStory(t *testing.T) *story {
	return &story{t: t, turns: New(DefaultBounds()), at: time.Minute, valid: true, calls: map[string]CallID{}, holds: map[string]HoldID{}}
}

// Unbroken is the lease of the story, in term 1.
func (s *story) Unbroken(_, term uint64) bool { return s.valid && term == 1 }

// words are what follows the first two words of a line.
type words []string

func (w words) has(key string) bool { return slices.Contains(w, key) }

func (w words) text(key string) string {
	for _, word := range w {
		if k, v, ok := strings.Cut(word, "="); ok && k == key {
			return v
		}
	}
	return ""
}

func (w words) number(key string, usual int) int {
	if n, err := strconv.Atoi(w.text(key)); err == nil {
		return n
	}
	return usual
}

func (w words) span(key string) time.Duration {
	d, _ := time.ParseDuration(w.text(key))
	return d
}

var modes = map[string]messages.Mode{"read": messages.Read, "write": messages.Write, "semaphore": messages.Semaphore,
	"contest": messages.Contest}

func (w words) want() *Want {
	want := Want{Acquire: asks.Flags(w.has), Cohort: w.number("cohort", 0), Sticky: w.span("sticky"), Reentry: w.has("reentry"), Alone: w.has("alone")}
	want.Path, want.MaxWaiters, want.Priority = "/a", w.number("max", 0), w.number("priority", 0)
	want.Caller = w.text("caller")
	want.Grace, want.Timeout, want.Label = w.span("grace"), w.span("timeout"), w.text("label")
	for _, word := range w {
		if mode, ok := modes[word]; ok {
			want.Mode = mode
		}
		if strings.HasPrefix(word, "/") {
			want.Path = word
		}
	}
	return &want
}

func (s *story) tell(line []string) {
	t, m, name := s.turns, Moment{At: s.at, Lease: s}, ""
	var rest words
	if len(line) > 1 {
		name, rest = line[1], line[2:]
	}
	c, h := s.calls[name], s.holds[name]
	switch line[0] {
	case "new":
		w := words(line[1:])
		out := s.out.String()
		*s = *newStory(s.t)
		s.out.WriteString(out)
		s.turns.bounds = Bounds{Waiting: w.number("waiting", 256), Kept: w.number("kept", 1024)}
	case "call":
		s.calls[name] = t.Call(m, rest.want(), s.calls[rest.text("within")])
	case "withdraw":
		t.Withdraw(m, c)
	case "back":
		t.GiveBack(m, c)
	case "timer":
		t.CallTimer(m, c)
		t.HoldTimer(m, h)
	case "begins":
		t.TxnBegun(c)
	case "ends":
		t.TxnEnded(m, h, !rest.has("unfenced"))
	case "full":
		fmt.Fprintf(&s.out, "the transaction of %s: again in %v\n", name, t.TxnRefused(m, h))
	case "waiting":
		n, err := strconv.Atoi(rest[0])
		require.NoError(s.t, err)
		t.Hear(m, h, &messages.Waiting{Before: n})
	case "waits":
		t.Waits(m, h)
	case "held":
		zxid, err := strconv.Atoi(name[1:])
		require.NoError(s.t, err)
		t.Held(m, h, &messages.Held{Grant: messages.Grant{Token: messages.Token(zxid << 10)},
			Places: rest.number("places", messages.MaxPlace), Epoch: 1, Term: uint64(rest.number("term", 1))}, time.Minute)
	case "watched":
		t.Hear(m, h, &messages.Watched{Readable: !rest.has("unreadable")})
	case "checked":
		t.Hear(m, h, &messages.Checked{})
	case "suspended":
		t.Hear(m, h, &messages.Suspended{})
	case "resumed":
		t.Hear(m, h, &messages.Resumed{})
	case "revoked":
		t.Hear(m, h, &messages.Revoked{})
	case "revoke":
		t.Hear(m, h, &messages.RevokeRequested{})
	case "contended":
		t.Hear(m, h, &messages.Contended{})
	case "lost":
		t.Ended(m, h, messages.ReasonNodeDeleted, "")
	case "refused":
		why := messages.ReasonNoAuth
		if len(rest) > 0 {
			why = messages.Reason(strings.ReplaceAll(rest[0], "_", " "))
		}
		t.Ended(m, h, why, "")
	case "gone":
		t.Ended(m, h, messages.ReasonReleased, "")
	case "after":
		d, err := time.ParseDuration(name)
		require.NoError(s.t, err)
		s.at += d
	case "lease":
		s.valid = name == "valid"
	case "close":
		t.Close(m)
	case "state":
		s.state()
	default:
		s.t.Fatalf("what is %q?", line)
	}
	require.NoError(s.t, t.check(), "%q", line)
	for _, o := range t.Take() {
		if o.Do == Ask && s.nameOf(o.Hold) == "?" {
			s.asks++
			s.holds[fmt.Sprintf("h%d", s.asks)] = o.Hold
		}
		fmt.Fprintln(&s.out, s.line(o))
	}
}

func (s *story) nameOf(id HoldID) string {
	for name, h := range s.holds {
		if h == id {
			return name
		}
	}
	return "?"
}

func (s *story) nameOfCall(id CallID) string {
	for name, c := range s.calls {
		if c == id {
			return name
		}
	}
	return "?"
}

var doing = map[Do]string{Cancel: "cancel", Release: "release", Check: "check", WatchContention: "watch for contenders of"}

func (s *story) line(o Output) string {
	c, h := s.nameOfCall(o.Call), s.nameOf(o.Hold)
	switch o.Do {
	case Grant:
		return fmt.Sprintf("%s holds with %s, token %d.%d", c, h, o.Token.Zxid(), o.Token.Place())
	case Refuse:
		return strings.TrimSuffix(fmt.Sprintf("%s is refused: %s (%s)", c, o.Reason, o.Detail), " ()")
	case Tell:
		text := fmt.Sprintf("%s is %v", c, o.State)
		if o.Reason != "" {
			text += ": " + string(o.Reason)
		}
		if o.Deadline > 0 {
			text += fmt.Sprintf(", in %v", o.Deadline-s.at)
		}
		return text
	case Ask:
		text := fmt.Sprintf("ask %s for %s", h, c)
		if o.Try {
			text += ", try"
		}
		if o.Shared {
			text += ", shared"
		}
		if o.Beside != 0 {
			text += ", beside " + s.nameOf(o.Beside)
		}
		return text
	case SetTimer:
		if o.Hold != 0 {
			c = h
		}
		return fmt.Sprintf("timer %s in %v", c, o.Deadline-s.at)
	}
	return doing[o.Do] + " " + h
}

// state shows the calls inside, and what the client has beside them.
func (s *story) state() {
	for _, key := range slices.SortedFunc(maps.Keys(s.turns.queues), func(a, b Key) int { return strings.Compare(a.Path, b.Path) }) {
		s.turns.standings(s.turns.queues[key], func(c Standing) bool {
			_, err := fmt.Fprintf(&s.out, "%s %v %s\n", s.nameOfCall(c.Call), c.State, s.nameOf(c.Hold))
			return err == nil
		})
	}
	fmt.Fprintf(&s.out, "%d queues, %d kept\n", len(s.turns.queues), s.turns.kept)
}
