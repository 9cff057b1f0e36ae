package walk

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/tests/mistakes"
)

// seeded is a mistake that a walk of a plan must find: at the boundary of the code that is walked,
// or in its source.
type seeded struct {
	name    string
	mistake Mistake
	source  []edit
	folder  string // of the source; that of the coordinator where it is empty
	plan    Plan
	breaks  Invariant
}

// edit replaces a text that occurs once in the folder.
type edit struct{ from, to string }

func rule(from, to string) edit { return edit{from, to} }

func edits(all ...edit) []edit { return all }

// inSource gives a mistake as a change of the files of a folder. A text is sought in all of them: rules move.
func (c *seeded) inSource(t *testing.T, root string) mistakes.Mistake {
	folder := cmp.Or(c.folder, "actors/internal/coordinator")
	names, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	require.NoError(t, err)
	m := mistakes.Mistake{Name: c.name}
	for _, e := range c.source {
		var in []string
		for _, name := range names {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			if !strings.HasSuffix(name, "_test.go") && strings.Contains(string(text), e.from) {
				in = append(in, folder+"/"+filepath.Base(name))
			}
		}
		require.Len(t, in, 1, "%s: %q", c.name, e.from)
		m.Edits = append(m.Edits, mistakes.Edit{File: in[0], Old: e.from, New: e.to})
	}
	return m
}

