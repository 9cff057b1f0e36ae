package coordinator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

var noTime time.Time

// TestRandomly plays requests with their machines, servers that lose replies, a connection that
// comes and goes, and other contenders, in any order. After every input the state keeps its
// invariants. A clone that goes on by itself changes nothing in its original. When all have given
// back, no node and no request is left.
func TestRandomly(t *testing.T) {
	seeds := uint64(80)
	switch {
	case race:
		seeds = 25
	case testing.Short():
		seeds = 40
	}
	for seed := range seeds {
		g := newGame(t, seed)
		for range 300 {
			g.step()
		}
		g.end()
	}
}

// game is one run.
type game struct {
	t       *testing.T
	seed    uint64
	r       *rand.Rand
	c       *Coordinator
	at      At
	s       *tree
	players []*player
	orders  []Input // on their way to the session
	asks    []asking
	timers  []uint64
	up      bool
	calm    bool // no faults any more, and everybody gives back
	lossy   bool // creates are often lost, of requests for one lock
	others  int  // what nodes of transactions weigh
	steps   int
	lost    []lost          // creates that were lost in this epoch: they may be carried out between two connections
	orphans map[string]bool // the paths in which nodes were made so
	log     []string        // what was told, and wanted
}

// asking is a query that is under way. Its answer may come long after the servers have carried it out.
type asking struct {
	*Ask
	answer Answer
}

// lost is a query that was lost with its connection, and looks the number of late looks since.
type lost struct {
	query Query
	looks int
}

// player is a lock actor and its owner.
type player struct {
	id    RequestID
	spec  *Spec
	m     machine.Machine
	epoch uint64
	// term is the term of the lease when it was granted, held the epoch.
	term, held uint64
	told       []envelope
	polls      []uint64
	done       bool
}

// envelope has an event that is on its way to a lock actor.
type envelope struct {
	event machine.Event
	epoch uint64
}

func newGame(t *testing.T, seed uint64) *game {
	bounds := DefaultBounds()
	if seed%3 > 0 { // else no request comes near them
		bounds.Waiting = int(seed/3%4 + 1)
		bounds.Weight = int(seed/12%5+1) * 60
		bounds.Root = int(seed%2) * 10
	}
	g := &game{t: t, seed: seed, orphans: map[string]bool{}, r: rand.New(rand.NewPCG(seed, 1)), s: newTree(),
		c:  New(Switches(seed%11), sessionTimeout, bounds, seed),
		at: At{Lease: Lease{Term: 1, Valid: true, Left: sessionTimeout / 2}}}
	g.s.deletes, g.lossy = g.deletes, seed%4 == 3
	return g
}

func (g *game) one(of int) bool { return g.r.IntN(of) == 0 }

// wants are the requests that take part.
func (g *game) want() *messages.Acquire {
	owner := []string{"", "", "", "me", "you"}[g.r.IntN(5)]
	all := []messages.Acquire{
		{Path: "/a"}, {Path: "/a"}, {Path: "/a"}, {Path: "/a", Try: true}, {Path: "/a", WatchAll: true},
		{Path: "/k"}, {Path: "/k", TellMore: true},
		{Path: "/b", Mode: messages.Read}, {Path: "/b", Mode: messages.Write}, {Path: "/b", Mode: messages.Read},
		{Path: "/b", Mode: messages.Read, Try: true}, {Path: "/b", Mode: messages.Read, TellMore: true},
		{Path: "/s", Mode: messages.Semaphore, Permits: 2}, {Path: "/s", Mode: messages.Semaphore, Permits: 2, Weight: 2},
		{Path: "/p/c", Mode: messages.Contest}, {Path: "/p/c", Mode: messages.Contest},
	}
	if g.lossy {
		all, owner = all[:3], ""
	}
	want := all[g.r.IntN(len(all))]
	if want.Owner = owner; want.Mode == messages.Read && g.one(2) {
		if writer := g.anyone(func(p *player) bool { return p.m.State.Holding() && p.spec.Style.Mode == messages.Write }); writer != nil {
			want.Beside = writer.m.Node
		}
	}
	return &want
}

// apply tells the coordinator something.
func (g *game) apply(in Input) {
	g.steps++
	before := []byte(nil)
	if g.steps%7 == 0 {
		before = printed(g.c)
		clone := copies.Copy(g.c)
		g.stray(clone)
		require.Equal(g.t, before, printed(g.c), "seed %d, step %d: a clone changes what it was cloned from", g.seed, g.steps)
	}
	outputs := g.c.Apply(in, g.at)
	g.log = append(append(g.log, fmt.Sprintf("%d %s", g.steps, given(in))), describeAll(outputs)...)
	require.NoError(g.t, g.c.Check(), "seed %d, step %d, %T %+v\n%s", g.seed, g.steps, in, in, g.tale())
	for _, out := range outputs {
		switch out := out.(type) {
		case *Note:
			require.False(g.t, out.What == Unowned && !g.orphans[out.Path], "seed %d, step %d: a request owns it\n%s", g.seed, g.steps, g.tale())
		case *Tell:
			p := g.players[out.To-1]
			p.told = append(p.told, envelope{out.Event, g.c.Epoch()})
		case *Ask:
			g.asks = append(g.asks, asking{Ask: out})
		case StartTimer:
			g.timers = append(g.timers, out.Timer)
		case StopTimer:
			g.timers = slices.DeleteFunc(g.timers, func(timer uint64) bool { return timer == out.Timer })
		case NewEpoch:
			g.asks, g.timers, g.up, g.others, g.lost = nil, nil, false, 0, nil
			g.s.expire(out.Epoch - 1)
			g.s.watched, g.s.listed, g.s.events = map[string]bool{}, map[string]bool{}, nil
		}
	}
}

