package board

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

var start = time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)

// after is a moment so many seconds after the start.
func after(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

// one is a contender; its number is its token, too.
func one(number int, holds bool) messages.Contender {
	return messages.Contender{Path: "/lock", Node: fmt.Sprintf("n-%010d", number), Sequence: int32(number), Token: messages.Token(number + 1),
		Session: 7, Label: fmt.Sprintf("c%d", number), Holds: holds, Since: start.Add(-time.Minute)}
}

// queue is a reading in which the first contender holds.
func queue(numbers ...int) *messages.Queue {
	q := &messages.Queue{Path: "/lock"}
	for i, n := range numbers {
		q.Contenders = append(q.Contenders, one(n, i == 0))
	}
	return q
}

// told gives the events of the lock as text, the oldest first.
func told(b *Board) (all []string) {
	v := b.Lock(after(1000), "/lock", Shown{Events: mostEvents})
	for i := len(v.Events) - 1; i >= 0; i-- {
		e := v.Events[i]
		text := e.What + " " + e.Who
		if e.What == More {
			text = fmt.Sprintf("more %d/%d", e.CameMore, e.LeftMore)
		}
		if e.ForMS > 0 {
			text += fmt.Sprint(" after ", time.Duration(e.ForMS)*time.Millisecond)
		}
		if e.Least {
			text += " or more"
		}
		all = append(all, text)
	}
	return all
}

func TestTransitions(t *testing.T) {
	b := New("/")
	b.TakeQueue(after(0), queue(0, 1))
	require.Empty(t, told(b), "what was there at the first look has not just happened")
	b.TakeQueue(after(1), queue(0, 1, 2))
	b.TakeQueue(after(2), queue(1, 2)) // a hand-off
	b.TakeQueue(after(5), queue(1))    // one gives up
	asked := queue(1)
	asked.Contenders[0].Asked, asked.Contenders[0].Label = true, "" // what the node said is overwritten
	b.TakeQueue(after(6), asked)
	b.TakeQueue(after(7), queue())
	require.Equal(t, []string{
		"came c2",
		"ended c0 after 2s or more",
		"holds c1 after 1m2s", // it was there before we looked: by its own clock
		"left c2 after 4s",    // we saw it come
		"asked c1",
		"ended c1 after 5s",
	}, told(b))
	v := b.Lock(after(8), "/lock", Shown{})
	require.Len(t, v.Holds, 2)
	require.Equal(t, LaneHold{ID: "2-1", From: after(2).UnixMilli(), To: after(7).UnixMilli(), Asked: true, Who: "c1", Token: "2"}, v.Holds[1])
	require.Equal(t, Free, v.Figures.State)
}

// TestNodesOfOneName: a node that was made again is another contender.
func TestNodesOfOneName(t *testing.T) {
	b := New("/")
	b.TakeQueue(after(0), queue(0))
	again := queue(0)
	again.Contenders[0].Token = 99
	b.TakeQueue(after(1), again)
	require.Equal(t, []string{"ended c0 after 1s or more", "holds c0"}, told(b))
}

// TestManyAtOnce: what happens between two looks is told within bounds, and the rest is counted.
func TestManyAtOnce(t *testing.T) {
	b := New("/")
	var old, young []int
	for n := range 500 {
		old, young = append(old, n), append(young, 500+n)
	}
	b.TakeQueue(after(0), queue(old...))
	b.TakeQueue(after(1), queue(young...))
	events := told(b)
	require.Len(t, events, mostAtOnce+1)
	require.Contains(t, events, "holds c500")
	require.Contains(t, events, "ended c0 after 1s or more")
	require.Equal(t, "more 495/499", events[mostAtOnce], "all but those that are told: of those that came, one holds")
}

// TestNewsOfAllLocks: a lock that changes all the time leaves room for others in the list of all locks.
func TestNewsOfAllLocks(t *testing.T) {
	b := New("/")
	b.TakeQueue(after(0), queue(0))
	for n := range 400 {
		b.TakeQueue(after(float64(n)/4), queue(n+1))
	}
	events := b.log.events
	require.Less(t, len(events), 130, "of 800 events in 100 s")
	require.Len(t, b.Overview(after(100), "", 10).Events, mostNews)
	left := 0
	for _, e := range events {
		if left += e.LeftMore; e.What == Ended {
			left++
		}
	}
	require.InDelta(t, 400, left, 20, "none is forgotten; the newest are told later")
	require.Len(t, b.Lock(after(100), "/lock", Shown{Events: 1000}).Events, mostEvents, "the lock's own page has the newest one by one")
}

func TestRefusals(t *testing.T) {
	b := New("/")
	b.TakeQueue(after(0), &messages.Queue{Path: "/lock", Refusal: messages.Refusal{Reason: messages.ReasonNoAuth, Detail: "no"}})
	v := b.Lock(after(1), "/lock", Shown{})
	require.Equal(t, Unread, v.Figures.State)
	require.Equal(t, string(messages.ReasonNoAuth), v.Figures.Why)
	b.TakeQueue(after(2), queue(0))
	require.Equal(t, Held, b.Lock(after(3), "/lock", Shown{}).Figures.State)
}
