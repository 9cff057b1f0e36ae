package walk

import (
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/tests/snapshot"
)

// printing is what is known while a state is printed: whose operations they are, of which session, and the watch of the
// lock path.
type printing struct {
	w       *world
	of      coordinator.RequestID
	session int
	watch   uint64
}

type (
	printer = snapshot.Writer[printing]
	write   = snapshot.Write[printing]
)

// prints prints states, coordinators and turns. All their fields are in, but for those that make no difference (reasons), so
// that what behaves alike is printed alike.
var prints = snapshot.NewPrinter(func(name string, of reflect.Type) write {
	if rule := ruleOf(name); rule != nil {
		return rule
	}
	switch of {
	case reflect.TypeFor[turns.CallID](), reflect.TypeFor[turns.HoldID](): // its slot, or none: an ID that has ended is void
		return func(p *printer, v reflect.Value) { p.Num(v.Uint()&0xffff_ffff, min(v.Uint()>>32, 1)) }
	case reflect.TypeFor[*turns.Want]():
		return func(p *printer, v reflect.Value) {
			is := func(w *turns.Want) bool { return unsafe.Pointer(w) == v.UnsafePointer() }
			p.Num(uint64(1 + slices.IndexFunc(p.Context.w.wants, is)))
		}
	case reflect.TypeFor[*queue.Listing]():
		return func(p *printer, v reflect.Value) {
			if p.Flag(!v.IsNil()); !v.IsNil() {
				p.Text((*queue.Listing)(v.UnsafePointer()).Names()...)
				p.Flag(true)
			}
		}
	case reflect.TypeFor[*coordinator.Spec](): // it never changes
		return func(p *printer, v reflect.Value) {
			if p.Flag(!v.IsNil()); !v.IsNil() {
				p.Text(v.Elem().FieldByName("ID").String())
			}
		}
	}
	return nil
})

// rules have the fields of which not all matters, by the ends of their names.
var rules = []struct {
	write  write
	fields []string
}{
	{ifSet, []string{"coordinator.lockPath.look.ask", "coordinator.lockPath.look.timer", "coordinator.lockPath.look.late",
		"coordinator.lockPath.identity.ask", "coordinator.listing.ask", "coordinator.ownQueue.burst.timer",
		"coordinator.request.asks.contention", "coordinator.request.asks.check", "coordinator.pace.timer", "walk.lockActor.poll"}},
	{ifSuspect, []string{"coordinator.pace.failures", "coordinator.lockPath.look.hangUps", "coordinator.Coordinator.epoch.strayHangUps"}},
	{printActors, []string{"walk.state.actors"}},
	{printSessions, []string{"walk.state.sessions"}},
	{whileCalled, []string{"walk.state.calls", "walk.state.clients", "walk.state.granted", "walk.state.own"}},
	{whileHolding, []string{"walk.lockActor.held", "walk.lockActor.term"}},
	{whileLagging, []string{"walk.flight.zxid"}},
	{snapshot.Values[printing], []string{"walk.session.flights"}},
	{whose, []string{".operation.request", "coordinator.request.id", "coordinator.Coordinator.epoch.parked.request",
		"coordinator.Order.Request"}},
	{purpose, []string{"walk.flight.id", "coordinator.Reply.ID"}},
	{timersSet, []string{"walk.session.timers"}},
	{isAny, []string{"walk.lockActor.inbox.event.Reason", "walk.state.servers.nodes.guard"}},
	{renamed, []string{".operation.op", "walk.lockActor.inbox.event.Op", "coordinator.Order.Effect.Op", "coordinator.request.own.op", "coordinator.request.search", "coordinator.request.removal.op",
		"coordinator.wait.op", "coordinator.pace.waiting.Op", "coordinator.Coordinator.epoch.parked.effect.Op"}},
	{watching, []string{"coordinator.lockPath.identity.watch"}},
	{whileWatched, []string{"coordinator.node.under", "coordinator.ownQueue.succession.under"}},
	{inQueue, []string{"coordinator.request.queue"}},
	{snapshot.Values[printing], []string{"coordinator.Coordinator.epoch.timers"}},
	{snapshot.Skip[printing], []string{"coordinator.Coordinator.epoch.asked"}},                     // its purposes are printed with the queries
	{snapshot.Skip[printing], []string{"turns.Turns.now", "turns.Turns.out", "turns.Turns.taken"}}, // of the input at hand
	{snapshot.Skip[printing], []string{"turns.Turns.free.queues", "turns.Turns.free.lines"}},       // they have no slots
	{slots, []string{"turns.Turns.free.calls", "turns.Turns.free.holds"}},
}

