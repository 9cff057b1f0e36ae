package sharing

import (
	"container/heap"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/actors/turns"
	"github.com/turnstile-locks/turnstile/messages"
)

// alarm is the timer of a call or of a hold.
type alarm struct {
	at   time.Duration
	call turns.CallID
	hold turns.HoldID
}

// timers are all timers, the soonest first. One that was replaced stays until its time: turns takes
// no notice of it.
type timers struct {
	alarms  []alarm
	armed   time.Duration // for when; zero for not
	pruned  int           // how many were left when those of what has ended were taken out
	stopped *time.Timer   // the one timer
}

func (t *timers) Len() int           { return len(t.alarms) }
func (t *timers) Less(i, j int) bool { return t.alarms[i].at < t.alarms[j].at }
func (t *timers) Swap(i, j int)      { t.alarms[i], t.alarms[j] = t.alarms[j], t.alarms[i] }
func (t *timers) Push(a any)         { t.alarms = append(t.alarms, a.(alarm)) }

// Pop takes the last off.
func (t *timers) Pop() any {
	last := len(t.alarms) - 1
	a := t.alarms[last]
	t.alarms = t.alarms[:last]
	return a
}

// set adds an alarm, and starts the timer unless it fires before.
func (t *timers) set(a alarm, now time.Duration) {
	heap.Push(t, a)
	t.arm(now)
}

// prune takes out the alarms of what has ended, once they are most of all.
func (c *Calls) prune() {
	t := &c.timers
	if len(t.alarms) < 64 || len(t.alarms) < 2*t.pruned {
		return
	}
	t.alarms = slices.DeleteFunc(t.alarms, func(a alarm) bool { return c.entry(a.call) == nil && !c.turns.Has(a.hold) })
	heap.Init(t)
	t.pruned = len(t.alarms)
}

func (t *timers) arm(now time.Duration) {
	if len(t.alarms) == 0 || t.armed != 0 && t.armed <= t.alarms[0].at {
		return
	}
	t.armed = t.alarms[0].at
	t.stopped.Reset(max(0, t.armed-now))
}

// timerFired takes the alarms whose time has come.
func (c *Calls) timerFired() {
	m := c.begin()
	t := &c.timers
	t.armed = 0
	for len(t.alarms) > 0 && t.alarms[0].at <= m.At {
		a := heap.Pop(t).(alarm)
		if a.call != 0 {
			c.turns.CallTimer(m, a.call)
		} else {
			c.turns.HoldTimer(m, a.hold)
		}
		c.take(messages.ReasonNone)
	}
	t.arm(m.At)
	c.settle()
}
