package board

import "strconv"

// row makes the row of a contender on the page of its lock.
func (c *contender) row(stuck map[string]bool) ContenderRow {
	r := ContenderRow{ID: c.Node, Position: c.position, Who: Name(c.Contender), Process: process(c.Contender),
		Session: "0x" + strconv.FormatUint(uint64(c.Session), 16), Library: string(c.Library), Mode: c.Mode.String(),
		Queue: c.Name, Weight: c.Weight, Token: tokenText(c.Token), Asked: c.Asked, Unread: c.Unread,
		Stuck: stuck[c.At()], MayHold: c.MayHold && !c.Holds}
	if r.Process == r.Who {
		r.Process = "" // said already
	}
	if !c.Since.IsZero() {
		r.Since = c.Since.UnixMilli()
	}
	if c.hold != nil {
		r.From, r.Least = c.hold.From.UnixMilli(), c.hold.Least
	}
	return r
}
