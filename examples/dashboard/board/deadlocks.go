package board

import (
	"cmp"
	"strings"

	"github.com/turnstile-locks/turnstile/messages"
)

// mostMembers bounds what is shown of one deadlock.
const mostMembers = 12

// DeadlockRow is one circle of contenders that wait for each other.
type DeadlockRow struct {
	ID      string      `json:"id"`
	Members []MemberRow `json:"members"`
	More    int         `json:"more,omitempty"` // members that are not shown
}

// MemberRow is one of them.
type MemberRow struct {
	Who   string `json:"who"`
	Keeps string `json:"keeps"` // the lock path where it keeps the one before it waiting
	Holds bool   `json:"holds"` // it does so because it holds; otherwise it is before it in the queue
	Waits string `json:"waits"` // the lock path where it waits
}

func deadlockRows(all []messages.Deadlock) (rows []DeadlockRow) {
	for _, d := range all[:min(len(all), mostDeadlocks)] {
		var row DeadlockRow
		var id strings.Builder
		for _, m := range d.Members {
			id.WriteString(m.Waits.At() + " ")
			if len(row.Members) == mostMembers {
				row.More++
				continue
			}
			row.Members = append(row.Members, MemberRow{Who: cmp.Or(m.Waits.Label, m.Keeps.Label, m.Who, Name(m.Waits)),
				Keeps: m.Keeps.Path, Holds: m.Keeps.Holds, Waits: m.Waits.Path})
		}
		row.ID = id.String()
		rows = append(rows, row)
	}
	return rows
}

// possibleRows makes the rows of possible deadlocks, in which whole processes may be blocked.
func possibleRows(all []messages.Deadlock) []DeadlockRow {
	rows := deadlockRows(all)
	for i := range rows {
		for at := range rows[i].Members {
			if who := all[i].Members[at].Who; who != "" {
				rows[i].Members[at].Who = who
			}
		}
	}
	return rows
}

// stuckPaths gives the lock paths that are part of a deadlock.
func stuckPaths(all []messages.Deadlock) map[string]bool {
	paths := map[string]bool{}
	for _, d := range all {
		for _, m := range d.Members {
			paths[m.Keeps.Path], paths[m.Waits.Path] = true, true
		}
	}
	return paths
}

// stuckNodes gives the nodes that are part of a deadlock.
func stuckNodes(all []messages.Deadlock) map[string]bool {
	nodes := map[string]bool{}
	for _, d := range all {
		for _, m := range d.Members {
			nodes[m.Keeps.At()], nodes[m.Waits.At()] = true, true
		}
	}
	return nodes
}
