package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

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
	graph := "zklock graph " + e.root
	if err != nil {
		e.note(odd, "deadlocks", "try "+graph, "below %s could not be looked at: %s", e.root, short(err))
		return
	}
	for _, d := range sure[:min(len(sure), mostCircles)] {
		e.note(broken, "deadlock", graph+" shows it; ask one of them for its lock: zklock revoke "+d.Members[0].Keeps.Path,
			"%s", circle(d))
	}
	for _, d := range possible[:min(len(possible), mostCircles)] {
		e.note(odd, "deadlock?", "it is none where other workers of the process hold and wait; a program that locks again "+
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
	return fmt.Sprintf("%s, for %s", printable(text), ago(since, time.Now()))
}
