package turns

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/mistakes"
)

// mistake breaks one rule: text in the source, what stands there instead, and the test that finds
// it.
type mistake struct{ rule, from, to, by string }

const (
	walks   = "TestWalk/"
	stories = "TestStories/"
)

var inRules = []mistake{
	// What may share.
	{"a label may differ", "return x == *b", "x.Label = b.Label\n\treturn x == *b", stories + "sharing"},
	{"elections share", "closed: alone, asked", "closed: false, asked", walks + "alone"},
	{"permits share", "\tif q.key.Kind == Locks {", "\tif true {", stories + "sharing"},
	{"queues are remembered", "\t\tdelete(t.queues, q.key)\n", "", walks + "default"},
	{"readers have their own tokens", "\tif h.line.want.reads() {\n\t\treturn h.token\n\t}\n", "", stories + "readers"},
	{"readers are kept", " && l.want.Mode == messages.Exclusive", "", stories + "kept"},

	// What a grant needs.
	{"suspended", "h.link == suspended, h.checking,", "h.checking,", walks + "held_behind"},
	{"lease", ", !t.now.Lease.Unbroken(h.epoch, h.term):\n\t\treturn false\n\tcase h.grants", ":\n\t\treturn false\n\tcase h.grants", walks + "cohort_and_faults"},
	{"revoked", "\t\t\tt.spend(h, revoked)\n", "", walks + "cohort_in_time"},
	{"transaction", "h.checking, h.txns > 0, ", "h.checking, ", walks + "transactions"},
	{"unfenced", "\tif !fenced {", "\tif false {", walks + "transactions"},
	{"one call at a time", "case q.writers > 0 || q.readers > 0 && !h.line.want.reads():", "case false:", walks + "cohort"},
	{"beside a reader", "q.writers > 0 || q.readers > 0 && !h.line.want.reads()", "q.writers > 0", walks + "plain_readers"},
	{"own watch", "\tcase h.grants > 0 && h.watch != watched:\n\t\treturn false\n", "", walks + "cohort"},
	{"own watch after a cut", "\t\tif h.watch == watched {\n\t\t\th.watch = unwatched\n\t\t}\n", "", walks + "sticky_and_rest"},
	{"unreadable", "case h.watch == unreadable && h.grants > 0:", "case false:", walks + "unreadable"},
	{"unreadable is kept", " && h.watch != unreadable", "", walks + "unreadable"},
	{"rest", "\t\th.checking = true\n\t\tt.emit(Output{Do: Check, Hold: h.id})\n\t\treturn false\n", "", walks + "sticky_and_rest"},
	{"check that was cut off", "h.link, h.checking = suspended, false", "h.link = suspended", walks + "sticky_and_rest"},
	{"order", "t.grant(h, l.waiting.first)", "t.grant(h, l.waiting.last)", walks + "cohort"},
	{"order of arrival", "return c.number < other.number", "return c.number > other.number", walks + "cohort"},

	// Tokens.
	{"next place", "h.token + messages.Token(h.grants)", "h.token", stories + "sharing"},
	{"places", "min(n, h.places+1-h.grants)", "min(n, many)", walks + "placeless"},
	{"no place is kept", " && h.grants <= h.places &&", " &&", walks + "placeless"},
	{"overtaken", "return h.next() <= q.newest\n", "return false\n", walks + "two_wishes"},
	{"token of a share", "\t\ttoken--\n", "", stories + "owners"},

	// Time and grants.
	{"time", "l.most > 1 && h.grants > 0 && at >= h.until", "false", walks + "cohort_in_time"},
	{"time is not watched", "t.arm(h, h.until)", "_ = h", stories + "time"},
	{"time runs while alone", "\tcase h.rivals != alone && l.most > 1", "\tcase l.most > 1", stories + "time"},
	{"time starts anew", "h.rivals, h.until = contended, m.At+h.left", "h.rivals = contended", stories + "time"},
	{"grants", "n := l.most - h.counted", "n := many", walks + "cohort"},
	{"grants count while alone", "\tif h.rivals != alone {\n\t\th.counted++\n\t}\n", "\th.counted++\n", stories + "time"},
	{"contention", "h.rivals, h.until = contended, m.At+h.left", "h.until = m.At+h.left", walks + "sticky"},
	{"contention after a cut", "\tif h.rivals == alone {\n\t\t\tt.emit(Output{Do: WatchContention", "\tif false {\n\t\t\tt.emit(Output{Do: WatchContention", stories + "kept"},

	// Asked for, kept, given back.
	{"next is asked for late", "\tt.ask(q)\n\tfor _, l := range q.lines {\n\t\tt.rest(l)\n\t}\n", "\tfor _, l := range q.lines {\n\t\tt.rest(l)\n\t}\n\tfor _, h := range t.over {\n\t\tt.emit(Output{Do: Release, Hold: h.id})\n\t}\n\tt.over = t.over[:0]\n\tt.ask(q)\n", stories + "kept"},
	{"bound on holds that wait", "for !q.full && q.asked+q.leaving < t.bounds.Waiting {", "for {", stories + "asked"},
	{"asked for one by one", "\tq.full = true\n", "", stories + "asked"},
	{"bound on those that leave", "for !q.full && q.asked+q.leaving <", "for !q.full && q.asked <", stories + "asked"},
	{"priority", "\tif c.want.Priority != other.want.Priority {", "\tif false {", stories + "asked"},
	{"surplus", "\t\t\tt.cancel(l.asked[n-1])\n", "\t\t\tbreak\n", walks + "cohort"},
	{"a hold is not passed on", "\tif next != nil {\n\t\tnext.hold = h\n\t}\n", "\th.call, next = nil, nil\n", stories + "asked"},
	{"a hold is passed on to another caller", "!h.shared && (", "false && (", stories + "asked"},
	{"kept while others wait", "case l.queue.waiting == 0 && t.mayKeep(h):", "case t.mayKeep(h):", walks + "two_wishes"},
	{"kept for ever", "\tif t.now.At >= h.since+sticky {", "\tif false {", walks + "sticky"},
	{"kept by many", "t.kept >= t.bounds.Kept || ", "", stories + "kept"},
	{"kept at the end", " && !t.ending &&", " &&", stories + "kept"},
	{"kept while suspended", " || h.link == suspended || !t", " || !t", stories + "kept"},
	{"given back during a transaction", "\tcase h.txns > 0, serves:", "\tcase serves:", walks + "transactions"},
	{"readers behind a writer", "\t\t\tl.closed = true\n\t\t}\n\t}\n", "\t\t}\n\t}\n", walks + "readers"},

	// Owners.
	{"owners wait for themselves", "\t\tc.sameOwner, lease.sameOwner = lease.sameOwner, c\n", "", stories + "owners"},
	{"share while suspended", "other.hold.link == suspended || ", "", walks + "reentry"},
	{"share without reentry", "!c.want.Reentry || ", "", stories + "owners"},
	{"upgrade", "case other.want.reads() && !reads:", "case false:", stories + "owners"},
	{"downgrade", "case reads && other.want.Mode == messages.Write && other.has():", "case false:", stories + "owners"},
	{"awaiting", "again = q.awaiting.n > 0 && t.decide(q) {", "again = false {", stories + "owners"},
	{"awaiting comes first", "\tif q.awaiting.n > 0 { // they may have come before those in line\n\t\tt.decide(q)\n\t}\n", "", stories + "owners"},

	// Try and MaxWaiters.
	{"try", "\t\tif q.keepsOut(c) {\n\t\t\tt.refuse", "\t\tif false {\n\t\t\tt.refuse", stories + "bound"},
	{"a try behind a kept hold", "q.resting+q.leaving > 0", "q.leaving > 0", stories + "bound"},
	{"a bound behind a cancelled hold", "q.resting+q.leaving > 0", "q.resting > 0", stories + "bound"},
	{"a bound is overtaken", "c != nil && (first == nil ||", "c != nil && !(c.bound == undecided && q.leaving > 0) && (first == nil ||", stories + "bound"},
	{"a try with a hold that waits", " && !(want.Try && len(l.asked) > 0)", "", stories + "bound"},
	{"permits that may be free", "\t\treturn q.stands()\n", "\t\treturn q.waiting > 1\n", stories + "bound"},
	{"a try waits for room", "\tt.refuseTries(q)\n", "", stories + "bound"},
	{"a try is relied on", "h.try, h.serves = true, 1", "h.try = true", stories + "bound"},
	{"a try is passed on", "\tif h.try || !h.passOn()", "\tif !h.passOn()", stories + "bound"},
	{"bound inside", "inside >= most && q", "inside > most && q", stories + "bound"},
	{"bound by listing", "ahead >= c.want.MaxWaiters", "ahead > c.want.MaxWaiters", stories + "bound"},
	{"those without nodes", "before + place - nodes", "before", stories + "bound"},
	{"who need not wait", "inside >= most && q.keepsOut(c)", "inside >= most", stories + "bound"},

	// Refusals, revokes, losses.
	{"refusal", "\t\tt.hear(h.line, c, why, detail)\n", "\t\tc = h.line.waiting.last\n\t\tt.hear(h.line, c, why, detail)\n", stories + "asked"},
	{"a deadlock of another", "\t\t\tc = t.firstBehind(h)\n", "", stories + "asked"},
	{"nobody hears", "\t\tt.hear(h.line, c, why, detail)\n", "\t\t_ = c\n", stories + "asked"},
	{"room", "why == messages.ReasonSessionFull && t.makeRoom()", "false", stories + "asked"},
	{"room is made for each", "\tif t.now.At < t.making {", "\tif false {", stories + "asked"},
	{"full of others", "\t\tcase why != messages.ReasonQueueFull ||", "\t\tcase true ||", stories + "asked"},
	{"asked again after a pause", "\tif h.phase == awaitsRoom && h.due != 0 {", "\tif false {", stories + "asked"},
	{"room of transactions", "\t\tif t.makeRoom() {\n\t\t\tpause", "\t\tif false {\n\t\t\tpause", stories + "asked"},
	{"grace", "\tif c.want.Grace > 0 {", "\tif false {", stories + "grants"},
	{"taken back below", "\t\t\tt.takeBack(h.users.first)\n", "\t\t\tbreak\n", stories + "grants"},
	{"revoke of a share", "\tif h.phase == revoked {\n\t\tt.tellRevoke(c)\n\t}\n", "", stories + "owners"},
	{"timeout", "\tif want.Timeout > 0 {", "\tif false {", stories + "asked"},
	{"loss", "\t\tt.emit(Output{Do: Tell, Call: c.id, Hold: h.id, State: messages.StateLost, Reason: why, Detail: detail})\n", "", stories + "grants"},
	{"crossing", "if h == nil || h.phase != asked {\n\t\treturn", "if h == nil {\n\t\treturn", walks + "cohort"},
	{"stale calls", "slot < len(t.calls) && t.calls[slot].id == id {", "slot < len(t.calls) && id != 0 {", stories + "stale"},
}

func (m mistake) inSource() mistakes.Mistake {
	return mistakes.Mistake{Name: "turns, " + m.rule, What: m.rule,
		Edits: []mistakes.Edit{{Package: "actors/turns", Old: m.from, New: m.to}}}
}

// TestMistakesApply: the texts that the mistakes in the source replace are there. TestMistakesFind,
// of `make mistakes`, runs the tests that find them.
func TestMistakesApply(t *testing.T) {
	root, err := mistakes.Root()
	require.NoError(t, err)
	for _, m := range inRules {
		_, err := m.inSource().Overlay(root, t.TempDir())
		require.NoError(t, err)
		require.NoError(t, mistakes.List(m.inSource()))
	}
}
