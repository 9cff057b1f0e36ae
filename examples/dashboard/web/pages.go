package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/turnstile-locks/turnstile/examples/dashboard/board"
)

// The number of entries of a page, unless it asks for another, and the most that it may ask for.
const (
	usual = 50
	most  = 2000
	// longestWord bounds the word that is looked for.
	longestWord = 200
)

// overviewStream keeps the page of all locks up to date.
func (d *Dashboard) overviewStream(w http.ResponseWriter, r *http.Request) {
	word, amounts, ok := asked(w, r, "locks")
	if !ok {
		return
	}
	d.stream(w, r, func(now time.Time) content {
		v := d.Board.Overview(now, word, amounts["locks"])
		var lanes, holds []row
		for _, l := range v.Lanes {
			lanes = append(lanes, row{id: l.ID, value: map[string]string{"id": l.ID, "path": l.Path}})
			holds = append(holds, barsOf(l.Path, l.Holds)...)
		}
		return content{figures: v.Figures, rate: v.Rate, lists: map[string][]row{
			"locks":     rowsOf(v.Locks, func(l board.LockRow) string { return l.ID }),
			"waits":     rowsOf(v.Waits, func(w board.WaitRow) string { return w.ID }),
			"deadlocks": rowsOf(v.Deadlocks, func(d board.DeadlockRow) string { return d.ID }),
			"possible":  rowsOf(v.Possible, func(d board.DeadlockRow) string { return d.ID }),
			"events":    eventRows(v.Events),
			"lanes":     lanes,
			"gaps":      gapRows(v.Gaps),
			"sessions":  rowsOf(v.Sessions, func(s board.SessionRow) string { return s.ID }),
			"phases":    rowsOf(v.Phases, func(p board.PhaseRow) string { return p.ID }),
			proofs:      rowsOf(v.Proofs, func(p board.ProofRow) string { return p.ID }),
			bars:        holds,
		}}
	})
}

// lockStream keeps the page of one lock up to date.
func (d *Dashboard) lockStream(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Query().Get("path")
	if status, why := d.within(path); status != http.StatusOK {
		refuse(w, status, why)
		return
	}
	word, amounts, ok := asked(w, r, "holders", "waiters", "events")
	if !ok {
		return
	}
	defer d.Open(path)()
	shown := board.Shown{Word: word, Holders: amounts["holders"], Waiters: amounts["waiters"], Events: amounts["events"]}
	d.stream(w, r, func(now time.Time) content {
		v := d.Board.Lock(now, path, shown)
		waiters := rowsOf(v.Waiters, func(c board.ContenderRow) string { return c.ID })
		for i := range waiters {
			waiters[i].position = v.Waiters[i].Position
		}
		return content{figures: v.Figures, rate: v.Rate, lists: map[string][]row{
			"holders":   rowsOf(v.Holders, func(c board.ContenderRow) string { return c.ID }),
			"waiters":   waiters,
			"deadlocks": rowsOf(v.Deadlocks, func(d board.DeadlockRow) string { return d.ID }),
			"possible":  rowsOf(v.Possible, func(d board.DeadlockRow) string { return d.ID }),
			"events":    eventRows(v.Events),
			"gaps":      gapRows(v.Gaps),
			bars:        barsOf(path, v.Holds),
		}}
	})
}

func gapRows(gaps []board.GapRow) []row {
	return rowsOf(gaps, func(g board.GapRow) string { return g.ID })
}

func eventRows(events []board.Event) []row {
	return rowsOf(events, func(e board.Event) string { return strconv.FormatInt(e.ID, 10) })
}

// asked reads what a page wants to be shown: a word to look for, and how many rows of each list. A stream is for our
// own page; others' are refused.
func asked(w http.ResponseWriter, r *http.Request, lists ...string) (word string, amounts map[string]int, ok bool) {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		refuse(w, http.StatusForbidden, "Only the dashboard's own page may do that.")
		return "", nil, false
	}
	query := r.URL.Query()
	if word = query.Get("word"); len(word) > longestWord {
		refuse(w, http.StatusBadRequest, "That word is too long to look for.")
		return "", nil, false
	}
	amounts = map[string]int{}
	for _, name := range lists {
		amounts[name] = usual
		if text := query.Get(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				refuse(w, http.StatusBadRequest, name+" is how many to show: a number from 1.")
				return "", nil, false
			}
			amounts[name] = min(n, most)
		}
	}
	return word, amounts, true
}
