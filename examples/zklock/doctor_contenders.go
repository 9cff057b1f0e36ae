package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// survey has the contenders below the root, and what could not be read.
type survey struct {
	unread     []messages.Unread
	truncated  bool
	contenders []messages.Contender
}

// lookAtContenders reads the queues below the root, and names what is wrong with them.
func (e *examination) lookAtContenders(ctx context.Context, conn *zkconn.Conn) {
	found, err := inTime(ctx, max(answerTimeout, e.timeout), func() (survey, error) { return surveyOf(conn, e.root) })
	if err != nil {
		e.note(odd, "contenders", "try "+typed("tree", e.root), "below %s could not be looked at: %s", e.root, short(err))
		return
	}
	e.judgeUnread(found)
	e.judgeSessionless(found.contenders)
	e.judgeStrangers(found.contenders)
	e.judgeContenderWeight(found.contenders)
}

// surveyOf reads a tree and its queues, one after the other: each is read in parallel.
func surveyOf(conn *zkconn.Conn, root string) (survey, error) {
	tree, err := inspect.Locks(conn, root)
	if err != nil {
		return survey{}, err
	}
	found := survey{unread: tree.Unread, truncated: tree.Truncated}
	last := ""
	for _, l := range tree.Locks {
		if l.Path == last { // another queue of the same path
			continue
		}
		last = l.Path
		contenders, err := inspect.Queue(conn, l.Path)
		switch zkconn.OutcomeOf(err) {
		case zkconn.Applied:
			found.contenders = append(found.contenders, contenders...)
		case zkconn.Refused:
			found.unread = append(found.unread, messages.Unread{Path: l.Path, Refusal: messages.Refusal{Detail: short(err)}})
		default:
			return survey{}, err
		}
	}
	for _, c := range found.contenders {
		if c.Unread {
			found.unread = append(found.unread, messages.Unread{Path: c.At(), Refusal: messages.Refusal{Reason: messages.ReasonNoAuth}})
		}
	}
	return found, nil
}

// judgeUnread names what could not be read: nothing that is said below holds for it.
func (e *examination) judgeUnread(found survey) {
	const do = "have READ granted, or give a credential (--auth): contenders there are not looked at"
	for _, u := range found.unread[:min(len(found.unread), mostNamed)] {
		e.note(odd, "not read", do, "%s: %s", u.Path, cmp.Or(string(u.Reason), u.Detail))
	}
	if more := len(found.unread) - mostNamed; more > 0 {
		e.note(odd, "not read", do, "and %d more", more)
	}
	if found.truncated {
		e.note(odd, "not read", "name a --root further down", "there is more below %s than is read at once", e.root)
	}
}

// judgeSessionless names contenders that no session's end deletes.
func (e *examination) judgeSessionless(contenders []messages.Contender) {
	var lasting []messages.Contender
	for _, c := range contenders {
		if c.Session == 0 && !c.Unread {
			lasting = append(lasting, c)
		}
	}
	for _, c := range lasting[:min(len(lasting), mostNamed)] {
		e.note(broken, "no session", "contenders behind it wait for ever: "+typed("break", c.Path, c.Node),
			"%s belongs to no session (it is persistent), so nobody's end deletes it", c.At())
	}
	if more := len(lasting) - mostNamed; more > 0 {
		e.note(broken, "no session", "zklock queue --wide shows the session of each", "and %d more", more)
	}
}

// judgeStrangers names the lock paths where libraries meet that do not respect each other.
func (e *examination) judgeStrangers(contenders []messages.Contender) {
	told := map[string]bool{}
	for _, c := range contenders {
		if c.MayHold && !told[c.Path] && len(told) < mostNamed {
			told[c.Path] = true
			e.note(odd, "two at once?", mendStrangers, "%s", mayHold(c))
		}
	}
}

// judgeContenderWeight tells which sessions weigh too much with their contenders alone, where no server tells of all
// that a session has.
func (e *examination) judgeContenderWeight(contenders []messages.Contender) {
	if e.weighed {
		return
	}
	sessions := map[int64]*load{}
	for _, c := range contenders {
		if c.Session == 0 {
			continue
		}
		l := sessions[c.Session]
		if l == nil {
			l = &load{session: fmt.Sprintf("0x%x", c.Session)}
			sessions[c.Session] = l
		}
		l.add(e.chroot + c.At())
	}
	var all []load
	for _, l := range sessions {
		all = append(all, *l)
	}
	slices.SortFunc(all, compareLoads)
	e.judgeLoads(all, "not known: dump is not in the servers' 4lw.commands.whitelist; of contenders below "+e.root+" alone, ")
}

// mostCircles bounds how many deadlocks doctor tells: zklock graph shows them all.
const mostCircles = 5

// lookForDeadlocks looks whether anybody waits for ever.
func (e *examination) lookForDeadlocks(ctx context.Context, conn *zkconn.Conn) {
	type found struct{ sure, possible []messages.Deadlock }
	all, err := inTime(ctx, max(answerTimeout, e.timeout), func() (f found, err error) {
		f.sure, f.possible, err = inspect.PossibleDeadlocks(conn, e.root)
		return f, err
	})
	sure, possible := all.sure, all.possible
	graph := typed("graph", e.root)
	if err != nil {
		e.note(odd, "deadlocks", "try "+graph, "below %s could not be looked at: %s", e.root, short(err))
		return
	}
	for _, d := range sure[:min(len(sure), mostCircles)] {
		e.note(broken, "deadlock", graph+" shows it; ask one of them for its lock: "+typed("revoke", d.Members[0].Keeps.Path),
			"%s", circle(d))
	}
	for _, d := range possible[:min(len(possible), mostCircles)] {
		e.note(odd, "deadlock?", "no deadlock where other workers of the process hold and wait; a program that locks again "+
			"what it holds locks with the context of its lease ("+graph+" shows it)", "possible: %s", circle(d))
	}
	if more := max(len(sure)-mostCircles, 0) + max(len(possible)-mostCircles, 0); more > 0 {
		e.note(odd, "deadlocks", graph+" shows them", "and %d more", more)
	}
	if len(sure)+len(possible) == 0 {
		e.note(fine, "deadlocks", "", "none below %s", e.root)
	}
}

// circle is a deadlock in one line: who does what, and since when the last of them has waited.
func circle(d messages.Deadlock) string {
	text, since := "", time.Time{}
	for _, m := range d.Members {
		if text != "" {
			text += "; "
		}
		text += cmp.Or(m.Who, labelled(m.Waits)) + " " + inWords(m)
		if m.Waits.Since.After(since) {
			since = m.Waits.Since
		}
	}
	return fmt.Sprintf("%s, for %s", text, ago(since, time.Now()))
}
