package board

import (
	"cmp"
	"maps"
	"slices"
)

// mostSessions bounds the sessions that an overview shows.
const mostSessions = 10

// pathOverhead is the size of a path, in bytes, besides its characters, in the transaction that
// ends a session.
const pathOverhead = 4

// SessionRow describes one ZooKeeper session by its nodes in the queues that are followed. It may
// have more nodes.
type SessionRow struct {
	ID      string `json:"id"`
	Who     string `json:"who,omitempty"` // its machine and process
	Library string `json:"library,omitempty"`
	Own     bool   `json:"own,omitempty"` // it is the dashboard's
	Nodes   int    `json:"nodes"`
	Holds   int    `json:"holds"`
	Bytes   int    `json:"bytes"` // of its nodes in the transaction that ends it
}

// sessions gives those whose nodes weigh most, and how many there are. Paths are taken as the dashboard sees them: with a
// chroot, the servers' are longer.
func (b *Board) sessions() (heaviest []SessionRow, all int) {
	known := map[int64]*SessionRow{}
	for _, t := range b.tracks {
		for _, c := range t.order {
			if c.Session == 0 { // servers tell nothing of a node that may not be read
				continue
			}
			row := known[c.Session]
			if row == nil {
				row = &SessionRow{Own: c.Session == b.chain.now.ID}
				known[c.Session] = row
			}
			row.Nodes++
			row.Bytes += pathOverhead + len(c.At())
			if c.Holds {
				row.Holds++
			}
			row.Who, row.Library = cmp.Or(row.Who, process(c.Contender)), cmp.Or(row.Library, string(c.Library))
		}
	}
	ids := slices.SortedFunc(maps.Keys(known), func(a, b int64) int {
		return cmp.Or(cmp.Compare(known[b].Bytes, known[a].Bytes), cmp.Compare(a, b))
	})
	for _, id := range ids[:min(len(ids), mostSessions)] {
		row := *known[id]
		row.ID = sessionText(id)
		heaviest = append(heaviest, row)
	}
	return heaviest, len(ids)
}
