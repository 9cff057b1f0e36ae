package coordinator

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/snapshot"
)

// copies copies coordinators. Specs and views do not change.
var copies = snapshot.NewCopier[Coordinator](reflect.TypeFor[Spec](), reflect.TypeFor[View](), reflect.TypeFor[Predecessor]())

var prints = snapshot.NewPrinter(func(string, reflect.Type) snapshot.Write[struct{}] { return nil })

// printed prints the whole state of a coordinator, but the input at hand and its outputs.
func printed(c *Coordinator) []byte {
	shown := *c
	shown.out, shown.at = nil, At{}
	return prints.Append(nil, reflect.ValueOf(&shown), struct{}{})
}

// TestStories plays the stories in testdata: each line above a ---- tells the coordinator something, and below it
// stands what the coordinator wants done. Rewrite what stands below with
//
//	go test ./actors/internal/coordinator -run TestStories -rewrite
//
// The words of a story:
//
//	session [without=(FASTPATH,FASTPATH)] [knows=PATH] [down] [show-heartbeats] [waiting=W] [weight=N] [root=N]
//	                              a new coordinator, connected; it knows that PATH is there, and empty. Of one queue W
//	                              requests may wait, all nodes may weigh N bytes; the chroot has root characters
//	request r1 PATH [mode=write] [label=me] [try] ...
//	                              what request r1 wants; nothing is asked for yet
//	r1 Create | List | Watch node=x-1 | WatchOwn | Verify | Delete | GiveBack | Withdraw | CleanUp | WatchQueue | CheckOwn
//	                              the lock actor of r1 gives an order, with the next number of an operation, or op=N;
//	                              ending: the request was given up or back
//	r1 ends                       the lock actor ends
//	answer QUERY [for=TEXT] ...   the servers answer the oldest query of that kind (that says TEXT);
//	                              fails=no-node and the like
//	deleted, written, children PATH
//	                              the event of something that is watched
//	connected, disconnected, lapsed, expired
//	fires TIMER                   the oldest timer of that kind fires
//	lease valid|over [term=N] [left=5s]
//	                              what the shell says of the lease from now on
//	state                         shows what is kept
//	unused PATH                   whether nobody holds or waits with that node any more
//	keep NAME, back NAME          remembers how things stand, and goes back there
//
// Node r1-7 is the node of request r1, r1b-7 that of its second attempt, and x-7 another session's, with the number 7:
// x-read-7, x-write-7, x-permits-2-7 with other modes, x-lock-7 with the recipes' names, x-q-7 in the queue named q; c-r1 is
// the guard of the node of contest c. Heartbeats and the looks at the lease are shown where they are asked for.
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, file string) {
		var s *story
		kept := map[string]*story{}
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			lines := []string{strings.TrimSpace(d.Cmd + " " + joined(d.CmdArgs))}
			if d.Input != "" {
				lines = append(lines, strings.Split(d.Input, "\n")...)
			}
			for _, line := range lines {
				command, list, err := datadriven.ParseLine(line)
				require.NoError(t, err, d.Pos)
				args := &arguments{t: t, at: fmt.Sprintf("%s: %s", d.Pos, line), list: list}
				switch command {
				case "session":
					s = newStory(t, args)
					s.kept = kept
				case "back":
					s = s.back(args)
				default:
					s.t = t
					s.tell(command, args)
				}
				args.allUsed()
			}
			return s.told()
		})
	})
}

// story is one coordinator, with what it waits for.
type story struct {
	t      *testing.T
	c      *Coordinator
	at     At
	specs  map[RequestID]*Spec
	ops    map[RequestID]uint64 // the newest of each request
	asks   []*Ask               // without answers, in order
	timers []uint64             // likewise
	names  map[uint64]string    // of timers, and of heartbeats
	beats  bool                 // heartbeats are shown
	urgent bool                 // that was told last
	kept   map[string]*story    // by name
	out    strings.Builder
}

// sessionTimeout is the timeout of the sessions in stories.
const sessionTimeout = 30 * time.Second

func newStory(t *testing.T, args *arguments) *story {
	s := &story{t: t, specs: map[RequestID]*Spec{}, ops: map[RequestID]uint64{}, names: map[uint64]string{}}
	s.at = At{Lease: Lease{Term: 1, Valid: true, Left: sessionTimeout * 8 / 10}}
	off, err := ParseSwitches(strings.Join(args.values("without"), ","))
	require.NoError(t, err)
	bounds := DefaultBounds()
	bounds.Waiting = args.number("waiting", bounds.Waiting)
	bounds.Weight = args.number("weight", bounds.Weight)
	bounds.Root = args.number("root", 0)
	s.c = New(off, sessionTimeout, bounds, 0)
	for _, path := range args.values("knows") {
		s.c.epoch.pathOf(path).info = Info{Exists: true}
	}
	s.beats = args.has("show-heartbeats")
	if !args.has("down") {
		s.apply(Connected{Timeout: sessionTimeout})
	}
	return s
}