func ruleOf(name string) write {
	if withoutDifference(name) != "" {
		return snapshot.Skip[printing]
	}
	for _, rule := range rules {
		if slices.ContainsFunc(rule.fields, func(field string) bool { return strings.HasSuffix(name, field) }) {
			return rule.write
		}
	}
	return nil
}

// numberIn gives a number of any type.
func numberIn(v reflect.Value) uint64 {
	if v.CanInt() {
		return uint64(v.Int())
	}
	return v.Uint()
}

// ifSet: numbers of queries and timers are left out, and so are counts that only end.
func ifSet(p *printer, v reflect.Value) { p.Flag(numberIn(v) != 0) }

// ifSuspect: after two failures there is a pause, and it has no length.
func ifSuspect(p *printer, v reflect.Value) { p.Num(min(numberIn(v), 2)) }

// isAny: only whether there is a text matters.
func isAny(p *printer, v reflect.Value) { p.Flag(v.Len() > 0) }

// printActors prints those of the plan. Nothing of one that has stopped matters but its node, where that may come back.
func printActors(p *printer, _ reflect.Value) {
	for i := range p.Context.w.plan.Sessions {
		a := &p.Context.w.actors[i]
		if p.Context.of = coordinator.RequestID(i + 1); a.life != stopped {
			p.Value(reflect.ValueOf(a).Elem())
			continue
		}
		p.Num(uint64(a.life), uint64(a.is))
		if p.Context.w.left[Returns] > 0 {
			p.Text(a.m.Node)
			p.Num(a.epoch)
		}
	}
}

// printSessions prints all. One that is closed decides nothing any more.
func printSessions(p *printer, _ reflect.Value) {
	for s := range p.Context.w.sessions {
		sess := p.Context.w.sessions[s]
		if p.Context = (printing{w: p.Context.w, session: s}); sess.closed {
			sess.print, sess.seen, sess.term = fingerprint{}, 0, 0
		}
		p.Value(reflect.ValueOf(&sess).Elem())
	}
}

// whileCalled: nobody calls in most plans.
func whileCalled(p *printer, v reflect.Value) {
	if p.Context.w.plan.Calls != nil {
		p.Value(v)
	}
}

// whileHolding: the epoch and the term of a grant matter while it is held.
func whileHolding(p *printer, v reflect.Value) {
	if p.Context.w.actors[p.Context.of-1].m.Holding() {
		p.Num(v.Uint())
	}
}

// whileLagging: what an answer is of matters where servers may lag.
func whileLagging(p *printer, v reflect.Value) {
	if w := p.Context.w; w.left[Lags] > 0 || w.sessions[p.Context.session].link == lagging {
		p.Num(uint64(v.Int()))
	}
}

// timersSet prints which there are: the order in which they were set does not matter.
func timersSet(p *printer, _ reflect.Value) {
	p.Num(uint64(setTimers(p.Context.w, p.Context.session)))
}

// purpose prints what a query is for, by its number.
func purpose(p *printer, v reflect.Value) {
	c := p.Context.w.sessions[p.Context.session].decides
	if p.Flag(c.Ignores(v.Uint())); !c.Ignores(v.Uint()) {
		p.Value(reflect.ValueOf(c).Elem().FieldByName("epoch").FieldByName("asked").MapIndex(v))
	}
}

func whose(p *printer, v reflect.Value) {
	p.Context.of = coordinator.RequestID(v.Uint())
	p.Num(v.Uint())
}

func renamed(p *printer, v reflect.Value) {
	p.B = append(p.B, p.Context.w.rename(p.Context.of, v.Uint()))
}

func watching(p *printer, v reflect.Value) {
	p.Context.watch = v.Uint()
	ifSet(p, v)
}

func whileWatched(p *printer, v reflect.Value) { p.Flag(v.Uint() != 0 && v.Uint() == p.Context.watch) }

// inQueue: the queue of a request is printed with its lock path, and follows from its Spec.
func inQueue(p *printer, v reflect.Value) {
	p.Context.watch = v.Elem().FieldByName("path").Elem().FieldByName("identity").FieldByName("watch").Uint()
}

// slots prints those that are free, and nothing that is in them.
func slots(p *printer, v reflect.Value) {
	p.Num(uint64(v.Len()))
	for i := range v.Len() {
		p.Void(v.Index(i))
		p.Num(v.Index(i).Elem().FieldByName("id").Uint() & 0xffff)
	}
}

// The names of operations by which states are told apart. Only whether an operation is the current one matters: an
// event with any other number is stale for ever, because numbers only grow.
const (
	noOp = iota
	staleOp
	currentOp
)

