package board

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// mostHolds bounds the times of holding that are kept of one lock.
const mostHolds = 300

// track is the history of one lock path, as far as it was seen.
type track struct {
	path    string
	refusal messages.Refusal
	first   time.Time // the first look
	last    time.Time // the last look at which something was new
	order   []*contender
	waiters int
	permits int // of a semaphore
	seen    map[key]*contender
	longest []*contender // the waiters that have waited longest
	holds   []*Hold
	events  []Event
	rate    rate

	// Its part of the events of all locks: see newsAtOnce.
	news     float64
	newsAt   time.Time
	untold   Event
	untoldAt time.Time
}

// key is a contender's node: one that is made again under the same name has another token.
type key struct {
	node  string
	token messages.Token
}

// contender is one of the queue's, with two times that its node does not tell: when it was first seen, and since when
// it holds.
type contender struct {
	messages.Contender
	position int // its place among the waiters, from 1; 0 where it holds
	from     time.Time
	early    bool // it was there at the first look
	hold     *Hold
}

// Hold is one contender's time of holding as far as it was seen.
type Hold struct {
	ID    string
	From  time.Time
	To    time.Time // zero while it lasts
	Least bool      // it has held for longer than was looked
	Asked bool
	Who   string
	Token messages.Token
}

// take takes a reading and reports whether it shows anything new.
func (t *track) take(now time.Time, q *messages.Queue, log *log) bool {
	if q.Reason != messages.ReasonNone {
		new := t.refusal != q.Refusal
		t.refusal = q.Refusal
		return new
	}
	changed := t.refusal != (messages.Refusal{}) || t.first.IsZero() || t.permits != q.Permits
	t.refusal, t.permits = messages.Refusal{}, q.Permits
	first := t.first.IsZero()
	if first {
		t.first = now
	}
	t.rate.take(now, q.Contenders)
	var happened []Event
	order, seen := make([]*contender, 0, len(q.Contenders)), make(map[key]*contender, len(q.Contenders))
	waiting := 0
	for _, c := range q.Contenders {
		c = shortened(c)
		k := key{c.Node, c.Token}
		was, known := t.seen[k]
		if !known {
			was = &contender{from: now, early: first, Contender: messages.Contender{Asked: c.Asked && first}}
			if !first && !c.Holds {
				happened = append(happened, t.event(now, Came, c))
			}
		}
		happened = append(happened, t.change(now, was, c)...)
		if was.position = 0; !c.Holds {
			waiting++
			was.position = waiting
		}
		order, seen[k] = append(order, was), was
	}
	for k, c := range t.seen {
		if _, still := seen[k]; !still {
			happened = append(happened, t.gone(now, c))
		}
	}
	t.order, t.seen, t.waiters, t.longest = order, seen, waiting, longestWaits(order)
	if changed = changed || len(happened) > 0; changed {
		t.last = now
	}
	t.note(now, happened, log)
	return changed
}

// change brings what is known of a contender up to date.
func (t *track) change(now time.Time, was *contender, c messages.Contender) (happened []Event) {
	if c.Asked && !was.Asked {
		if was.Node != "" { // what its node said of it is overwritten: who it is was read before
			c.Who, c.Label, c.Host, c.PID, c.Actor, c.Library = was.Who, was.Label, was.Host, was.PID, was.Actor, was.Library
			c.Owner, c.Caller = was.Owner, was.Caller
		}
		happened = append(happened, t.event(now, Asked, c))
	} else if c.Asked && was.Node != "" {
		asked, holds, waits := c.Asked, c.Holds, c.WaitsFor
		c = was.Contender
		c.Asked, c.Holds, c.WaitsFor = asked, holds, waits
	}
	was.Contender = c
	if c.Holds && was.hold == nil {
		was.hold = &Hold{ID: fmt.Sprintf("%d-%d", c.Token, c.Sequence), From: now, Least: was.early && was.from.Equal(now),
			Who: Name(c), Token: c.Token}
		if t.holds = append(t.holds, was.hold); len(t.holds) >= 2*mostHolds { // so that it is done seldom
			t.holds = mostTelling(t.holds, mostHolds)
		}
		if !was.hold.Least {
			e := t.event(now, Holds, c)
			e.ForMS = max(0, now.Sub(was.since())).Milliseconds()
			happened = append(happened, e)
		}
	}
	if was.hold != nil {
		was.hold.Asked = c.Asked
	}
	return happened
}

