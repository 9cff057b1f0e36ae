package board

import (
	"slices"
	"strconv"
	"time"

	"github.com/turnstile-locks/turnstile/actors"
)

// Of the dashboard's own session, so many phases and proofs are kept. Proofs that come within proofsEvery are one, so
// these are more than the five minutes that are drawn.
const (
	mostPhases  = 60
	mostProofs  = 400
	proofsEvery = time.Second
)

// chainBack is the time that the strip of the own session goes back.
const chainBack = 5 * time.Minute

// sameEnd bounds the difference between two readings of one lease's end, which look at the clock
// twice.
const sameEnd = 20 * time.Millisecond

// Lapsed is the state of a session that no lease may rest on any more: see actors.Connection. The other states are the words
// for the phases of a connection.
const Lapsed = "lapsed"

// OwnSession describes the dashboard's own session.
type OwnSession struct {
	ID      string `json:"id,omitempty"` // "" before there is one
	Epoch   uint64 `json:"epoch"`        // how many sessions there were, this one included
	Server  string `json:"server,omitempty"`
	State   string `json:"state"`
	Timeout int64  `json:"timeout"`         // milliseconds
	Until   int64  `json:"until,omitempty"` // when leases end; 0 where there can be none
	Bytes   int    `json:"bytes"`           // of its ephemeral nodes
	Most    int    `json:"most"`            // bytes
	Proofs  int    `json:"proofs"`          // in the time that is drawn
	Lapses  int    `json:"lapses"`
}

// PhaseRow is a time for which the own session was in one state.
type PhaseRow struct {
	ID      string `json:"id"`
	State   string `json:"state"`
	Epoch   uint64 `json:"epoch"`
	Session string `json:"session,omitempty"`
	Server  string `json:"server,omitempty"`
	From    int64  `json:"from"`
	To      int64  `json:"to,omitempty"` // 0 while it lasts
}

// ProofRow is a moment from which on leases last longer: the servers have proved that the session lives.
type ProofRow struct {
	ID string `json:"id"`
	At int64  `json:"at"`
}

// chain is the history of the own session, as far as it was looked at.
type chain struct {
	now    actors.Connection
	end    time.Time // of leases
	phases []PhaseRow
	proofs []ProofRow
	made   int // phases and proofs, to number them
}

// TakeSession takes what the dashboard's own session knows of its connection.
func (b *Board) TakeSession(now time.Time, s actors.Connection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	silence := b.silences.take(now, s)
	if b.chain.take(now, s) || silence {
		b.stir()
	}
}

// take takes a reading, and reports whether it shows anything new.
func (c *chain) take(now time.Time, s actors.Connection) bool {
	before := c.now
	c.now = s
	changed := before.NodeBytes != s.NodeBytes || before.Timeout != s.Timeout
	newest := len(c.phases) - 1
	if newest < 0 || c.phases[newest].State != stateOf(s) || c.phases[newest].Epoch != s.Epoch {
		if newest >= 0 {
			c.phases[newest].To = now.UnixMilli()
		}
		c.phases = keepNewest(append(c.phases, PhaseRow{ID: c.number(), State: stateOf(s), Epoch: s.Epoch, Session: sessionText(s.ID),
			Server: s.Server, From: now.UnixMilli()}), mostPhases)
		changed = true
	} else if p := &c.phases[newest]; p.Server != s.Server || p.Session != sessionText(s.ID) {
		p.Server, p.Session, changed = s.Server, sessionText(s.ID), true // it was not known when the phase began
	}
	end := now.Add(s.Lease)
	switch {
	case s.Lease <= 0:
		c.end = time.Time{}
	case c.end.IsZero() || before.Epoch != s.Epoch || end.Sub(c.end) > sameEnd:
		c.end, changed = end, true
		if n := len(c.proofs); n > 0 && now.UnixMilli()-c.proofs[n-1].At < proofsEvery.Milliseconds() {
			break
		}
		c.proofs = keepNewest(append(c.proofs, ProofRow{ID: c.number(), At: now.UnixMilli()}), mostProofs)
	}
	return changed
}

func (c *chain) number() string {
	c.made++
	return strconv.Itoa(c.made)
}

// stateOf is the state of a session in a word.
func stateOf(s actors.Connection) string {
	if s.Lapsed {
		return Lapsed
	}
	return string(s.Phase)
}

func sessionText(id int64) string {
	if id == 0 {
		return ""
	}
	return "0x" + strconv.FormatUint(uint64(id), 16)
}

// view gives the own session, and what it went through in the time that is drawn, the oldest first.
func (c *chain) view(now time.Time) (OwnSession, []PhaseRow, []ProofRow) {
	own := OwnSession{ID: sessionText(c.now.ID), Epoch: c.now.Epoch, Server: c.now.Server, State: stateOf(c.now),
		Timeout: c.now.Timeout.Milliseconds(), Bytes: c.now.NodeBytes, Most: c.now.MaxNodeBytes}
	if !c.end.IsZero() {
		own.Until = c.end.UnixMilli()
	}
	from := now.Add(-chainBack).UnixMilli()
	phases := slices.DeleteFunc(slices.Clone(c.phases), func(p PhaseRow) bool { return p.To != 0 && p.To < from })
	proofs := slices.DeleteFunc(slices.Clone(c.proofs), func(p ProofRow) bool { return p.At < from })
	own.Proofs = len(proofs)
	for _, p := range phases {
		if p.State == Lapsed {
			own.Lapses++
		}
	}
	return own, phases, proofs
}