// given writes an input.
func given(in Input) string {
	switch in := in.(type) {
	case *Order:
		return fmt.Sprintf("r%d orders %v", in.Request, in.Effect)
	case *Reply:
		return shortened(fmt.Sprintf("ask %d is answered %+v", in.ID, in.Answer))
	default:
		return shortened(fmt.Sprintf("%T %+v", in, in))
	}
}

// tale gives the newest events of the history.
func (g *game) tale() string {
	return strings.Join(g.log[max(0, len(g.log)-400):], "\n") + "\n" + g.standing()
}

// stray has a clone go on for some inputs of its own.
func (g *game) stray(c *Coordinator) {
	r := rand.New(rand.NewPCG(g.seed, uint64(g.steps)))
	for range 4 {
		in := Input(Disconnected{})
		switch r.IntN(6) {
		case 0:
			in = Expired{}
		case 1:
			in = Connected{sessionTimeout}
		case 2:
			in = Ended{RequestID(r.IntN(len(g.players)+1) + 1)}
		case 3:
			if len(g.timers) > 0 {
				in = Fired{g.timers[r.IntN(len(g.timers))]}
			}
		case 4:
			if len(g.asks) > 0 {
				ask := g.asks[r.IntN(len(g.asks))]
				in = &Reply{ID: ask.ID, Answer: unanswered(ask.Query, Failure{Outcome: Unknown})}
			}
		}
		c.Apply(in, g.at)
	}
}

// unanswered is the answer to a query that has failed.
func unanswered(query Query, f Failure) Answer {
	switch query.(type) {
	case *Create, *CreateAt, *TakeOver:
		return &Created{Failure: f}
	case *SeekReclaimable:
		return &Reclaimable{Failure: f}
	case *Commit:
		return &Committed{Failure: f}
	case *List, *WatchChildren:
		return &Listed{View{Failure: f}}
	case *Watch, *ReadOwn:
		return &Read{Failure: f}
	case *WatchContention:
		return &Contention{Spent: true}
	case *Look:
		return &Looked{Failure: f}
	default:
		return &Ack{f}
	}
}

// step makes one random move. It reports whether any was possible.
func (g *game) step() bool {
	moves := []func() bool{g.hear, g.hear, g.hear, g.order, g.order, g.order, g.answer, g.answer,
		g.event, g.event, g.fire, g.command}
	if !g.calm {
		moves = append(moves, g.come, g.strangers, g.connection)
	}
	for _, i := range g.r.Perm(len(moves)) {
		if moves[i]() {
			return true
		}
	}
	return false
}

// come has a request come.
func (g *game) come() bool {
	if len(g.players) == 12 {
		return false
	}
	id := RequestID(len(g.players) + 1)
	want := g.want()
	spec := NewSpec(want, fmt.Sprintf("r%d", id), fmt.Sprintf("by%d", id), noTime)
	spec.Requester = []string{"", "", "near", "far"}[g.r.IntN(4)]
	p := &player{id: id, spec: spec, m: machine.New(spec.Want)}
	g.players = append(g.players, p)
	g.take(p, machine.Event{Kind: machine.Begin})
	return true
}

// strangers come, go, write and meddle.
func (g *game) strangers() bool {
	mine := slices.Collect(func(yield func(string) bool) {
		for path, n := range g.s.nodes {
			if n.owner != 0 && !yield(path) {
				return
			}
		}
	})
	slices.Sort(mine)
	g.s.zxid++
	switch g.r.IntN(6) {
	case 0, 1:
		g.s.contend(other, fmt.Sprintf("other%d", g.s.zxid), 0)
	case 2, 3:
		g.leave()
	case 4:
		if len(mine) > 0 {
			if path := mine[g.r.IntN(len(mine))]; !g.s.lostGuard(path) {
				g.s.write(path, "unlock")
			}
		}
	case 5:
		if len(mine) > 0 && g.one(2) {
			path := mine[g.r.IntN(len(mine))]
			parent, name := split(path)
			one, guards := queue.GuardedBy(name)
			made, _ := g.c.attemptOf(name)
			if n := g.s.nodes[parent+"/"+one]; guards && n != nil && (made == nil || n.data == "unlock") { // nothing would tell whose node it is
				return true
			}
			g.s.remove(path)
			g.log = append(g.log, "an operator deletes "+path)
			if guards {
				g.orphans[parent] = true
			}
		}
	}
	return true
}

// leave has the first of the strangers go.
func (g *game) leave() bool {
	for _, name := range g.s.childrenOf("/a") {
		if path := "/a/" + name; g.s.nodes[path].owner == 0 {
			return g.s.remove(path)
		}
	}
	return false
}