// rename gives an operation of a request its name.
func (w *world) rename(id coordinator.RequestID, op uint64) byte {
	switch {
	case op == 0 || id == 0:
		return noOp
	case op == w.actors[id-1].m.Op:
		return currentOp
	default:
		return staleOp
	}
}

// withoutDifference says why a field makes no difference; "" where it must.
func withoutDifference(name string) string {
	for _, reason := range reasons {
		for _, field := range reason.fields {
			if below, is := strings.CutPrefix(name, field); is && (below == "" || below[0] == '.') {
				return reason.why
			}
		}
	}
	return ""
}

// reasons says why fields make no difference, or no difference that a walk could see.
var reasons = []struct {
	why    string
	fields []string
}{
	{"its hash is there, of all its fields", []string{"[2]walk.client.turns", "[2]walk.client.heard",
		"walk.session.decides", "walk.flight.query", "walk.flight.answer"}},
	{"it is of the input at hand", []string{"coordinator.Coordinator.at", "coordinator.Coordinator.out",
		"coordinator.Coordinator.doomed", "coordinator.Coordinator.epoch.burstsOver"}},
	{"it is the same in all states of a plan", []string{"coordinator.Coordinator.off", "coordinator.Coordinator.bounds",
		"coordinator.Coordinator.timeout", "coordinator.Coordinator.seed", "coordinator.Coordinator.epoch.timeout"}},
	{"it follows from the number of the epoch", []string{"coordinator.Coordinator.epoch.mark"}},
	{"it follows from the Spec of the request, which does not change", []string{"coordinator.request.spec", "coordinator.request.weight",
		"coordinator.request.kind", "coordinator.Order.Spec", "walk.lockActor.m.Want"}},
	{"only whether an operation is the current one matters", []string{"walk.lockActor.m.Op"}},
	{"it is told to people, or counted for them", []string{"walk.lockActor.m.Reason", "walk.lockActor.m.Detail",
		"walk.lockActor.inbox.event.Detail", "walk.lockActor.inbox.event.Permits", "coordinator.Order.Moment", "coordinator.request.gaveBack",
		"coordinator.Coordinator.stale", "coordinator.Coordinator.polls", "coordinator.wait.predecessor"}},
	{"numbers of queries and timers are left out: what they are for is in the fingerprint", []string{"coordinator.Coordinator.numbers"}},
	{"its timer is in the fingerprint while it is set", []string{"coordinator.Coordinator.epoch.lateTimer",
		"coordinator.Coordinator.epoch.leaseTimer",
		"coordinator.Coordinator.epoch.beats.newest",
		"coordinator.Coordinator.epoch.beats.timer", "coordinator.ownQueue.burst.deleteTimer",
		"coordinator.lockPath.identity.timer"}},
	{"it is only how long a pause is, and pauses have no length", []string{"coordinator.request.removal.tries",
		"coordinator.Coordinator.epoch.beats.hangUps"}},
	{"it says whose turn it is, and each has one in a move", []string{"coordinator.Coordinator.epoch.beats.sent",
		"coordinator.node.checked"}},
	{"it matters where there are thousands of lock paths", []string{"coordinator.Coordinator.epoch.idle", "coordinator.lockPath.idle"}},
	{"Coordinator.Check compares it with what it counts", []string{"coordinator.Coordinator.epoch.held",
		"coordinator.Coordinator.epoch.load.nodes", "coordinator.lockPath.requests", "coordinator.request.counted",
		"coordinator.ownQueue.waiting", "coordinator.node.of"}},
	{"it is part of the node's name", []string{"coordinator.node.number"}},
	{"the listing's first has it, too", []string{"coordinator.listed.by"}},
	{"its machine has it, unless the order is overtaken, and then it does nothing", []string{
		"coordinator.Coordinator.epoch.parked.effect.Node", "coordinator.Coordinator.epoch.parked.effect.Ending",
		"coordinator.pace.waiting.Node", "coordinator.pace.waiting.Ending"}},
	{"a lock actor sets it as it reads the event", []string{"walk.lockActor.inbox.event.Lease",
		"walk.lockActor.inbox.event.Overdue"}},
	{"the counter does not come to its end", []string{"walk.lockActor.inbox.event.Exhausted"}},
	{"no plan has requesters of a gateway", []string{"coordinator.Coordinator.epoch.load.shares"}},
	{"a holder reads its node at once, and no delete is delayed behind that", []string{
		"coordinator.Coordinator.epoch.reads", "coordinator.ownQueue.burst.deletes"}},
}