// gone makes the event of a contender whose node has gone.
func (t *track) gone(now time.Time, c *contender) Event {
	e := t.event(now, Left, c.Contender)
	from := c.since()
	if c.hold != nil {
		c.hold.To = now
		e.What, e.Least, from = Ended, c.hold.Least, c.hold.From
	}
	e.ForMS = max(0, now.Sub(from)).Milliseconds()
	return e
}

// since is since when it waits: by our clock when we saw it come, and by its owner's when it was there before.
func (c *contender) since() time.Time {
	if c.early && !c.Since.IsZero() {
		return c.Since
	}
	return c.from
}

func (t *track) event(now time.Time, what string, c messages.Contender) Event {
	return Event{At: now, AtMS: now.UnixMilli(), Path: t.path, What: what, Who: Name(c), Token: tokenText(c.Token)}
}

// note keeps what has happened, the most telling of it where it is much.
func (t *track) note(now time.Time, happened []Event, log *log) {
	if len(happened) > mostAtOnce {
		slices.SortStableFunc(happened, func(a, b Event) int { return cmp.Compare(a.rank(), b.rank()) })
		rest := Event{At: now, AtMS: now.UnixMilli(), Path: t.path, What: More}
		for _, e := range happened[mostAtOnce:] {
			rest.count(e)
		}
		happened = append(happened[:mostAtOnce:mostAtOnce], rest)
	}
	// Contenders that have gone have made room: that is told first.
	slices.SortStableFunc(happened, func(a, b Event) int { return cmp.Compare(lateness(a), lateness(b)) })
	for i := range happened {
		happened[i].ID = log.number()
		t.events = keepNewest(append(t.events, happened[i]), mostEvents)
	}
	t.tellAll(now, happened, log)
}

// tellAll adds the events of a lock to the log of all locks, within bounds.
func (t *track) tellAll(now time.Time, happened []Event, log *log) {
	t.news = min(newsAtOnce, t.news+now.Sub(t.newsAt).Seconds()/newsEvery.Seconds())
	t.newsAt = now
	for _, e := range happened {
		switch {
		case e.What == Asked || t.untold.What == "" && t.news >= 1:
			t.news = max(0, t.news-1)
			log.add(e)
		default:
			if t.untold.What == "" {
				t.untold, t.untoldAt = Event{Path: t.path, What: More}, now
			}
			t.untold.count(e)
		}
	}
	if t.untold.What != "" && now.Sub(t.untoldAt) >= restEvery {
		t.untold.ID, t.untold.At, t.untold.AtMS = log.number(), now, now.UnixMilli()
		log.add(t.untold)
		t.untold = Event{}
	}
}

func lateness(e Event) int {
	return slices.Index([]string{Came, Asked, Ended, Left, Holds, More}, e.What)
}

// mostLongest bounds the longest waits that are kept of one lock.
const mostLongest = 10

// longestWaits finds the contenders that have waited longest.
func longestWaits(order []*contender) (longest []*contender) {
	for _, c := range order {
		if c.Holds || c.Since.IsZero() {
			continue
		}
		at, _ := slices.BinarySearchFunc(longest, c, func(a, b *contender) int {
			return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.position, b.position))
		})
		if at < mostLongest {
			longest = slices.Insert(longest, at, c)
			longest = longest[:min(len(longest), mostLongest)]
		}
	}
	return longest
}