// copied gives a story that goes on by itself from here.
func (s *story) copied() *story {
	return &story{t: s.t, c: copies.Copy(s.c), at: s.at, specs: maps.Clone(s.specs), ops: maps.Clone(s.ops),
		asks: slices.Clone(s.asks), timers: slices.Clone(s.timers), names: maps.Clone(s.names), beats: s.beats, urgent: s.urgent}
}

// back goes back to what was kept under a name.
func (s *story) back(args *arguments) *story {
	then, ok := s.kept[args.next()]
	if !ok {
		args.wrong("nothing was kept under that name")
	}
	then = then.copied()
	then.kept = s.kept
	then.out.WriteString(s.out.String())
	return then
}

// told gives what the coordinator wanted since it was last asked for.
func (s *story) told() string {
	defer s.out.Reset()
	if s.out.Len() == 0 {
		return "nothing\n"
	}
	return s.out.String()
}

// apply tells the coordinator something. Its state is right then, and its clone does the same and is changed by
// nothing that it does.
func (s *story) apply(in Input) {
	twin, before := copies.Copy(s.c), printed(s.c)
	now := s.at
	wants := describeAll(twin.Apply(in, now))
	require.Equal(s.t, before, printed(s.c), "what its clone does changes a coordinator")
	outputs := s.c.Apply(in, now)
	require.Equal(s.t, describeAll(outputs), wants, "the clone")
	require.Equal(s.t, printed(s.c), printed(twin), "the clone")
	require.NoError(s.t, s.c.Check(), "after %T %+v\n%s", in, in, s.out.String())
	for _, out := range slices.Clone(outputs) {
		s.note(out)
	}
	if urgent := s.c.Counts().Urgent; urgent != s.urgent {
		s.urgent = urgent
		fmt.Fprintln(&s.out, "reconnecting is", map[bool]string{true: "urgent", false: "not urgent"}[urgent])
	}
}

func describeAll(outputs []Output) (all []string) {
	for _, out := range outputs {
		all = append(all, describe(out))
	}
	return all
}

// note takes what the coordinator wants done.
func (s *story) note(out Output) {
	text, hidden := describe(out), false
	switch out := out.(type) {
	case *Tell:
		if s.specs[out.To].Want.TellMore && out.Event.Token != 0 {
			text += fmt.Sprintf(" places=%d", out.Event.Places)
		}
	case *Ask:
		_, hidden = s.c.epoch.asked[out.ID].(heartbeat)
		s.asks = append(s.asks, out)
		if hidden {
			s.names[out.ID] = "Heartbeat"
		}
		text = strings.Replace(text, "ask Check", "ask "+s.queryName(out), 1)
	case StartTimer:
		name := timerNames[s.c.epoch.timers[out.Timer].kind]
		s.names[out.Timer] = name
		s.timers = append(s.timers, out.Timer)
		hidden = ofHeartbeats[name]
		text = fmt.Sprintf("timer %s in %v", name, out.After)
	case StopTimer:
		s.timers = slices.DeleteFunc(s.timers, func(timer uint64) bool { return timer == out.Timer })
		hidden = ofHeartbeats[s.names[out.Timer]]
		text = "stop " + s.names[out.Timer]
	case NewEpoch:
		s.asks, s.timers, s.urgent = nil, nil, false
	}
	if !hidden || s.beats {
		fmt.Fprintln(&s.out, text)
	}
}

// timerNames are the names of timers in stories. One that was stopped at once is "ended".
var timerNames = [...]string{NoTimer: "ended", CreatesTimer: "createsDue", DeletesTimer: "deletesDue",
	ReadTimer: "readsDue", RetryTimer: "retryDue", BeatTimer: "beatDue", LateTimer: "beatLate",
	LeaseTimer: "leaseDue", LookTimer: "lookAgain",
	PauseTimer: "pauseOver", WatchTimer: "watchIsOld", CreateTimer: "lookLate"}

// ofHeartbeats are the timers that are hidden where heartbeats are.
var ofHeartbeats = map[string]bool{"beatDue": true, "beatLate": true, "leaseDue": true, "ended": true}

// queryName gives the name of a query in a story.
func (s *story) queryName(ask *Ask) string {
	if name := s.names[ask.ID]; name != "" {
		return name
	}
	return strings.TrimPrefix(reflect.TypeOf(ask.Query).String(), "*coordinator.")
}

// taken takes the oldest of the queries that are under way of a kind.
func (s *story) taken(args *arguments, kind, about string) *Ask {
	for i, ask := range s.asks {
		if s.queryName(ask) == kind && strings.Contains(describe(ask), about) {
			s.asks = slices.Delete(s.asks, i, i+1)
			return ask
		}
	}
	args.wrong("no such query is under way: %v", describeAsks(s.asks))
	return nil
}

func describeAsks(asks []*Ask) (all []string) {
	for _, ask := range asks {
		all = append(all, describe(ask))
	}
	return all
}

// fired takes the oldest timer of a kind.
func (s *story) fired(args *arguments, name string) uint64 {
	for i, timer := range s.timers {
		if s.names[timer] == name {
			s.timers = slices.Delete(s.timers, i, i+1)
			return timer
		}
	}
	args.wrong("no such timer is set")
	return 0
}