// inCoordinator are mistakes in its rules.
var inCoordinator = []seeded{
	{name: "verify while creating", source: edits(rule("case r.node.phase == creating:", "case false:")),
		plan: Plan{Sessions: apart, Spared: spareB, Bounds: Bounds{Cuts: 1}}, breaks: OwnInvariants},
	{name: "hand over what is not held", source: edits(
		rule("if !r.held || !r.spec.exclusive() {", "if !r.spec.exclusive() {"),
		rule("	if e.Do == machine.GiveBack {\n", "	{\n")),
		plan: Plan{Sessions: oneTwo, Prompt: true, Bounds: Bounds{Cancels: 1}}, breaks: InOrder},
	{name: "withdraw what is under way", source: edits(
		rule("	if withdrawn {\n", "	if withdrawn || r.node.phase == creating {\n")),
		plan: Plan{Sessions: apart, Bounds: Bounds{Cancels: 1}}, breaks: NoOrphan},
	{name: "run an old verification last", source: edits(
		rule("case op < r.search.op:", "case false:"),
		rule("r.search.later = max(r.search.later, op)", "r.search.later = op")),
		plan: Plan{Sessions: single, Bounds: Bounds{Cuts: 2, Cancels: 1}}, breaks: AllEnd},
	{name: "have a reader wait for a reader", source: edits(
		rule("return queue.WaitsFor(r.spec.Style.Mode, style.Mode)",
			"return style.Mode == r.spec.Style.Mode")),
		plan: Plan{Sessions: two, Modes: readReadWrite}, breaks: NoLostWakeUp},
	{name: "hand over to who looks ahead", source: edits(
		rule("w.role == awaitsNode && next.wait.nodes[0] == n.name &&",
			"(w.role == awaitsNode && next.wait.nodes[0] == n.name || w.role == looksAhead) &&")),
		plan: Plan{Sessions: []int{0, 1, 0}}, breaks: InOrder},
	{name: "take the second for the head", source: edits(
		rule("if !position.Head {",
			"if r.view.head = position.Predecessor; !position.Head {")),
		plan: secondIsNoProof, breaks: InOrder},

	{name: "take the number of contenders for the proof of being first", source: edits(
		rule("r.spec.Permits == 0 && view.Queue.First(made.Name)", "r.spec.Permits == 0 && view.Queue.Len() <= 2")),
		plan: Plan{Sessions: apart, ListsLater: true, Prompt: true}, breaks: InOrder},
	{name: "believe in successive numbers of any lock path", source: edits(
		rule("return n.under != 0 && n.under == q.path.identity.watchID() && n.under == s.under && n.number == s.number+1 &&",
			"return s.streak > 0 && n.number == s.number+1 &&")),
		plan: steadyPath(Bounds{Reaps: 1}), breaks: InOrder},
	{name: "believe in numbers that do not follow one another", source: edits(
		rule("n.under == s.under && n.number == s.number+1 &&", "n.under == s.under &&")),
		plan: steadyPath(Bounds{}), breaks: InOrder},
	{name: "believe in the watch of a lock path that is gone", source: edits(
		rule("c.forgetIdentity(p) // it is gone, or its watch is spent", "")),
		plan: steadyAgain(Bounds{Reaps: 1, Passes: 1}), breaks: InOrder},
	{name: "believe in a watch that is gone when the answer comes", source: edits(
		rule("n.under == q.path.identity.watchID() && n.under == s.under", "n.under == s.under")),
		plan: steadyAgain(Bounds{Reaps: 1, Passes: 1}), breaks: InOrder},
	{name: "believe in the watch of a connection that is lost", source: edits(
		rule("		p.listing, p.children = nil, nil\n		c.forgetIdentity(p)\n", "		p.listing, p.children = nil, nil\n")),
		plan: spared(steadyAgain(Bounds{Cuts: 1, Reaps: 1, Passes: 1})), breaks: InOrder},
	{name: "remove the watch of a lock path that is believed in", source: edits(rule("p.identity.ask != 0 || len(", "len(")),
		plan: sweeping(steadyAgain(Bounds{Reaps: 1, Passes: 1})), breaks: InOrder},
	{name: "remove the watch of a predecessor", source: edits(
		rule("len(above.watchers[name]) > 0 ||", "len(above.watchers[name]) < 0 ||")),
		plan: Plan{Sessions: apart, Prompt: true, Swept: true}, breaks: NoLostWakeUp},
	{name: "remove the watch of a queue", source: edits(rule("return p != nil && len(p.children) > 0", "return false")),
		plan: Plan{Sessions: apart, WatchAll: all, Prompt: true, Swept: true}, breaks: NoLostWakeUp},
	{name: "take a neighbour of the session for gone", source: edits(
		rule("n.number == s.number+1 &&\n		q.neighbour(n) == nil", "n.number == s.number+1")),
		plan: steadyAlone(Bounds{Cancels: 1}), breaks: InOrder},
	{name: "believe in a watch that is not set yet", source: edits(
		rule("	if i.set {\n		return i.ask\n	}\n	return 0\n", "	return i.ask\n")),
		plan: unwatched(steadyAgain(Bounds{Reaps: 1, Passes: 1})), breaks: InOrder},
	{name: "follow a node that was made before the watch stood", source: edits(
		rule("n.under == q.path.identity.watchID() && n.under == s.under &&", "n.under == q.path.identity.watchID() &&")),
		plan: unwatched(steadyPath(Bounds{Reaps: 1})), breaks: InOrder},
	{name: "follow a node that was not first", source: edits(
		rule("	if !first {\n		q.succession = succession{}\n		return\n	}\n", "")),
		plan: steadyPath(Bounds{Cancels: 1}), breaks: InOrder},
	{name: "call nobody to lead", source: edits(
		rule("k.node, k.timer, k.watched = nil, 0, false\n	c.callNext(q)", "k.node, k.timer, k.watched = nil, 0, false")),
		plan: Plan{Sessions: three, Cohort: cohort, Prompt: true}, breaks: OwnInvariants},
	{name: "wait behind those that came later", source: edits(
		rule("	at, _ := slices.BinarySearch(k.line, r.id)\n", "	at := len(k.line)\n")),
		plan: Plan{Sessions: three, Cohort: longCohort, Prompt: true, Bounds: Bounds{Cuts: 1}}, breaks: OwnInvariants},
	{name: "forget the line with the connection", source: edits(
		rule("cohort{style: k.style, line: k.line}); len(k.line) == 0", "cohort{}); true")),
		plan: Plan{Sessions: three, Cohort: longCohort, Prompt: true, Bounds: Bounds{Cuts: 1}}, breaks: OwnInvariants},
	{name: "call nobody in the place of one that has ended", source: edits(
		rule("		k.called = 0\n		c.callNext(r.queue)\n", "		k.called = 0\n")),
		plan: Plan{Sessions: three, Cohort: longCohort, Prompt: true, Bounds: Bounds{Cuts: 1, Cancels: 1}}, breaks: OwnInvariants},
	{name: "have one lead that has ended", source: edits(
		rule("	if k.called == r.id {\n		k.called = 0\n", "	if false {\n		k.called = 0\n")),
		plan: Plan{Sessions: three, Cohort: longCohort, Prompt: true, Bounds: Bounds{Expiries: 1, Cancels: 1}}, breaks: OwnInvariants},
	{name: "call nobody with a new connection", source: edits(rule("	c.callFirst() // before", "	// before")),
		plan: Plan{Sessions: two, Cohort: cohort, Prompt: true, Bounds: Bounds{Cuts: 1, Expiries: 1}}, breaks: OwnInvariants},
	{name: "pass on with the same token", source: edits(
		rule("	n.token, n.place = token, token.Place()\n	c.granted(next)\n",
			"	token = n.token\n	c.granted(next)\n")),
		plan: Plan{Sessions: two, Cohort: cohort, Prompt: true}, breaks: TokensRise},
	{name: "describe once", source: edits(rule("	if wrong > 0 {\n		c.describeSoon()\n	}\n", "")),
		plan: Plan{Sessions: three, Cohort: longCohort, Prompt: true, Bounds: Bounds{Looks: 1}}, breaks: OwnInvariants},
	{name: "name who has had it", source: edits(rule("	next.node = n\n	c.checkDescription(n)\n", "	next.node = n\n")),
		plan: Plan{Sessions: two, Cohort: cohort, Prompt: true}, breaks: OwnInvariants},
	{name: "read along before there is the lock", source: edits(rule("k.node != nil && k.grants > 0", "k.node != nil")),
		plan:   Plan{Sessions: oneTwo, Modes: writeReadRead, Cohort: allButFirst, Arrive: third, Prompt: true},
		breaks: InOrder},
	{name: "leave readers in line", source: edits(
		rule("	for len(n.line) > 0 && c.letsIn(n) {", "	for false {"), rule("	c.dissolveLine(n)\n}\n", "}\n")),
		plan: Plan{Sessions: two, Modes: readers, Cohort: longCohort, Prompt: true}, breaks: OwnInvariants},
	{name: "delete with the first who has read", source: edits(rule("case len(r.node.users) > 1:", "case len(r.node.users) > 2:")),
		plan:   Plan{Sessions: two, Modes: readers, Cohort: longCohort, Arrive: second, Prompt: true},
		breaks: Exclusion},
	{name: "let readers and others share", source: edits(
		rule("k.node != nil && k.node == r.node, k.style != r.spec.Style:", "k.node != nil && k.node == r.node:"),
		rule("	case !r.spec.Reads():\n", "	case false:\n"),
		rule("case r.spec.Reads() || k.node == nil ||", "case true || k.node == nil ||")),
		plan:   Plan{Sessions: two, Modes: readWrite, Cohort: longCohort, Arrive: second, Prompt: true},
		breaks: OwnInvariants},
	{name: "read along with what goes", source: edits(
		rule("	c.setPhase(r.queue, n, deleting)\n	c.endCohortOf(r.queue, n)\n", "	c.setPhase(r.queue, n, deleting)\n"),
		rule("n.phase == present && !n.wanted && c.epoch", "!n.wanted && c.epoch")),
		plan:   Plan{Sessions: two, Modes: readers, Cohort: longCohort, Arrive: second, Prompt: true},
		breaks: OwnInvariants},
	{name: "forget a line", source: edits(
		rule("	c.dissolveLine(n)\n	k := &q.cohort\n", "	k := &q.cohort\n")),
		plan:   Plan{Sessions: oneTwo, Modes: writeReadRead, Cohort: allButFirst, Prompt: true, Bounds: Bounds{Stops: 1}},
		breaks: OwnInvariants},
	{name: "retain though somebody has come", source: edits(
		rule("n.arrivals != othersCame &&\n", "true &&\n")),
		plan:   Plan{Sessions: twoOne, Sticky: all, Arrive: second, Prompt: true, Bounds: Bounds{Slow: 1}},
		breaks: NoLostWakeUp},
	{name: "retain through a cut", source: edits(
		rule("	c.dropAllRetained() // the watches that", "	// the watches that")),
		plan: Plan{Sessions: apart, Sticky: all, Prompt: true, Bounds: Bounds{Cuts: 1}}, breaks: NoLostWakeUp},
	{name: "reuse what goes", source: edits(
		rule("	q.retained = nil\n	c.stop", "	c.stop"),
		rule("n.phase != retained || q.retained.request", "q.retained == nil || q.retained.request")),
		plan: Plan{Sessions: twoOne, Sticky: all, Arrive: second}, breaks: OwnInvariants},
	{name: "retain what has batch mates", source: edits(rule("return !n.batchMates && n.token", "return n.token")),
		plan: batchMates, breaks: TokensRise},
	{name: "verify what is retained", source: edits(
		rule("r.node.phase == leftToOthers || r.node.phase == retained:", "false:")),
		plan:   Plan{Sessions: two, Sticky: all, Arrive: second, Prompt: true, Bounds: Bounds{Cuts: 1, Late: 1}},
		breaks: OwnInvariants},

	{name: "do not ask part by part", source: edits(
		rule("f.Outcome != Unknown && f.Outcome != Deferred && len(t.changes) > 1", "false")),
		plan: Plan{Sessions: three, Prompt: true, Bounds: Bounds{Cancels: 2, Breaks: 1}}, breaks: NoOrphan},
	{name: "send another queue's burst", source: edits(
		rule("switch q := c.epoch.paths[t.path].queueNamed(t.queue, ", "switch q := c.epoch.paths[t.path].queueNamed(t.path, ")),
		plan: Plan{Sessions: []int{1, 0, 0}, Arrive: third, Prompt: true}, breaks: OwnInvariants},
	{name: "lose a burst", source: edits(
		rule("	c.epoch.batch.waiting = append(c.epoch.batch.waiting, b.creates...)\n", "")),
		plan: Plan{Sessions: []int{1, 0, 0}, Arrive: third, Prompt: true}, breaks: AllEnd},
	{name: "retain though the lock is wanted", source: edits(
		rule("!n.wanted && n.hasNextToken() && n.arrivals", "n.hasNextToken() && n.arrivals"), rule("	if a.Alone && !a.Spent {\n", "	if a.Alone {\n")),
		plan:   Plan{Sessions: two, Sticky: all, Arrive: second, Prompt: true, Bounds: Bounds{Asks: 1}},
		breaks: NoLostWakeUp},
	{name: "reuse for two", source: edits(rule("return kept != nil && kept.next == 0 &&", "return kept != nil &&")),
		plan:   Plan{Sessions: three, Sticky: all, Arrive: [maxActors]bool{1: true, 2: true}, Prompt: true},
		breaks: AllEnd},
	{name: "delete with the first who leaves", source: edits(
		rule("case len(r.node.users) > 1:", "case len(r.node.users) > 2:")),
		plan:   Plan{Sessions: two, Owners: oneOwner, Reentry: firstTwo, Arrive: second, Prompt: true},
		breaks: Exclusion},
	{name: "forget what is being made", source: edits(
		rule("case n.phase == creating || n.phase != absent", "case n.phase != creating && n.phase != absent"),
		rule("	path := r.queue.path\n", "	if r == nil {\n		return\n	}\n	path := r.queue.path\n")),
		plan: Plan{Sessions: apart, Bounds: Bounds{Stops: 1}}, breaks: OwnInvariants},
	{name: "forget what waits for the end of a pause", source: edits(
		rule("e.Op != 0 && c.epoch.connected {\n		c.execute", "false {\n		c.execute")),
		plan: Plan{Sessions: single, Prompt: true, Bounds: Bounds{Defers: 1}}, breaks: OwnInvariants},
	{name: "keep what waits through a cut", source: edits(rule("		r.pace.voided()\n		r.sharing.with", "		r.sharing.with")),
		plan: Plan{Sessions: single, Prompt: true, Bounds: Bounds{Defers: 1, Cuts: 1}}, breaks: OwnInvariants},
	{name: "forget what waits when a late answer comes", source: edits(
		rule("*kind = paced{do: kind.do, waiting: kind.waiting}", "*kind = paced{}")),
		plan: answeredLate, breaks: AllEnd},
	{name: "leave what nobody owns", source: edits(rule("if p.unowned != \"\" || !c.isUnowned(r, name) {", "if true {")),
		plan: Plan{Sessions: two, Arrive: second, Prompt: true, Bounds: Bounds{Returns: 1, Polls: Always}}, breaks: AllEnd},
	{name: "look for no orphans", source: edits(rule("	c.lookForAllOrphans()\n", "")),
		plan: Plan{Sessions: single, Prompt: true, Bounds: Bounds{Cuts: 2, Outlives: 1}}, breaks: NoOrphan},
	{name: "look for an orphan on the next connection alone", source: edits(rule("o.phase, o.looks = lookDue, 0", "o.looks = 0")),
		plan: Plan{Sessions: single, Prompt: true, Bounds: Bounds{Cuts: 2, Outlives: 1, Slow: 1}}, breaks: NoOrphan},
	{name: "take what an earlier connection has made", source: edits(
		rule("case r.node.phase == absent && r.node.guard == \"\" && c.epoch.orphans[r.spec.GUID] != nil:", "case false:")),
		plan: Plan{Sessions: two, Prompt: true, Bounds: Bounds{Cuts: 2, Outlives: 1}}, breaks: OwnInvariants},
	{name: "take a node whose delete was sent", source: edits(rule("		what.Not = o.removed\n", "		_ = o.removed\n")),
		plan: orphanIsSought, breaks: Exclusion},
	{name: "remove a node that a request makes", source: edits(rule("|| c.makesNode(o.request) {", "{")),
		plan: Plan{Sessions: single, Prompt: true, Bounds: Bounds{Cuts: 2, Outlives: 1}}, breaks: Exclusion},
	{name: "remove what an overtaken look has found", source: edits(rule("o != nil && o.asked == id {", "o != nil {")),
		plan: orphansOvertaken, breaks: Exclusion},
	{name: "take the node of a contest whose delete was sent", source: edits(
		rule("			q.newest = max(q.newest, found.Czxid) // no request takes it any more\n", "			_ = q\n")),
		plan: contestGoes, breaks: Exclusion},
	{name: "give a late take-over the token of its czxid", source: edits(rule("r.inherited = r.takeOver.token", "_ = r.takeOver")),
		plan:   Plan{Sessions: apart, Reclaim: first, Prompt: true, Spared: spareB, Bounds: Bounds{Cuts: 2, Outlives: 1}},
		breaks: TokensRise},
	{name: "take a node that was deleted and made anew for the deleted one", source: edits(rule("n.phase == deleting && o.looks", "false && o.looks")),
		plan: madeAnew, breaks: NoOrphan},
	{name: "overlook the head that nobody owns", source: edits(rule("p.asksHead = true\n	c.ask(", "p.asksHead = false\n	_ = append([]any(nil), ")),
		plan: Plan{Sessions: []int{0, 1, 0}, Arrive: secondThird, Prompt: true, Without: coordinator.LookAhead,
			Bounds: Bounds{Returns: 1, Polls: Always}}, breaks: AllEnd},
	{name: "remove what a request is making", source: edits(
		rule("if strings.Contains(name, other.spec.GUID) ||", "if other.node.phase != creating && strings.Contains(name, other.spec.GUID) ||"),
		rule("other.node.guid != \"\" && strings.Contains(name, other.node.guid) {", "other.node.phase != creating && other.node.guid != \"\" && strings.Contains(name, other.node.guid) {")),
		plan: Plan{Sessions: two, Without: coordinator.GroupCommit}, breaks: Exclusion},
	{name: "watch one of several", source: edits(
		rule("range v.earlier {", "range v.earlier[:min(len(v.earlier), 1)] {")),
		plan: Plan{Sessions: twoOne, Modes: semaphores, Permits: 2, Prompt: true}, breaks: NoLostWakeUp},

	{name: "forget the line", source: edits(rule("	c.scanLine(q)\n}\n\n// scanLine has", "}\n\n// scanLine has")),
		plan: Plan{Sessions: three, Waiting: 1, Prompt: true}, breaks: OwnInvariants},
	{name: "count nobody who waits", source: edits(
		rule(", q.room.waiting >= c.bounds.Waiting:", ":"),
		rule("	case has.waiting-has.unbounded > c.bounds.Waiting:", "	case false:")),
		plan: Plan{Sessions: three, Waiting: 1, Prompt: true}, breaks: Bounded},
	{name: "weigh nothing that is unknown", source: edits(
		rule("return n.phase != absent && n.phase != leftToOthers }", "return n.phase != absent && n.phase != leftToOthers && n.phase != unknown }"),
		rule("n.phase == present || n.phase == unknown) && !c.holdsWith", "n.phase == present) && !c.holdsWith")),
		plan: Plan{Sessions: two, Paths: alternate, Arrive: second, Nodes: 1, Prompt: true,
			Bounds: Bounds{Cuts: 1, Stops: 1}}, breaks: Bounded},
	{name: "begin the next epoch anew", source: edits(rule("	c.restore(positions)\n", "	_ = positions\n")),
		plan:   Plan{Sessions: three, Waiting: 1, Prompt: true, InTurn: true, Bounds: Bounds{Lapses: 1, Expiries: 1, Slow: 1}},
		breaks: InOrder},
	{name: "weigh nothing that goes", source: edits(
		rule("return n.phase != absent && n.phase != leftToOthers }", "return n.phase != absent && n.phase != leftToOthers && n.phase != deleting }")),
		plan: Plan{Sessions: three, Paths: inSecond, Arrive: third, Nodes: 2, Prompt: true}, breaks: Bounded},
	{name: "stand before the others", source: edits(rule("	before := q.line.last\n", "	before := RequestID(0)\n")),
		plan: Plan{Sessions: four, Waiting: 1, Prompt: true, InTurn: true}, breaks: InOrder},
	{name: "keep the room of who has ended", source: edits(
		rule("	c.leaveCohort(r)\n	c.leaveLine(r)\n	c.leaveOwner(r)\n	c.unpark(r)", "	c.leaveCohort(r)\n	c.leaveOwner(r)\n	c.unpark(r)")),
		plan: Plan{Sessions: three, Waiting: 1, Prompt: true, Bounds: Bounds{Stops: 1}}, breaks: OwnInvariants},
	{name: "stand behind nobody", source: edits(
		rule("	case r.queue.room.nodes > 0:\n		return seat", "	case true:\n		return seat"),
		rule("	case length > 0 && q.room.nodes == 0 &&", "	case false &&")),
		plan: Plan{Sessions: four, Paths: alternate, Within: twoWant, Nodes: 2, Prompt: true}, breaks: NoLostWakeUp},
	{name: "lose a turn", source: edits(
		rule("	c.tell(r, machine.Event{Kind: machine.PredecessorGone, Op: r.lineOp()})\n}\n\n// refuseFull", "}\n\n// refuseFull")),
		plan: Plan{Sessions: three, Waiting: 1, Prompt: true}, breaks: NoLostWakeUp},

	{name: "wait behind one more than may be", source: edits(
		rule("return len(ahead) >= r.spec.Want.MaxWaiters &&", "return len(ahead) > r.spec.Want.MaxWaiters &&")),
		plan: Plan{Sessions: two, MaxWaiters: behindNobody, Prompt: true}, breaks: WaitersBounded},
	{name: "refuse behind one fewer", source: edits(
		rule("return len(ahead) >= r.spec.Want.MaxWaiters &&", "return len(ahead) >= r.spec.Want.MaxWaiters-1 &&")),
		plan: Plan{Sessions: two, MaxWaiters: behindOne, Prompt: true}, breaks: WaitersBounded},
	{name: "count nobody who stands in line", source: edits(
		rule("	for id := q.line.first; id != 0; id = c.requests[id].turn.next {\n		of(id)\n	}\n", "")),
		plan: Plan{Sessions: four, MaxWaiters: lastBounded, Waiting: 1, Prompt: true}, breaks: WaitersBounded},
	{name: "count no node that is coming", source: edits(
		rule("	for _, sp := range q.coming {\n		ahead = append(ahead, sp.Style)\n	}\n", "")),
		plan: Plan{Sessions: two, MaxWaiters: behindNobody}, breaks: WaitersBounded},
	{name: "count a node of the session twice", source: edits(
		rule("counted := append(r.queue.ownPrefixes(), ours...)", "counted := slices.Clone(ours)")),
		plan: Plan{Sessions: two, MaxWaiters: behindOne}, breaks: WaitersBounded},
	{name: "count no node that may be before that of the cohort", source: edits(
		rule("if s.node != nil && s.node.exists() { // only", "if false { // only")),
		plan: Plan{Sessions: three, Cohort: cohort, MaxWaiters: thirdBounded, Arrive: third, Prompt: true,
			Bounds: Bounds{Cuts: 1}}, breaks: WaitersBounded},
	{name: "decide by a look for one alone", source: edits(
		rule("range append(c.takeLooksBefore(r, id), p) {", "range []countingAhead{p} {")),
		plan: Plan{Sessions: two, MaxWaiters: behindOne, InTurn: true, Prompt: true}, breaks: InOrder},
	{name: "refuse who was let in", source: edits(
		rule("!r.spec.Want.Try && !r.admitted && s.queues()", "!r.spec.Want.Try && s.queues()")),
		plan: Plan{Sessions: apart, MaxWaiters: behindNobody, Prompt: true, Spared: spareB,
			Bounds: Bounds{Lapses: 1, Expiries: 1}}, breaks: WaitersBounded},
	{name: "forget with the session who was let in", source: edits(rule(", admitted: r.admitted,", ",")),
		plan: Plan{Sessions: apart, MaxWaiters: behindNobody, Prompt: true, Spared: spareB,
			Bounds: Bounds{Lapses: 1, Expiries: 1}}, breaks: WaitersBounded},
	{name: "make the node before the queue is known", source: edits(
		rule("		c.countAhead(r, op)\n", "		c.countAhead(r, op)\n		c.beginCreating(r)\n		r.kind.create(c, r, op)\n")),
		plan: Plan{Sessions: apart, MaxWaiters: behindNobody, Prompt: true}, breaks: OwnInvariants},
	{name: "refuse who need not wait", source: edits(
		rule(" && queue.KeptOut(r.spec.Style, ahead, permits)", " && permits >= 0")),
		plan: Plan{Sessions: two, Modes: readers, MaxWaiters: behindNobody, Prompt: true}, breaks: WaitersBounded},

	{name: "list no more once something has changed", source: edits(
		rule("n != nil && len(c.askedContention(n)) > 0 {", "n != nil && len(c.askedContention(n)) > 1 {")),
		plan: Plan{Sessions: apart, Arrive: second, Prompt: true, Bounds: Bounds{Attends: 1, Passes: 1}}, breaks: OwnInvariants},
	{name: "watch for others no more after the first change", source: edits(
		rule("		c.watchAgain(q, n)\n		return\n	}\n	c.arrived(", "		_ = q\n		return\n	}\n	c.arrived("),
		rule("n.arrivals != arrivalsWatched || !slices.Contains(", "n.arrivals != arrivalsWatched && !slices.Contains(")),
		plan: Plan{Sessions: apart, Arrive: second, Prompt: true, Bounds: Bounds{Attends: 1, Passes: 1}}, breaks: HoldersAreTold},
	{name: "take others for nobody", source: edits(
		rule("	if a.Alone && !a.Spent {\n		return\n	}\n	path :=", "	if !a.Spent {\n		return\n	}\n	path :=")),
		plan: Plan{Sessions: apart, Arrive: second, Prompt: true, Bounds: Bounds{Attends: 1}}, breaks: HoldersAreTold},
	{name: "tell nobody where the servers do not say", source: edits(
		rule("	if a.Alone && !a.Spent {\n		return\n	}\n	path :=", "	if a.Alone || a.Spent {\n		return\n	}\n	path :=")),
		plan: Plan{Sessions: two, Arrive: second, Prompt: true, Bounds: Bounds{Attends: 1, Defers: 1}}, breaks: HoldersAreTold},
	{name: "believe in the watch for others of a connection that is lost", source: edits(
		rule("		r.node.arrivals, r.asks = arrivalsUnwatched, holderAsks{}\n", ""),
		rule("n.arrivals != arrivalsWatched || !slices.Contains(", "n.arrivals != arrivalsWatched && !slices.Contains(")),
		plan: attendedThenCut, breaks: HoldersAreTold},
	{name: "take a node that is gone for checked", source: edits(
		rule("case f.none() || f.is(NoAuth): // NoAuth: the node exists, and may not be read\n		c.tell", "case f.none() || f.is(NoNode):\n		c.tell")),
		plan: Plan{Sessions: single, Bounds: Bounds{Checks: 1, Breaks: 1}}, breaks: HoldersAreTold},
	{name: "believe in a check that was asked for before", source: edits(
		rule("return r == nil || r.asks.check != id", "return r == nil || r.asks.check == 0")),
		plan: Plan{Sessions: single, Bounds: Bounds{Checks: 2, Breaks: 1}}, breaks: HoldersAreTold},
	{name: "leave a check unanswered that was put off", source: edits(
		rule("	default: // as if a heartbeat had no answer\n		c.tell(r, machine.Event{Kind: machine.Silent})\n", "")),
		plan: Plan{Sessions: single, Prompt: true, Bounds: Bounds{Checks: 1, Defers: 1}}, breaks: HoldersAreTold},
	{name: "wait behind a neighbour uncounted", source: edits(rule(" && r.kind.waitsFor(r, before) && !r.spec.Want.TellMore {",
		" && r.kind.waitsFor(r, before) {")),
		plan: Plan{Sessions: two, TellMore: all, Prompt: true}, breaks: HoldersAreTold},
	{name: "give the places of batch mates", source: edits(rule("!n.batchMates && !n.lost && r.inherited", "!n.lost && r.inherited")),
		plan: Plan{Sessions: four, TellMore: all, Prompt: true}, breaks: PlacesAreOwn},
}
