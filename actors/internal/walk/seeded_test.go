package walk

import (
	"cmp"

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

// inSource gives a mistake as a change of the files of a folder.
func (c *seeded) inSource() mistakes.Mistake {
	m := mistakes.Mistake{Name: c.name}
	for _, e := range c.source {
		m.Edits = append(m.Edits, mistakes.Edit{Package: cmp.Or(c.folder, "actors/internal/coordinator"), Old: e.from, New: e.to})
	}
	return m
}

// Attempts of a request that share a name, and epochs of a session that share a mark.
var (
	sameName = []edit{{"attempt: n.attempt + 1}", "attempt: n.attempt}"}}
	sameMark = []edit{{"markOf(seed + number)", "markOf(seed)"}}
)

// inCoordinator are mistakes in its rules, and those of packages whose folder they name, as the machine's.
var inCoordinator = []seeded{
	{name: "hand over what is not held", source: []edit{
		{"if !r.held || !r.spec.exclusive() {", "if !r.spec.exclusive() {"},
		{"	if e.Do == machine.GiveBack {\n", "	{\n"}},
		plan: Plan{Sessions: oneTwo, Bounds: Bounds{Cancels: 1}}, breaks: InOrder},
	{name: "withdraw what is under way", source: []edit{
		{"	if withdrawn {\n		c.refuse(r, op, messages.ReasonNone, \"\")\n",
			"	if withdrawn || r.node.phase == creating {\n		c.tell(r, machine.Event{Kind: machine.NotCreated, Op: op})\n"}},
		plan: Plan{Sessions: apart, LateAnswers: true, Bounds: Bounds{Cancels: 1}}, breaks: NoOrphan},
	{name: "have a reader wait for a reader", source: []edit{
		{"return queue.WaitsFor(r.spec.Style.Mode, style.Mode)",
			"return style.Mode == r.spec.Style.Mode"}},
		plan: Plan{Sessions: two, LateAnswers: true, Modes: readReadWrite}, breaks: NoLostWakeUp},

	{name: "take the number of contenders for the proof of being first", source: []edit{
		{"r.spec.Permits == 0 && view.Queue.First(made.Name)", "r.spec.Permits == 0 && view.Queue.Len() <= 2"}},
		plan: Plan{Sessions: apart, ListsLater: true}, breaks: InOrder},
	{name: "believe in successive numbers of any lock path", source: []edit{
		{"follows := n.under != 0 && n.under == p.identity.watch && n.under == s.under && n.number == s.number+1 &&",
			"follows := s.streak > 0 && n.number == s.number+1 &&"}},
		plan: steadyPath(Bounds{Reaps: 1}), breaks: InOrder},
	{name: "believe in numbers that do not follow one another", source: []edit{
		{"n.under == s.under && n.number == s.number+1 &&", "n.under == s.under &&"}},
		plan: steadyPath(Bounds{}), breaks: InOrder},
	{name: "believe in the watch of a lock path that is gone", source: []edit{
		{"c.forgetIdentity(p) // it is gone, or its watch is spent", ""}},
		plan: steadyAgain(Bounds{Reaps: 1, Passes: 1}), breaks: InOrder},
	{name: "believe in a watch that is gone when the answer comes", source: []edit{
		{"n.under == p.identity.watch && n.under == s.under", "n.under == s.under"}},
		plan: steadyAgain(Bounds{Reaps: 1, Passes: 1}), breaks: InOrder},
	{name: "believe in the watch of a connection that is lost", source: []edit{
		{"		c.stopLooking(p)\n		c.forgetIdentity(p)\n", "		c.stopLooking(p)\n"}},
		plan: spared(steadyAgain(Bounds{Cuts: 1, Reaps: 1, Passes: 1})), breaks: InOrder},
	{name: "remove the watch of a lock path that is believed in", source: []edit{{"p.identity.ask != 0 || len(", "len("}},
		plan: sweeping(steadyAgain(Bounds{Reaps: 1, Passes: 1})), breaks: InOrder},
	{name: "remove the watch of a predecessor", source: []edit{
		{"len(above.watchers[name]) > 0 ||", "len(above.watchers[name]) < 0 ||"}},
		plan: Plan{Sessions: apart, Swept: true}, breaks: NoLostWakeUp},
	{name: "remove the watch of a queue", source: []edit{{"return p != nil && len(p.watchers[children]) > 0", "return false"}},
		plan: Plan{Sessions: apart, WatchAll: all, Swept: true}, breaks: NoLostWakeUp},
	{name: "take a neighbour of the session for gone", source: []edit{
		{"n.number == s.number+1 &&\n		q.neighbour(n) == nil", "n.number == s.number+1"}},
		plan: steadyAlone(Bounds{Cancels: 1}), breaks: InOrder},
	{name: "believe in a watch that is not set yet", source: []edit{
		{"		p.identity.ask = c.ask(&Watch{Path: p.path}, identifying{p.path})\n", "		p.identity.ask = c.ask(&Watch{Path: p.path}, identifying{p.path})\n		p.identity.watch = p.identity.ask\n"}},
		plan: unwatched(steadyAgain(Bounds{Reaps: 1, Passes: 1})), breaks: InOrder},
	{name: "follow a node that was made before the watch stood", source: []edit{
		{"n.under == p.identity.watch && n.under == s.under &&", "n.under == p.identity.watch &&"}},
		plan: unwatched(steadyPath(Bounds{Reaps: 1})), breaks: InOrder},
	{name: "follow a node that was not first", source: []edit{
		{"	if !first && !follows {\n		q.succession = succession{}\n		return false\n	}\n", ""},
		{"	return true\n}\n\n// maxStreak", "	return first || follows\n}\n\n// maxStreak"}},
		plan: steadyPath(Bounds{Cancels: 1}), breaks: InOrder},

	{name: "do not ask part by part", source: []edit{
		{"f.Outcome != Unknown && f.Outcome != Deferred && len(t.changes) > 1", "false"}},
		plan: Plan{Sessions: three, Bounds: Bounds{Cancels: 2, Breaks: 1}}, breaks: NoOrphan},
	{name: "send another queue's burst", source: []edit{
		{"switch q := c.epoch.paths[t.path].queueNamed(t.queue, ", "switch q := c.epoch.paths[t.path].queueNamed(t.path, "}},
		plan: Plan{Sessions: []int{1, 0, 0}, Arrive: third}, breaks: OwnInvariants},
	{name: "lose a burst", source: []edit{
		{"	c.epoch.batch.waiting = append(c.epoch.batch.waiting, b.creates...)\n", ""}},
		plan: Plan{Sessions: []int{1, 0, 0}, Arrive: third}, breaks: AllEnd},
	{name: "forget what is being made", source: []edit{
		{"case n.phase == creating || n.phase != absent", "case n.phase != creating && n.phase != absent"},
		{"	path := r.queue.path\n", "	if r == nil {\n		return\n	}\n	path := r.queue.path\n"}},
		plan: Plan{Sessions: apart, LateAnswers: true, Bounds: Bounds{Stops: 1}}, breaks: NoOrphan},
	{name: "forget what waits for the end of a pause", source: []edit{
		{"e.Op != 0 && c.epoch.connected {\n		c.execute", "false {\n		c.execute"}},
		plan: Plan{Sessions: single, Bounds: Bounds{Defers: 1}}, breaks: OwnInvariants},
	{name: "keep what waits through a cut", source: []edit{{"holderAsks{}, 0\n		r.pace.voided()\n", "holderAsks{}, 0\n"}},
		plan: Plan{Sessions: single, Bounds: Bounds{Defers: 1, Cuts: 1}}, breaks: OwnInvariants},
	{name: "leave what nobody owns", source: []edit{{"c.attemptOf(name); !ours || r != nil ||", "c.attemptOf(name); ours || r != nil ||"}},
		plan: Plan{Sessions: two, Arrive: second, Bounds: Bounds{Returns: 1, Polls: Always}}, breaks: AllEnd},
	{name: "look for no orphans", source: []edit{{"	c.lookAnew()\n", ""}},
		plan: Plan{Sessions: single, Bounds: Bounds{Cuts: 2, Outlives: 1}}, breaks: NoOrphan},
	{name: "forget a create that may come late", source: []edit{{"			c.mayComeLate(r.queue.path)\n", ""}},
		plan: Plan{Sessions: single, Bounds: Bounds{Cuts: 2, Outlives: 1}}, breaks: NoOrphan},
	{name: "make another node of the name of a lost one", source: sameName,
		plan: Plan{Sessions: two, Bounds: Bounds{Cuts: 2, Outlives: 1}}, breaks: NoOrphan},
	{name: "make another node of the name of one whose delete was sent", source: sameName, plan: orphanIsSought, breaks: NoOrphan},
	{name: "make the node of a contest anew with a guard whose delete was sent", source: sameName, plan: contestGoesTwice, breaks: NoOrphan},
	{name: "make a node anew behind its delete", source: sameName, plan: madeAnew, breaks: NoOrphan},
	{name: "remove a node that a request makes", source: []edit{{"|| r.node.phase == absent {", "|| r.node.phase <= creating {"}},
		plan: Plan{Sessions: two, LateAnswers: true, Without: coordinator.GroupCommit, Crowded: true}, breaks: Exclusion},
	{name: "take the node of an earlier session", source: sameMark, plan: anothersNode, breaks: Exclusion},
	{name: "take the node of a session that was given up", source: sameMark,
		plan: Plan{Sessions: apart, Spared: spareB, Bounds: Bounds{GivesUp: 1, Cuts: 1}}, breaks: Exclusion},
	{name: "overlook the head that nobody owns", source: []edit{{"		c.removeStray(r.queue.path, name, 0)\n", "		_ = name\n"}},
		plan: Plan{Sessions: []int{0, 1, 0}, Arrive: secondThird,
			Bounds: Bounds{Returns: 1, Polls: Always}}, breaks: AllEnd},
	{name: "watch one of several", source: []edit{
		{"range v.earlier {", "range v.earlier[:min(len(v.earlier), 1)] {"}},
		plan: Plan{Sessions: twoOne, Modes: semaphores, Permits: 2}, breaks: NoLostWakeUp},
	{name: "watch no number of permits", source: []edit{
		{"	c.watchNode(r, \"\", expect{permits: v.permits})\n", ""}},
		plan: Plan{Sessions: apart, Modes: semaphores, Permits: 1, Bounds: Bounds{Resizes: 1}}, breaks: NoLostWakeUp},
	{name: "watch the number of permits, whatever it has become", source: []edit{
		{"same = err == nil && permits == p.same.permits", "same = err == nil && permits > 0"}},
		plan: Plan{Sessions: apart, LateAnswers: true, Modes: semaphores, Permits: 1, Bounds: Bounds{Resizes: 1}}, breaks: NoLostWakeUp},
	{name: "go by the number of permits that a request came with", source: []edit{
		{"	ev := machine.ListedEvent(op, position, shown)\n",
			"	ev := machine.ListedEvent(op, position, shown)\n	ev.First = ev.First || shown && position.Before < r.spec.Permits\n"}},
		plan: Plan{Sessions: apart, Modes: semaphores, Permits: 2, Bounds: Bounds{Resizes: 1}}, breaks: Exclusion},

	{name: "count nobody who waits", source: []edit{
		{"case r.spec.One == \"\" && r.queue.waiting >= c.bounds.Waiting:", "case false:"},
		{" || waits > c.bounds.Waiting {", " {"}},
		plan: Plan{Sessions: three, Waiting: 1}, breaks: Bounded},
	{name: "weigh nothing that is unknown", source: []edit{
		{"		n.lost = n.lost || f.Outcome == Unknown\n", "		n.lost = n.lost || f.Outcome == Unknown\n		r.admitted = false\n		c.recount(r)\n"},
		{"case n.phase != absent && !r.admitted:", "case false:"}},
		plan: Plan{Sessions: two, Paths: alternate, Arrive: second, Nodes: 1,
			Bounds: Bounds{Cuts: 1, Stops: 1}}, breaks: Bounded},
	{name: "begin the next epoch anew", source: []edit{{"admitted: r.counted.waits > 0,", "admitted: false,"}},
		plan:   Plan{Sessions: three, Waiting: 1, Arrive: third, Bounds: Bounds{Lapses: 1, Expiries: 1, Late: 1, Slow: 1}},
		breaks: Kept},
	{name: "weigh nothing that goes", source: []edit{
		{"	n.phase = deleting\n", "	n.phase = deleting\n	r.admitted = false\n	c.recount(r)\n"},
		{"case n.phase != absent && !r.admitted:", "case false:"}},
		plan: Plan{Sessions: three, Paths: inSecond, Arrive: third, Nodes: 2}, breaks: Bounded},
	{name: "keep the room of who has ended", source: []edit{
		{"	c.recount(r)\n	if op != 0 {", "	if op != 0 {"}},
		plan: Plan{Sessions: three, Waiting: 1, Bounds: Bounds{Stops: 1}}, breaks: OwnInvariants},

	{name: "list no more once something has changed", source: []edit{
		{"			c.watchContention(c.requests[w.request])\n", "			_ = w\n"}},
		plan: Plan{Sessions: apart, Arrive: second, Bounds: Bounds{Attends: 1, Passes: 1}}, breaks: OwnInvariants},
	{name: "watch for others no more after the first change", source: []edit{
		{"			c.watchContention(c.requests[w.request])\n", "			_ = w\n"},
		{"case r.asks.contention != 0 && !slices", "case false && !slices"}},
		plan: Plan{Sessions: apart, Arrive: second, Bounds: Bounds{Attends: 1, Passes: 1}}, breaks: HoldersAreTold},
	{name: "take others for nobody", source: []edit{{"!a.Alone || a.Spent {", "a.Spent {"}},
		plan: Plan{Sessions: apart, Arrive: second, Bounds: Bounds{Attends: 1}}, breaks: HoldersAreTold},
	{name: "tell nobody where the servers do not say", source: []edit{{"!a.Alone || a.Spent {", "!a.Alone && !a.Spent {"}},
		plan: Plan{Sessions: two, Arrive: second, Bounds: Bounds{Attends: 1, Defers: 1}}, breaks: HoldersAreTold},
	{name: "believe in the watch for others of a connection that is lost", source: []edit{
		{"r.own, r.asks, r.search = ownWatch{}, holderAsks{}, 0", "r.own, r.search = ownWatch{}, 0"},
		{"		c.endAsks(r) // its owner was told", "		// its owner was told"},
		{"case r.asks.contention != 0 && !slices", "case false && !slices"}},
		plan: attendedThenCut, breaks: HoldersAreTold},
	{name: "take a node that is gone for checked", source: []edit{
		{"case f.none():\n		c.tell(r, machine.Event{Kind: machine.Checked})", "case f.none() || f.is(NoNode):\n		c.tell(r, machine.Event{Kind: machine.Checked})"}},
		plan: Plan{Sessions: single, LateAnswers: true, Bounds: Bounds{Checks: 1, Breaks: 1}}, breaks: HoldersAreTold},
	{name: "believe in a check that was asked for before", source: []edit{
		{"return r == nil || r.asks.check != id", "return r == nil || r.asks.check == 0"}},
		plan: Plan{Sessions: single, LateAnswers: true, Bounds: Bounds{Checks: 2, Breaks: 1}}, breaks: HoldersAreTold},
	{name: "leave a check unanswered that was put off", source: []edit{
		{"	default: // as if a heartbeat had no answer\n		c.tell(r, machine.Event{Kind: machine.Silent})\n", ""}},
		plan: Plan{Sessions: single, Bounds: Bounds{Checks: 1, Defers: 1}}, breaks: HoldersAreTold},
	{name: "wait behind a neighbour uncounted", source: []edit{{" && r.waitsFor(before) && !r.spec.Want.TellMore {",
		" && r.waitsFor(before) {"}},
		plan: Plan{Sessions: two, TellMore: all}, breaks: HoldersAreTold},
	{name: "give the places of batch mates", source: []edit{{"!n.batchMates && !n.lost && r.inherited", "!n.lost && r.inherited"}},
		plan: Plan{Sessions: four, TellMore: all}, breaks: PlacesAreOwn},

	{name: "hand over to who looks ahead", source: []edit{
		{"w.role == awaitsNode && next.wait.nodes[0] == n.name &&", "w.role == awaitsNode &&"}},
		plan: Plan{Sessions: []int{0, 1, 0}, LateAnswers: true}, breaks: InOrder},
	{name: "take the second for the head", source: []edit{
		{"if !position.Head {",
			"if r.view.head = position.Predecessor; !position.Head {"}},
		plan: secondIsNoProof, breaks: InOrder},
}
